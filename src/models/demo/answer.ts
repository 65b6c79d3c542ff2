import { contentHasMedia, contentToText } from '@ag-ui/core'
import { isRecord, parseJson } from '../../core/json.js'
import type { AnswerPiece } from '../write-answer.js'
import { leadsToAgents, pickTool } from './choose-tool.js'
import { reportPrefix, type LatestExchange, type NamedToolResult } from './latest-exchange.js'
import { createFacts } from './facts.js'
import { fillSchema } from './fill-schema.js'

/** Answers an exchange; undefined leaves it to the next rule. */
type AnswerRule = (exchange: LatestExchange) => AnswerPiece[] | undefined

const rules: readonly AnswerRule[] = [callTool, fillOutput, reportResults]

/** The answer of the first rule that has one. Deterministic. */
export function answerExchange(exchange: LatestExchange): AnswerPiece[] {
  for (const rule of rules) {
    const answer = rule(exchange)
    if (answer !== undefined) return answer
  }
  return makeSmallTalk(exchange)
}

function callTool(exchange: LatestExchange): AnswerPiece[] | undefined {
  const choice = pickTool(exchange)
  if (choice === undefined) return undefined
  const { tool, agent } = choice
  const schema = isRecord(tool.parameters) ? tool.parameters : { type: 'object' }
  const known = agent === undefined ? {} : { [agent.parameter]: agent.name }
  const args = fillSchema(schema, { facts: createFacts(exchange.userText), known })
  const reasoning =
    agent === undefined
      ? `The tool ${tool.name} fits what the user says. I call it with ${JSON.stringify(args)}.`
      : `The agent ${agent.name} fits what the user says. I ask it.`
  return [{ reasoning }, { toolCall: { name: tool.name, args } }]
}

/** Answers with JSON of the requested schema. Members of tool results go into members of the same name. */
function fillOutput({ userText, results, request: { output } }: LatestExchange): AnswerPiece[] | undefined {
  if (output === undefined) return undefined
  const found = results.map(({ message }) => parseJson(contentToText(message.content))).filter(isRecord)
  const known = Object.fromEntries(found.flatMap(Object.entries<unknown>))
  return [JSON.stringify(fillSchema(output.schema, { facts: createFacts(userText), known }))]
}

/** Answers with the results of tools and the reports of other agents. */
function reportResults({
  results,
  reports,
  request: { tools = [] },
}: LatestExchange): AnswerPiece[] | undefined {
  const routers = new Set(tools.filter(leadsToAgents).map(({ name }) => name))
  // A transfer tool only confirms the transfer: the agent's own report counts.
  const own = reports.length === 0 ? results : results.filter(({ name }) => !routers.has(name))
  const all = own.length > 0 && routers.size === 0 ? own : [...own, ...reports]
  if (all.length === 0) return undefined
  const lines = all.map(({ name, message }) => ({ name, text: describeResult(message) }))
  if (lines.length === 1) return [reportPrefix + lines.map(({ text }) => text).join('')]
  return [[reportPrefix.trim(), ...lines.map(({ name, text }) => `- ${humanize(name)}: ${text}`)].join('\n')]
}

const maxResultLength = 400

function describeResult({ content, error }: NamedToolResult['message']): string {
  const text = contentToText(content)
  if (error !== undefined) return `it did not work. ${truncate(text || error)}`
  if (text === '') return contentHasMedia(content) ? 'something to look at.' : 'done.'
  return truncate(toSentence(parseJson(text) ?? text))
}

function toSentence(value: unknown): string {
  if (isRecord(value)) {
    const members = Object.entries(value).map(([key, entry]) => `${humanize(key)} is ${toPlainText(entry)}`)
    return members.length === 0 ? 'done.' : `${enumerate(members)}.`
  }
  if (!Array.isArray(value)) return toPlainText(value)
  return value.length === 0 ? 'nothing was found.' : `${enumerate(value.map(toPlainText))}.`
}

function toPlainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `a, b and c` */
function enumerate(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}

function truncate(text: string): string {
  return text.length <= maxResultLength ? text : `${text.slice(0, maxResultLength).trimEnd()} …`
}

/** `maxPrice` becomes `max price`. */
function humanize(name: string): string {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

const keyHint =
  'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY to talk to a real model.'

const story =
  'Once a mill stood still, for the river ran past it on the other side of the meadow. The miller dug a race, a narrow ' +
  'channel, from the river to the wheel. Neighbours laughed: the river was so wide, and the channel so thin! But all ' +
  'the water that came through it came where it was needed. The wheel turned, slowly first, then evenly, day and ' +
  'night, and nobody asked any more how wide the river was.'

/** The first pattern that matches the user's message counts. */
const smallTalk: readonly (readonly [RegExp, (exchange: LatestExchange) => AnswerPiece[]])[] = [
  [
    /\b(think|reason|why|explain)/i,
    (exchange) => [{ reasoning: reflect(exchange.userText) }, ...introduce(exchange)],
  ],
  [/\b(story|poem|long|stream)/i, () => [story]],
  [/\b(help|what can you|who are you|what are you|key|model)\b/i, introduce],
  [/\b(thanks|thank you|great|cool|nice)\b/i, () => ['You are welcome! Anything else?']],
  [/\b(bye|goodbye|see you)\b/i, () => ['Goodbye! Come back any time.']],
  [
    /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i,
    (exchange) => ['Hello! ', ...introduce(exchange)],
  ],
]

function makeSmallTalk(exchange: LatestExchange): AnswerPiece[] {
  const { userText } = exchange
  const [, reply] = smallTalk.find(([pattern]) => pattern.test(userText)) ?? []
  if (reply !== undefined) return reply(exchange)
  return [userText === '' ? '' : `You said: “${userText}”. `, ...introduce(exchange)]
}

function introduce({ request: { tools = [] } }: LatestExchange): AnswerPiece[] {
  const offer =
    tools.length === 0
      ? 'Ask me for a story to see text stream.'
      : `Ask for what my tools do: ${tools.map(({ name }) => humanize(name)).join(', ')}.`
  return [
    `I am the demo model of Millrace. I follow a few simple rules and need neither a key nor a network. ${offer} ${keyHint}`,
  ]
}

function reflect(text: string): string {
  const count = text.split(/\s+/).filter((word) => word !== '').length
  return `The message has ${count} ${count === 1 ? 'word' : 'words'}. No rule of mine answers it, and I should not pretend to know. So I say what I am.`
}
