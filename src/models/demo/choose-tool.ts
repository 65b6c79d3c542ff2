import type { Tool } from '@ag-ui/core'
import { isRecord, parseJson } from '../../core/json.js'
import type { LatestExchange } from './latest-exchange.js'
import { humanize, wordList, wordsOf } from './words.js'

/** A tool to call, and its target if it leads to agents. */
export interface ToolChoice {
  readonly tool: Tool
  readonly agent?: { readonly name: string; readonly parameter: string }
}

/**
 * The tool, or the agent behind a tool, that fits the user's message. To avoid endless loops, no tool is called after
 * results, and no agent twice.
 */
export function pickTool(exchange: LatestExchange): ToolChoice | undefined {
  const { userText, results, request } = exchange
  const { tools = [], toolChoice = 'auto' } = request
  if (toolChoice === 'none') return undefined
  const callable = results.length > 0 ? [] : tools
  if (typeof toolChoice === 'object')
    return toChoice(callable.find(({ name }) => name === toolChoice.toolName))
  const candidates = [
    ...callable.filter((tool) => !leadsToAgents(tool)).map(toCandidate),
    ...tools.flatMap((tool) => agentsOf(tool).filter((agent) => !wasCalled(agent, exchange))),
  ]
  return bestMatch(userText, candidates) ?? (toolChoice === 'required' ? toChoice(callable[0]) : undefined)
}

function toChoice(tool: Tool | undefined): ToolChoice | undefined {
  return tool && { tool }
}

/** Whether a tool transfers to agents or delegates to them. */
export function leadsToAgents(tool: Tool): boolean {
  return agentsOf(tool).length > 0
}

const maxAbilities = 3

/** What the tools can do, and the agents behind them: `tell the weather in a city`. */
export function describeAbilities(tools: readonly Tool[]): string[] {
  const candidates = tools.flatMap((tool): Candidate[] =>
    leadsToAgents(tool) ? agentsOf(tool) : [toCandidate(tool)],
  )
  return candidates.flatMap(describeAbility).slice(0, maxAbilities)
}

/** `Tells the weather in a city.` becomes `tell the weather in a city`. */
function describeAbility({ name, description, agent }: Candidate): string[] {
  const [, verb, rest = ''] = /^(\p{Lu}\p{Ll}*[^\Ws])s\b([^.,:\n]*)/u.exec(description.trim()) ?? []
  if (verb !== undefined) return [verb.toLowerCase() + rest]
  // Names of tools begin with a verb; those of agents do not.
  return agent === undefined ? [humanize(name)] : []
}

interface Candidate extends ToolChoice {
  readonly name: string
  readonly description: string
}

function toCandidate(tool: Tool): Candidate {
  return { tool, name: tool.name, description: tool.description }
}

/** A tool leads to agents if one of its parameters is an enum whose values its description lists, one on each line. */
function agentsOf(tool: Tool): (Candidate & Required<ToolChoice>)[] {
  const { properties } = isRecord(tool.parameters) ? tool.parameters : {}
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([parameter, schema]) => {
    const names = isRecord(schema) && Array.isArray(schema.enum) ? schema.enum.map(String) : []
    const listed = names.flatMap((name) => {
      const description = listedDescription(tool.description, name)
      return description === undefined ? [] : [{ name, description, tool, agent: { name, parameter } }]
    })
    return listed.length === names.length ? listed : []
  })
}

function listedDescription(text: string, name: string): string | undefined {
  const start = `- ${name}: `
  const line = text.split('\n').find((candidate) => candidate.startsWith(start))
  return line?.slice(start.length)
}

function wasCalled({ tool, agent }: Required<ToolChoice>, { calls }: LatestExchange): boolean {
  return calls.some(({ name, args }) => name === tool.name && agentIn(args, agent.parameter) === agent.name)
}

function agentIn(args: string, parameter: string): unknown {
  const parsed = parseJson(args)
  return isRecord(parsed) ? parsed[parameter] : undefined
}

/** The agent that a call has gone to, if it was a call of a tool that leads to agents. */
export function calledAgent({ request, calls }: LatestExchange, toolCallId: string): string | undefined {
  const call = calls.find(({ id }) => id === toolCallId)
  const agents = (request.tools ?? []).filter(({ name }) => name === call?.name).flatMap(agentsOf)
  return agents.find(({ agent }) => agentIn(call?.args ?? '', agent.parameter) === agent.name)?.name
}

// Many tools share these words, so they identify none.
const commonWords = new Set(
  wordList(`
    a an and any are by can do fetch find for from get give in is it its look lookup make my of on
    or out read run set show tell that the this to tool use user what with you your
  `),
)

// Words of users, and the words that tools use instead.
const synonyms = new Map([
  ...['rain', 'raining', 'snow', 'snowing', 'sunny', 'warm', 'cold', 'forecast', 'temperature'].map(
    (word) => [word, 'weather'] as const,
  ),
  ['reserve', 'book'],
  ['reservation', 'book'],
  ['mail', 'email'],
  ['erase', 'delete'],
  ['todo', 'task'],
  ['price', 'cost'],
])

// A verb alone does not decide for a tool: people also create poems.
const verbs = new Set(
  wordList('add book change create delete list open remove search send start stop update write'),
)

// Chinese has no spaces between its words, so they are looked for in the text.
const chineseWords: readonly (readonly [RegExp, string])[] = [
  [/天气|气温|下雨|下雪|冷|热|暖/, 'weather'],
  [/订|预约/, 'book'],
  [/桌|位子|座位/, 'table'],
  [/餐厅|饭店|餐馆/, 'restaurant'],
  [/房/, 'room'],
  [/酒店|宾馆/, 'hotel'],
  [/多少钱|价/, 'cost'],
  [/购物/, 'shopping'],
  [/清单|列表/, 'list'],
  [/加|添|买/, 'add'],
  [/删|去掉|移除/, 'remove'],
]

const minScore = 2

/** Words of a name count most, words of a description a little. Undefined if no candidate scores enough: one verb does not. */
function bestMatch(text: string, candidates: readonly Candidate[]): Candidate | undefined {
  const chinese = chineseWords.flatMap(([pattern, word]) => (pattern.test(text) ? [word] : []))
  const words = new Set([...wordsOf(text).flatMap((word) => [word, synonyms.get(word) ?? word]), ...chinese])
  const scored = candidates.map((candidate) => ({ candidate, score: scoreOf(candidate, words) }))
  return scored.filter(({ score }) => score >= minScore).sort((a, b) => b.score - a.score)[0]?.candidate
}

function scoreOf({ name, description, agent }: Candidate, words: ReadonlySet<string>): number {
  const [named, described] = [sharedWords(name, words), sharedWords(description, words)]
  const isNoun = (word: string): boolean => !verbs.has(word)
  if (named.length < 2 && ![...named, ...described].some(isNoun)) return 0
  const score = named.length + named.filter(isNoun).length + described.length
  // The names of agents say little of what they do.
  return agent === undefined ? score : score + 1
}

function sharedWords(text: string, words: ReadonlySet<string>): string[] {
  return [...new Set(wordsOf(text))].filter((word) => words.has(word) && !commonWords.has(word))
}
