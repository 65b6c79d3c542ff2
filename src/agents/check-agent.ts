import type { Agent } from './contract.js'
import { privateKeysMember } from './private-keys.js'
import { limitsMember } from './run/limits.js'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'

interface Foreign {
  /** Members of its kind: functions or objects. */
  readonly members: readonly string[]
  readonly what: string
  readonly write: string
}

const adk: Omit<Foreign, 'members'> = {
  what: 'of Google ADK',
  write: "`fromAdk(...)` of 'millrace/adk' around it",
}

/** What people take for an agent, by its members. */
const foreigners: readonly Foreign[] = [
  { members: ['runAsync'], ...adk },
  { members: ['runImpl'], ...adk },
  {
    members: ['runAgent'],
    what: "of '@ag-ui/client'",
    write: "`fromAgUi(...)` of 'millrace/remote' around it",
  },
  {
    members: ['invoke', 'stream'],
    what: 'of LangGraph',
    write: "`fromLangGraph(...)` of 'millrace/langgraph' around it",
  },
]

/** What another runtime's agent is, and what to write around it. Undefined for anything else. */
export function foreignAgent(value: unknown): Omit<Foreign, 'members'> | undefined {
  const isApp = memberOf(value, 'rootAgent') !== undefined && memberOf(value, 'run') === undefined
  const isOfKind = ({ members }: Foreign): boolean =>
    members.every((name) => memberOf(value, name) !== undefined)
  return foreigners.find(isOfKind) ?? (isApp ? adk : undefined)
}

/** Throws INVALID_AGENT, saying what to write, for a value that is no agent: one of another runtime, for example. */
export function checkAgent(value: unknown, at = 'An agent'): asserts value is Agent {
  const name = memberOf(value, 'name')
  const called = typeof name === 'string' && name !== '' ? `'${name}'` : at
  const foreign = foreignAgent(value)
  if (foreign) throw invalidAgent(`${called} is ${foreign.what}: write ${foreign.write}.`)
  if (isThenable(value)) throw invalidAgent(`${called} is a promise: await it.`)
  if (typeof memberOf(value, 'run') === 'function' && typeof name === 'string' && name !== '') {
    const { limits, privateKeys } = value as Pick<Agent, 'limits' | 'privateKeys'>
    limitsMember(limits)
    privateKeysMember([privateKeys])
    return
  }
  const problem = isRecord(value)
    ? 'it needs `name`, `description` and `run`'
    : `it is ${describeKind(value)}. Give one of \`defineAgent\`, \`fromAdk\`, \`fromLangGraph\` or \`fromAgUi\``
  throw invalidAgent(`${called} is no agent: ${problem}.`)
}

interface AgentListRules {
  /** What has the list: `Team 'desk'`. */
  readonly of: string
  /** The option with the list. */
  readonly option: string
  readonly mayBeEmpty?: boolean
}

/** Throws INVALID_AGENT unless it is a list of agents. */
export function checkAgents(
  list: unknown,
  { of, option, mayBeEmpty = false }: AgentListRules,
): asserts list is readonly Agent[] {
  checkList(list, { of, option, what: 'agents' })
  if (list.length === 0 && !mayBeEmpty)
    throw invalidAgent(`${of} has no ${option}: \`${option}\` must be a list of at least one agent.`)
  for (const [index, agent] of list.entries()) checkAgent(agent, `\`${option}[${index}]\` of ${of}`)
}

interface ListRules extends Omit<AgentListRules, 'mayBeEmpty'> {
  /** What is in the list. */
  readonly what: string
}

export function checkList(
  list: unknown,
  { of, option, what }: ListRules,
): asserts list is readonly unknown[] {
  if (!Array.isArray(list))
    throw invalidAgent(`\`${option}\` of ${of} must be a list of ${what}, not ${describeKind(list)}.`)
}

/** Throws INVALID_AGENT for an agent without a description, which other agents choose it by. */
export function checkDescription({ name, description }: Agent, why: string): void {
  // It may come from code without types.
  const given: unknown = description
  if (typeof given !== 'string' || given.trim() === '')
    throw invalidAgent(`Agent '${name}' needs a description: ${why}.`)
}

/** Throws INVALID_AGENT, with what to write, when a factory got no options at all. */
export function checkGiven(factory: string, options: unknown, shape: string): void {
  if (!isRecord(options)) throw invalidAgent(`\`${factory}\` takes options: \`${factory}(${shape})\`.`)
}

export function checkName(name: unknown, what: string): void {
  if (typeof name !== 'string' || name.trim() === '') throw invalidAgent(`${what} needs a name, as \`name\`.`)
}

/** Throws INVALID_AGENT, naming it, for an option that does not exist: a typo, or an option of another library. */
export function checkOptionNames(
  factory: string,
  options: object,
  known: Readonly<Record<string, true>>,
): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  const names = Object.keys(known).join(', ')
  const message = `\`${factory}\` has no option '${unknown}'. It has: ${names}.`
  throw new MillraceError('INVALID_AGENT', message, { details: { option: unknown } })
}

/** A member of any value. Undefined where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) || typeof value === 'function' ? Reflect.get(value, name) : undefined
}

export function isThenable(value: unknown): boolean {
  return typeof memberOf(value, 'then') === 'function'
}

/** What a wrong value is, in words. */
export function describeKind(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function invalidAgent(message: string): MillraceError {
  return new MillraceError('INVALID_AGENT', message)
}
