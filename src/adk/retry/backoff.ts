import { MillraceError } from '../../core/errors.js'

/** How often, and how patiently, a run is tried again. */
export interface BackoffOptions {
  /** How often after the first time: 3 unless told. 0 means never. */
  readonly maxRetries?: number
  /** The pause before the first retry: 1,000 unless told. */
  readonly delayMs?: number
  /** What each later pause is multiplied by: 2 unless told. */
  readonly factor?: number
  /** No pause is longer: 60,000 unless told. */
  readonly maxDelayMs?: number
  /** The share of a pause, from 0 to 1, that chance may take away: 0 unless told. */
  readonly jitter?: number
  /** Gives numbers in [0, 1). */
  readonly random?: () => number
}

/** Checked options with nothing left open. Make one with `toBackoff`. */
export type Backoff = Required<BackoffOptions>

/** Fills in the defaults. Throws INVALID_AGENT, naming the option, when one makes no sense. */
export function toBackoff(options: BackoffOptions): Backoff {
  const {
    maxRetries = 3,
    delayMs = 1000,
    factor = 2,
    maxDelayMs = 60_000,
    jitter = 0,
    random = Math.random,
  } = options
  check({ maxRetries }, Number.isInteger(maxRetries) && maxRetries >= 0)
  check({ delayMs }, Number.isFinite(delayMs) && delayMs >= 0)
  check({ factor }, Number.isFinite(factor) && factor >= 1)
  check({ maxDelayMs }, Number.isFinite(maxDelayMs) && maxDelayMs >= 0)
  check({ jitter }, jitter >= 0 && jitter <= 1)
  return { maxRetries, delayMs, factor, maxDelayMs, jitter, random }
}

function check(option: Readonly<Record<string, number>>, isValid: boolean): void {
  if (isValid) return
  const [name = '', value] = Object.entries(option)[0] ?? []
  throw new MillraceError('INVALID_AGENT', `The option '${name}' cannot be ${String(value)}.`, {
    details: { option: name, value },
  })
}

/** The pause in milliseconds before a retry. `retry` counts from 1. */
export function pauseBefore(retry: number, { delayMs, factor, maxDelayMs, jitter, random }: Backoff): number {
  // Bounded first: 0 times an overflow to infinity would be no number.
  const growth = Math.min(factor ** (retry - 1), Number.MAX_VALUE)
  return Math.min(delayMs * growth, maxDelayMs) * (1 - jitter * random())
}
