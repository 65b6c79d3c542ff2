import { errorCodes, type ErrorCode } from './error-codes.js'
import { errorTexts } from './error-texts.js'

const marker = Symbol.for('millrace.error')

export interface MillraceErrorOptions {
  /** Structured facts for code and logs, for example `{ field: 'messages[0].id' }`. Never sent to clients. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Overrides whether clients may see the message. */
  readonly expose?: boolean
  /** A code of the agent's own that clients get in place of `code`, for example `UPSTREAM_503`. */
  readonly wireCode?: string
  /** What logs have in place of a message that quotes others: a provider, a model, a person. */
  readonly logMessage?: string
  readonly cause?: unknown
}

/**
 * The one base of every error Millrace throws. `code` is stable and listed in `docs/errors.md`; `message` says what
 * to do and may change. Servers log it, so give a `logMessage` too where it quotes what was said.
 */
export class MillraceError extends Error {
  override readonly name = 'MillraceError'
  readonly [marker] = true
  readonly code: ErrorCode
  readonly status: number
  readonly expose: boolean
  readonly wireCode: string
  readonly logMessage: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: MillraceErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.status = errorCodes[code].status
    this.expose = options.expose ?? errorCodes[code].expose
    this.wireCode = options.wireCode ?? code
    this.logMessage = options.logMessage ?? message
    this.details = options.details ?? {}
  }

  /** Like `instanceof`, but also true across two installed copies of the package. */
  static isInstance(value: unknown): value is MillraceError {
    try {
      return typeof value === 'object' && value !== null && marker in value
    } catch {
      // A thrown value may be impossible to inspect.
      return false
    }
  }
}

const codeWord = /^[\w$][\w$.-]{0,63}$/

/** The name or code of somebody else's error, for a log. Undefined for a value that is none: it may be a sentence. */
export function toCodeWord(value: unknown): string | undefined {
  return typeof value === 'string' && codeWord.test(value) ? value : undefined
}

export interface WireError {
  readonly code: string
  readonly message: string
}

/** The code and message of any thrown value for a client: its own message if it may be shown, else a neutral sentence. */
export function toWireError(error: unknown, fallback: ErrorCode = 'AGENT_ERROR'): WireError {
  if (!MillraceError.isInstance(error)) return { code: fallback, message: errorTexts[fallback] }
  return { code: error.wireCode, message: error.expose ? error.message : errorTexts[error.code] }
}
