import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import {
  defaultLimits,
  type ConsoleOptions,
  type CopilotKitOptions,
  type CorsOptions,
  type OptionalRoute,
  type ServerOptions,
  type StateRules,
  type StreamOptions,
  type ThreadRules,
} from './contract.js'
import type { Hooks } from './hooks/hooks.js'
import { checkKeys } from './known-keys.js'

/** Throws INVALID_OPTIONS, naming the option, for values that cannot be meant and for members that nothing reads. */
export function checkOptions(options: ServerOptions): void {
  checkAllKeys(options)
  const {
    limits = {},
    threads = {},
    basePath = '',
    cors,
    trustProxy,
    copilotKit,
    console: consoleOption,
    routes = {},
    stream = {},
  } = options
  const { onThreadRemoved, ...threadTimes } = threads
  checkNumbers('limits', limits)
  checkNumbers('threads', threadTimes)
  if (onThreadRemoved !== undefined && typeof onThreadRemoved !== 'function')
    throw invalidOption('threads.onThreadRemoved', 'be a function')
  if (basePath !== '' && !isBasePath(basePath))
    throw invalidOption('basePath', 'begin with a slash and not end with one')
  if (typeof trustProxy !== 'function' && !isProxyCount(trustProxy ?? 1))
    throw invalidOption('trustProxy', 'be the number of proxies in front, from 1, or a function')
  if (typeof copilotKit === 'object' && !isBasePath(copilotKit.basePath ?? '/copilotkit'))
    throw invalidOption('copilotKit.basePath', 'begin with a slash and not end with one')
  if (typeof consoleOption === 'object') checkConsole(consoleOption)
  for (const [name, isServed] of Object.entries(routes))
    if (typeof isServed !== 'boolean') throw invalidOption(`routes.${name}`, 'be true or false')
  checkChoice('stream.lanes', stream.lanes, ['interleaved', 'one-by-one'])
  checkChoice('logErrors', options.logErrors, ['facts', 'full'])
  checkChoice('onDisconnect', options.onDisconnect, ['auto', 'continue', 'cancel'])
  checkChoice('whenBusy', options.whenBusy, ['reject', 'wait', 'preempt', 'cancel-previous'])
  checkChoice('history', options.history, ['server', 'client'])
  const origins = cors?.origins ?? []
  for (const origin of origins === '*' ? [] : origins)
    if (!isOrigin(origin)) throw invalidOption('cors.origins', 'be origins such as https://app.example.com')
  if (cors?.credentials === true && origins === '*')
    throw invalidOption(
      'cors.credentials',
      "come with a list of origins: with '*', any page could act for a user",
    )
}

function checkConsole({ path = '/console', ...flags }: ConsoleOptions): void {
  if (!isBasePath(path)) throw invalidOption('console.path', 'begin with a slash and not end with one')
  for (const [name, value] of Object.entries(flags))
    if (typeof value !== 'boolean') throw invalidOption(`console.${name}`, 'be true or false')
}

/** All that can be set: the types make sure that nothing is missing. */
const knownKeys: {
  readonly options: Known<ServerOptions>
  readonly hooks: Known<Hooks>
  readonly state: Known<StateRules>
  readonly threads: Known<ThreadRules>
  readonly stream: Known<StreamOptions>
  readonly cors: Known<CorsOptions>
  readonly copilotKit: Known<CopilotKitOptions>
  readonly console: Known<ConsoleOptions>
  readonly routes: Readonly<Record<OptionalRoute, true>>
} = {
  options: {
    ...{ agents: true, store: true, identify: true, trustProxy: true, hooks: true, limits: true },
    ...{ basePath: true, cors: true, whenBusy: true, onDisconnect: true, history: true, state: true },
    ...{ threads: true, routes: true, stream: true, copilotKit: true, console: true },
    ...{ log: true, logErrors: true, clock: true, newId: true },
  },
  hooks: {
    ...{ inputRecord: true, lock: true, inputChange: true, initialState: true, runtimeEvent: true },
    ...{ runtimeTimeout: true, translate: true, event: true, stateSnapshot: true, outputRecord: true },
    ...{ outputChange: true, audit: true },
  },
  state: { readOnly: true, private: true },
  threads: {
    ...{ idleTimeoutMs: true, waitingTimeoutMs: true, maxPerUser: true, sweepEveryMs: true },
    ...{ onThreadRemoved: true },
  },
  stream: { lanes: true, logFirst: true, timestamps: true, eventLines: true },
  cors: { origins: true, credentials: true },
  copilotKit: { basePath: true, debugEvents: true },
  console: { path: true, foreign: true, toolCalls: true },
  routes: { connect: true, cancel: true, history: true, delete: true, patch: true, metrics: true },
}

type Known<T> = Readonly<Record<keyof T, true>>

function checkAllKeys(options: ServerOptions): void {
  const { options: top, ...groups } = knownKeys
  checkKeys('', options, Object.keys(top))
  checkKeys('limits', options.limits ?? {}, Object.keys(defaultLimits))
  for (const [group, known] of Object.entries(groups)) {
    const values: unknown = options[group as keyof typeof groups]
    if (isRecord(values)) checkKeys(group, values, Object.keys(known))
  }
}

function checkNumbers(group: string, values: object): void {
  for (const [name, value] of Object.entries(values) as [string, unknown][])
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      throw invalidOption(`${group}.${name}`, 'be a number above 0')
}

function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return
  throw invalidOption(name, `be one of ${choices.map((choice) => `'${choice}'`).join(', ')}`)
}

function isProxyCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1
}

function isBasePath(text: string): boolean {
  return /^(?:\/[^/?#]+)+$/.test(text)
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function invalidOption(name: string, must: string): MillraceError {
  return new MillraceError('INVALID_OPTIONS', `\`${name}\` must ${must}.`, { details: { option: name } })
}
