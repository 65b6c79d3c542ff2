import { MillraceError } from '../../core/errors.js'

/** How often a run is retried, and after which delays. */
export interface BackoffOptions {
  /** Retries after the first attempt. Default 3; 0 means none. */
  readonly maxRetries?: number
  /** The delay before the first retry. Default 1,000. */
  readonly delayMs?: number
  /** The factor of each later delay. Default 2. */
  readonly factor?: number
  /** The longest delay. Default 60,000. */
  readonly maxDelayMs?: number
  /** The share of a delay, from 0 to 1, that is random. Default 0. */
  readonly jitter?: number
  /** Returns numbers in [0, 1). */
  readonly random?: () => number
}

/** Checked options with all defaults filled in. */
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
  checkOption({ maxRetries }, Number.isInteger(maxRetries) && maxRetries >= 0)
  checkOption({ delayMs }, Number.isFinite(delayMs) && delayMs >= 0)
  checkOption({ factor }, Number.isFinite(factor) && factor >= 1)
  checkOption({ maxDelayMs }, Number.isFinite(maxDelayMs) && maxDelayMs >= 0)
  checkOption({ jitter }, jitter >= 0 && jitter <= 1)
  return { maxRetries, delayMs, factor, maxDelayMs, jitter, random }
}

function checkOption(option: Readonly<Record<string, number>>, isValid: boolean): void {
  if (isValid) return
  const [name = '', value] = Object.entries(option)[0] ?? []
  throw new MillraceError('INVALID_AGENT', `The option '${name}' cannot be ${String(value)}.`, {
    details: { option: name, value },
  })
}

/** The delay in milliseconds before a retry. `retry` counts from 1. */
export function backoffDelay(
  retry: number,
  { delayMs, factor, maxDelayMs, jitter, random }: Backoff,
): number {
  // Bounded first: 0 times an overflow to infinity would be NaN.
  const growth = Math.min(factor ** (retry - 1), Number.MAX_VALUE)
  return Math.min(delayMs * growth, maxDelayMs) * (1 - jitter * random())
}
