import { toJsonSchema } from '@langchain/core/utils/json_schema'
import type { AgentOutline, OutlinedAgent, OutlinedTool } from '../agents/index.js'
import { isRecord } from '../core/json.js'

/** What a compiled graph is made of: its nodes with their tools, the graphs below it, and which node may follow which. */
export function outlineGraph(graph: unknown): AgentOutline {
  const drawn = call(graph, 'getGraph')
  const edges = listOf(memberOf(drawn, 'edges')).map((edge) => {
    const label = memberOf(edge, 'data')
    return {
      ...{ from: textOf(edge, 'source'), to: textOf(edge, 'target') },
      ...(typeof label === 'string' ? { label } : {}),
    }
  })
  const names = Object.keys(Object(memberOf(drawn, 'nodes') ?? memberOf(graph, 'nodes')) as object)
  const agents = names
    .filter((name) => name !== '__start__' && name !== '__end__')
    .map((name) => outlinedNode(name, memberOf(memberOf(memberOf(graph, 'nodes'), name), 'bound')))
  return { kind: 'graph', runtime: 'langgraph', agents, edges }
}

function outlinedNode(name: string, bound: unknown): OutlinedAgent {
  return {
    ...{ name, description: '' },
    outline: () =>
      isRecordLike(memberOf(bound, 'nodes'))
        ? outlineGraph(bound)
        : {
            kind: 'node',
            runtime: 'langgraph',
            tools: listOf(memberOf(bound, 'tools')).flatMap(outlineTool),
          },
  }
}

/** Tools that a provider runs have no schema and nothing to call. */
function outlineTool(tool: unknown): OutlinedTool[] {
  const [name, description] = [textOf(tool, 'name'), textOf(tool, 'description')]
  if (name === '') return []
  const schema = memberOf(tool, 'schema')
  const parameters: unknown = schema === undefined ? {} : toJsonSchema(schema as never)
  return [
    {
      ...{ name, description, parameters: isRecord(parameters) ? parameters : {} },
      ...(typeof memberOf(tool, 'invoke') === 'function' && {
        call: (args, { signal }) => call(tool, 'invoke', args, { signal }),
      }),
    },
  ]
}

// The graph may be of another copy of LangGraph, so its members are looked up and not believed.

function isRecordLike(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function memberOf(value: unknown, name: string): unknown {
  return isRecordLike(value) ? Reflect.get(value, name) : undefined
}

function call(value: unknown, name: string, ...args: unknown[]): unknown {
  const member = memberOf(value, name)
  return typeof member === 'function' ? Reflect.apply(member, value, args) : undefined
}

function textOf(value: unknown, name: string): string {
  const text = memberOf(value, name)
  return typeof text === 'string' ? text : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
