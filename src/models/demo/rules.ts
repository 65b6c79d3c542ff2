import { contentToText, type Tool } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../parse-json.js'
import type { AnswerPiece } from '../written/answer-piece.js'
import { agentsToAsk, isWayToAgents, type AgentToAsk } from './agents-to-ask.js'
import { chooseTool } from './choose-tool.js'
import { createFacts } from './facts.js'
import { fillSchema } from './fill-schema.js'
import type { Situation } from './situation.js'
import { chat } from './small-talk.js'
import { tellResults } from './tell-results.js'

/** Answers a situation, or leaves it to the next rule. */
type Rule = (situation: Situation) => AnswerPiece[] | undefined

/** The first that answers is followed. */
const rules: readonly Rule[] = [callTool, fillOutput, tell]

/** What the demo model says. Same request, same answer. */
export function answerOf(situation: Situation): AnswerPiece[] {
  for (const rule of rules) {
    const answer = rule(situation)
    if (answer !== undefined) return answer
  }
  return chat(situation)
}

/**
 * Calls the tool that fits, or the one that leads to the agent that fits. No tool is called after results, and no agent
 * asked twice, or it might go round for ever.
 */
function callTool(situation: Situation): AnswerPiece[] | undefined {
  const tool = pickTool(situation)
  if (tool === undefined) return undefined
  const facts = createFacts(situation.said)
  if (!('via' in tool)) {
    const args = fillSchema(parametersOf(tool), { facts })
    const thought = `The tool ${tool.name} fits what the user says. I call it with ${JSON.stringify(args)}.`
    return [{ reasoning: thought }, { toolCall: { name: tool.name, args } }]
  }
  const { via, key, name } = tool
  const args = fillSchema(parametersOf(via), { facts, known: { [key]: name } })
  return [
    { reasoning: `The agent ${name} fits what the user says. I ask it.` },
    { toolCall: { name: via.name, args } },
  ]
}

function pickTool(situation: Situation): Tool | AgentToAsk | undefined {
  const { said, results, request } = situation
  const { tools = [], toolChoice = 'auto' } = request
  if (toolChoice === 'none') return undefined
  const own = results.length > 0 ? [] : tools
  if (typeof toolChoice === 'object') return own.find(({ name }) => name === toolChoice.toolName)
  const plain = own.filter((tool) => !isWayToAgents(tool))
  const chosen = chooseTool(said, [...plain, ...agentsToAsk(situation)])
  return chosen ?? (toolChoice === 'required' ? own[0] : undefined)
}

function parametersOf({ parameters }: Tool): Readonly<Record<string, unknown>> {
  return isRecord(parameters) ? parameters : { type: 'object' }
}

/** Answers with JSON of the shape that is asked for. What tools found goes into members of the same name. */
function fillOutput({ said, results, request: { output } }: Situation): AnswerPiece[] | undefined {
  if (output === undefined) return undefined
  const found = results.map(({ message }) => parseJson(contentToText(message.content))).filter(isRecord)
  const known = Object.fromEntries(found.flatMap(Object.entries<unknown>))
  return [JSON.stringify(fillSchema(output.schema, { facts: createFacts(said), known }))]
}

/** Answers from what tools found, and from what agents said that were asked. */
function tell({ results, reports, request: { tools = [] } }: Situation): AnswerPiece[] | undefined {
  const ways = new Set(tools.filter(isWayToAgents).map(({ name }) => name))
  // Those who hand over get no more than a word for it: what counts is what was said then.
  const own = reports.length === 0 ? results : results.filter(({ toolName }) => !ways.has(toolName))
  const all = own.length > 0 && ways.size === 0 ? own : [...own, ...reports]
  return all.length === 0 ? undefined : [tellResults(all)]
}
