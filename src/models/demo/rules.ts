import { contentToText, type Tool } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../parse-json.js'
import type { AnswerPiece } from '../written/answer-piece.js'
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

/** Calls the tool that fits. Never after results, or it might go round for ever. */
function callTool({ said, results, request }: Situation): AnswerPiece[] | undefined {
  const tool = results.length > 0 ? undefined : pickTool(said, request)
  if (tool === undefined) return undefined
  const args = fillSchema(parametersOf(tool), { facts: createFacts(said) })
  const thought = `The tool ${tool.name} fits what the user says. I call it with ${JSON.stringify(args)}.`
  return [{ reasoning: thought }, { toolCall: { name: tool.name, args } }]
}

function pickTool(said: string, { tools = [], toolChoice = 'auto' }: Situation['request']): Tool | undefined {
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.toolName)
  if (toolChoice === 'none') return undefined
  return chooseTool(said, tools) ?? (toolChoice === 'required' ? tools[0] : undefined)
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

/** Answers from what tools found. */
function tell({ results }: Situation): AnswerPiece[] | undefined {
  return results.length === 0 ? undefined : [tellResults(results)]
}
