import type { Agent } from './contract.js'
import { privateKeysMember } from './private-keys.js'
import { limitsMember } from './run/limits.js'
import { MillraceError } from '../core/errors.js'

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

function isApp(has: (name: string) => boolean): boolean {
  return has('rootAgent') && !has('run')
}

/** Throws INVALID_AGENT, saying what to write, for a value that is no agent: one of another runtime, for example. */
export function checkAgent(value: unknown): void {
  const has = (name: string): boolean =>
    typeof value === 'object' && value !== null && typeof Reflect.get(value, name) !== 'undefined'
  const name: unknown = has('name') ? Reflect.get(value as object, 'name') : undefined
  const called = typeof name === 'string' && name !== '' ? `'${name}'` : 'An agent'
  const foreign = foreigners.find(({ members }) => members.every(has)) ?? (isApp(has) ? adk : undefined)
  if (foreign)
    throw new MillraceError('INVALID_AGENT', `${called} is ${foreign.what}: write ${foreign.write}.`)
  if (has('run') && typeof name === 'string') {
    const { limits, privateKeys } = value as Pick<Agent, 'limits' | 'privateKeys'>
    limitsMember(limits)
    privateKeysMember([privateKeys])
    return
  }
  throw new MillraceError(
    'INVALID_AGENT',
    `${called} is no agent: it needs \`name\`, \`description\` and \`run\`.`,
  )
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
