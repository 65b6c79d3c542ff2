import { MillraceError, toCodeWord } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Logger } from '../contract.js'

/** What a log line has of a thrown value: never what it quotes. */
interface ErrorFacts {
  /** The name of its class. */
  readonly name: string
  readonly code?: string | number
  /** Of HTTP. */
  readonly status?: number
  /** Only of errors that Millrace has worded itself. */
  readonly message?: string
  /** The numbers and flags among the details of a `MillraceError`. */
  readonly details?: Readonly<Record<string, number | boolean>>
  /** The frames alone: the lines before them repeat the message. */
  readonly stack?: string
  readonly cause?: ErrorFacts
  /** The errors of an `AggregateError`, and of others that collect them. */
  readonly errors?: readonly ErrorFacts[]
}

const maxDepth = 5
const maxErrors = 5
const maxFrames = 20
const maxFrameLength = 300

/**
 * The facts of any thrown value, also of one that cannot be read. Errors of agents, providers and tools quote prompts, answers,
 * headers and keys in their messages and in any other member, so nothing is taken from them but words that can only be a
 * name or a code, and numbers.
 */
function toErrorFacts(error: unknown): ErrorFacts {
  try {
    return factsOf(error, 0)
  } catch {
    // A proxy, for example, whose traps throw.
    return { name: 'unreadable' }
  }
}

function factsOf(error: unknown, depth: number): ErrorFacts {
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null)
    return { name: error === null ? 'null' : typeof error }
  const isOwn = MillraceError.isInstance(error)
  const code = read(error, 'code')
  const status = statusOf(error)
  const message = isOwn ? read(error, 'logMessage') : undefined
  const details = isOwn ? numbersIn(read(error, 'details')) : {}
  const stack = framesOf(error)
  return {
    name: toCodeWord(read(error, 'name')) ?? toCodeWord(read(read(error, 'constructor'), 'name')) ?? 'Error',
    ...(typeof code === 'number' ? { code } : optional('code', toCodeWord(code))),
    ...optional('status', status),
    ...(typeof message === 'string' ? { message } : {}),
    ...(Object.keys(details).length > 0 ? { details } : {}),
    ...optional('stack', stack),
    ...(depth < maxDepth ? factsBelow(error, depth + 1) : {}),
  }
}

function factsBelow(error: object, depth: number): Pick<ErrorFacts, 'cause' | 'errors'> {
  const cause = read(error, 'cause')
  const errors = read(error, 'errors')
  return {
    ...(cause === undefined || cause === null ? {} : { cause: factsOf(cause, depth) }),
    ...(Array.isArray(errors)
      ? { errors: errors.slice(0, maxErrors).map((one) => factsOf(one, depth)) }
      : {}),
  }
}

/** Reads a member of anything. A getter may throw, and so may a proxy. */
function read(value: unknown, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>> | undefined)?.[name]
  } catch {
    return undefined
  }
}

function optional<Name extends string, T>(name: Name, value: T | undefined): Partial<Record<Name, T>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, T>)
}

/** Each client of HTTP has it elsewhere. */
function statusOf(error: object): number | undefined {
  const all = [read(error, 'status'), read(error, 'statusCode'), read(read(error, 'response'), 'status')]
  return all.find((value): value is number => Number.isInteger(value))
}

function numbersIn(details: unknown): Record<string, number | boolean> {
  const entries = isRecord(details) ? Object.entries(details) : []
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number | boolean] =>
      ['number', 'boolean'].includes(typeof entry[1]),
    ),
  )
}

const frame = /^ {4}at (?:async )?[^\s'"]+(?: [^'"]*)?:\d+:\d+\)?$/

/** None if the stack does not begin with the message: then nobody can say where the frames begin. */
function framesOf(error: object): string | undefined {
  const stack = read(error, 'stack')
  const message = read(error, 'message')
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined
  const start = stack.indexOf(message)
  if (start === -1 || stack.slice(0, start).includes('\n')) return undefined
  const lines = stack.slice(start + message.length).split('\n')
  const frames = lines.filter((line) => line.length <= maxFrameLength && frame.test(line)).slice(0, maxFrames)
  return frames.length === 0 ? undefined : frames.join('\n')
}

/**
 * A logger that gets facts in place of errors. The server logs through it alone, so no line can hold what an error quotes,
 * whichever logger the application has.
 */
export function withErrorFacts(log: Logger): Logger {
  const write = (level: keyof Logger) => (facts: object, message: string) =>
    log[level](toFacts(facts) as object, message)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** A copy in which everything but plain data is the facts of an error. So is `err`, whatever it is: anything can be thrown. */
function toFacts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(toFacts)
  if (Object.getPrototypeOf(value) !== Object.prototype) return toErrorFacts(value)
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'err' ? toErrorFacts(member) : toFacts(member),
    ]),
  )
}
