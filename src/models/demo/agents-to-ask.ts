import type { Tool } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../parse-json.js'
import type { Situation } from './situation.js'
import { listOf } from './resolve-schema.js'

/** An agent that a tool hands over to or gives work to, as if it were a tool of its own. */
export interface AgentToAsk extends Tool {
  readonly via: Tool
  /** Where in the arguments its name goes. */
  readonly key: string
}

/**
 * The agents that tools reach: those that a parameter chooses between, and the description lists, each on a line of its own.
 * Not those that were asked since the user spoke, or it might go round for ever.
 */
export function agentsToAsk({ request: { tools = [] }, calls }: Situation): AgentToAsk[] {
  return tools.flatMap((via) => {
    const asked = calls.filter(({ name }) => name === via.name).map(({ args }) => parseJson(args))
    return choicesOf(via).filter(
      ({ key, name }) => !asked.some((args) => isRecord(args) && args[key] === name),
    )
  })
}

/** Whether a tool is a way to other agents. */
export function isWayToAgents(tool: Tool): boolean {
  return choicesOf(tool).length > 0
}

function choicesOf(via: Tool): AgentToAsk[] {
  const { properties } = isRecord(via.parameters) ? via.parameters : {}
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([key, schema]) => {
    const names = listOf(isRecord(schema) ? schema.enum : undefined).map(String)
    const listed = names.flatMap((name) => {
      const description = lineOf(via.description, name)
      return description === undefined ? [] : [{ name, description, via, key }]
    })
    return listed.length === names.length ? listed : []
  })
}

function lineOf(text: string, name: string): string | undefined {
  const start = `- ${name}: `
  const line = text.split('\n').find((one) => one.startsWith(start))
  return line?.slice(start.length)
}
