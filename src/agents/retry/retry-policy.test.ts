import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelRequest } from '../../models/index.js'
import {
  judgeAttempt,
  delayBefore,
  isRetryableModelError,
  toRetryPolicy,
  type Decision,
  type ModelAttempt,
  type RetryOptions,
  type Verdict,
} from './retry-policy.js'

const model: Model = {
  provider: 'test',
  modelId: 'test-1',
  stream() {
    throw new Error('a policy calls no model')
  },
}
const request: ModelRequest = { messages: [], signal: new AbortController().signal }
const answer = { text: 'Hello', toolCalls: [], finishReason: 'stop' } as const

function attemptOf(fields: Partial<ModelAttempt>): ModelAttempt {
  return { attempt: 1, model, request, ...fields }
}

function modelError(details: Readonly<Record<string, unknown>>, cause?: unknown): MillraceError {
  return new MillraceError('MODEL_ERROR', 'the provider said no, key sk-123', { details, cause })
}

function errorOf(fields: Readonly<Record<string, unknown>>): Error {
  return Object.assign(new Error('failed'), fields)
}

const busy = modelError({ status: 503, retryable: true })
const refused = modelError({ status: 400, retryable: false })

describe('isRetryableModelError', () => {
  const socket = errorOf({ code: 'ECONNRESET' })
  test.each<[string, unknown]>([
    ['a model error that says so', modelError({ retryable: true })],
    ['a stream that broke after status 200', modelError({ status: 200, retryable: true })],
    ...[408, 409, 429, 500, 503, 529].map((status): [string, unknown] => [
      `a model error of status ${status}`,
      modelError({ status }),
    ]),
    ['a model error caused by the network', modelError({}, socket)],
    ['an error of another library with a status', errorOf({ status: 503 })],
    ['an error of another library with a status code', errorOf({ statusCode: 429 })],
    ['a socket that broke', socket],
    ['a fetch whose socket broke', new TypeError('fetch failed', { cause: socket })],
    [
      'a fetch that got no answer',
      new TypeError('x', { cause: errorOf({ code: 'UND_ERR_HEADERS_TIMEOUT' }) }),
    ],
    ['a time-out', new DOMException('too slow', 'TimeoutError')],
  ])('%s is', (_, error) => {
    expect(isRetryableModelError(error)).toBe(true)
  })

  test.each<[string, unknown]>([
    ['a model error that says so', modelError({ retryable: false })],
    ['a quota that is used up', modelError({ status: 429, retryable: false })],
    ...[400, 401, 403, 404, 413, 422].flatMap((status): [string, unknown][] => [
      [`a model error of status ${status}`, modelError({ status })],
      [`a model error of status ${status} that claims to be`, modelError({ status, retryable: true })],
      [`another error of status ${status}`, errorOf({ status })],
    ]),
    ['a model error that says nothing', modelError({})],
    [
      'another error of ours',
      new MillraceError('TOOL_ERROR', 'x', { details: { retryable: true, status: 503 } }),
    ],
    ['an abort', new DOMException('stop', 'AbortError')],
    ['an abort with the code of a network error', errorOf({ name: 'AbortError', code: 'ECONNRESET' })],
    ['an interrupt', errorOf({ name: 'InterruptSignal', status: 503 })],
    ['a bug', new TypeError('x is not a function')],
    ['a chain of causes without end', circular()],
    ['nothing', undefined],
    ['text', 'ECONNRESET'],
  ])('%s is not', (_, error) => {
    expect(isRetryableModelError(error)).toBe(false)
  })

  test('the reason of the signal is not, whatever it is', () => {
    expect(isRetryableModelError(busy, AbortSignal.abort(busy))).toBe(false)
    expect(isRetryableModelError(busy, AbortSignal.abort('other'))).toBe(true)
  })

  function circular(): Error {
    const error = new Error('x')
    error.cause = error
    return error
  }
})

describe('toRetryPolicy', () => {
  test('fills in the defaults', () => {
    expect(toRetryPolicy()).toEqual({
      attempts: 3,
      initialDelayMs: 100,
      factor: 2,
      maxDelayMs: 10_000,
      jitter: 0.5,
      maxRetryAfterMs: 60_000,
    })
  })

  test('keeps what it is given', () => {
    const options = {
      attempts: 1,
      initialDelayMs: 0,
      factor: 1,
      maxDelayMs: 0,
      jitter: 1,
      maxRetryAfterMs: 0,
    }
    const verdict = () => undefined
    expect(toRetryPolicy({ ...options, verdict })).toEqual({ ...options, verdict })
  })

  test.each<RetryOptions>([
    { attempts: 0 },
    { attempts: 1.5 },
    { attempts: Infinity },
    { initialDelayMs: -1 },
    { factor: 0.5 },
    { maxDelayMs: NaN },
    { jitter: 1.1 },
    { jitter: -0.1 },
    { maxRetryAfterMs: -1 },
  ])('refuses %o', (options) => {
    expect(() => toRetryPolicy(options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_AGENT',
        details: { option: Object.keys(options)[0], value: Object.values(options)[0] as number },
      }),
    )
  })
})

describe('delayBefore', () => {
  const steady = toRetryPolicy({ jitter: 0 })

  test('doubles from 100 ms to 10 s', () => {
    const delays = Array.from({ length: 9 }, (_, index) => delayBefore({ attempt: index + 1 }, steady))
    expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
  })

  test('chance takes away up to the share of the jitter', () => {
    const policy = toRetryPolicy({ jitter: 0.25 })
    expect(delayBefore({ attempt: 1 }, policy, () => 0)).toBe(100)
    expect(delayBefore({ attempt: 1 }, policy, () => 0.5)).toBe(87.5)
  })

  test.each([
    ['longer than the pause', 5_000, 5_000],
    ['shorter than the pause', 50, 100],
    ['longer than allowed', 3_600_000, 60_000],
    ['nonsense', -5, 100],
    ['not a number', '5000', 100],
    ['NaN', NaN, 100],
  ])('a Retry-After that is %s', (_, retryAfterMs, expected) => {
    expect(delayBefore({ attempt: 1, error: modelError({ retryAfterMs }) }, steady)).toBe(expected)
  })

  const policies = fc
    .record({
      initialDelayMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      maxDelayMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(toRetryPolicy)
  const attempts = fc.integer({ min: 1, max: 5_000 })
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  test('every delay is a number between the jittered delay and the cap', () => {
    fc.assert(
      fc.property(policies, attempts, chance, (policy, attempt, random) => {
        const delay = delayBefore({ attempt }, policy, () => random)
        const longest = delayBefore({ attempt }, policy, () => 0)
        expect(delay).toBeGreaterThanOrEqual(longest * (1 - policy.jitter))
        expect(delay).toBeLessThanOrEqual(longest)
        expect(longest).toBeLessThanOrEqual(policy.maxDelayMs)
      }),
    )
  })

  test('with the same luck, no delay is shorter than the one before', () => {
    fc.assert(
      fc.property(policies, attempts, chance, (policy, attempt, random) => {
        const delay = delayBefore({ attempt }, policy, () => random)
        expect(delayBefore({ attempt: attempt + 1 }, policy, () => random)).toBeGreaterThanOrEqual(delay)
      }),
    )
  })

  test('a Retry-After never shortens a delay nor exceeds its own cap', () => {
    fc.assert(
      fc.property(policies, fc.double(), (policy, retryAfterMs) => {
        const plain = delayBefore({ attempt: 1 }, policy, () => 0)
        const delay = delayBefore({ attempt: 1, error: modelError({ retryAfterMs }) }, policy, () => 0)
        expect(delay).toBeGreaterThanOrEqual(plain)
        expect(delay).toBeLessThanOrEqual(Math.max(plain, policy.maxRetryAfterMs))
      }),
    )
  })
})

describe('judgeAttempt', () => {
  const neutral = 'The model could not be reached or refused.'
  const again: Verdict = { retry: true, reason: 'empty answer' }
  const messages = [{ id: 'u1', role: 'user', content: 'shorter' }] as const
  const abort = new DOMException('stop', 'AbortError')

  test.each<[string, Partial<ModelAttempt>, Verdict, Decision]>([
    ['an answer is accepted', { answer }, undefined, { type: 'accept' }],
    [
      'a passing error is tried again',
      { error: busy },
      undefined,
      { type: 'retry', reason: neutral, delayMs: 100 },
    ],
    ['pauses grow', { error: busy, attempt: 2 }, undefined, { type: 'retry', reason: neutral, delayMs: 200 }],
    [
      'the last attempt is the last',
      { error: busy, attempt: 3 },
      undefined,
      { type: 'exhausted', reason: neutral },
    ],
    ['a refusal fails', { error: refused }, undefined, { type: 'fail' }],
    ['no answer and no error is a failure', {}, undefined, { type: 'fail' }],
    ['an answer may be accepted', { answer }, 'accept', { type: 'accept' }],
    ['an error cannot be accepted', { error: busy }, 'accept', { type: 'fail' }],
    ['an answer may be failed', { answer }, 'fail', { type: 'fail' }],
    ['a passing error may be failed', { error: busy }, 'fail', { type: 'fail' }],
    [
      'an answer may be tried again',
      { answer },
      again,
      { type: 'retry', reason: 'empty answer', delayMs: 100 },
    ],
    [
      'a refusal may be tried again with other messages',
      { error: refused },
      { retry: true, reason: 'too long', delayMs: 0, messages },
      { type: 'retry', reason: 'too long', delayMs: 0, messages },
    ],
    [
      'a verdict gives no more attempts',
      { answer, attempt: 3 },
      again,
      { type: 'exhausted', reason: 'empty answer' },
    ],
    ['an abort is never tried again', { error: abort }, again, { type: 'stop' }],
    [
      'an interrupt is never tried again',
      { error: errorOf({ name: 'InterruptSignal' }) },
      again,
      { type: 'stop' },
    ],
  ])('%s', async (_, attempt, verdict, decision) => {
    const policy = toRetryPolicy({ verdict: () => Promise.resolve(verdict) })
    expect(await judgeAttempt(attemptOf(attempt), policy, () => 0)).toEqual(decision)
  })

  test('without a verdict the defaults judgeAttempt', async () => {
    expect(await judgeAttempt(attemptOf({ answer }), toRetryPolicy())).toEqual({ type: 'accept' })
    expect(await judgeAttempt(attemptOf({ error: refused }), toRetryPolicy())).toEqual({ type: 'fail' })
  })

  test('one attempt means exhausted at once', async () => {
    const decision = await judgeAttempt(attemptOf({ error: busy }), toRetryPolicy({ attempts: 1 }))
    expect(decision).toEqual({ type: 'exhausted', reason: neutral })
  })

  test('once the signal has aborted every error is a stop, and the verdict is not called', async () => {
    const verdict = vi.fn(() => again)
    const aborted = { ...request, signal: AbortSignal.abort('cancelled') }
    const policy = toRetryPolicy({ verdict })
    expect(await judgeAttempt(attemptOf({ error: busy, request: aborted }), policy)).toEqual({ type: 'stop' })
    expect(await judgeAttempt(attemptOf({ error: 'cancelled', request: aborted }), policy)).toEqual({
      type: 'stop',
    })
    expect(verdict).not.toHaveBeenCalled()
  })

  test('an answer that came before the signal aborted counts', async () => {
    const aborted = { ...request, signal: AbortSignal.abort('cancelled') }
    expect(await judgeAttempt(attemptOf({ answer, request: aborted }), toRetryPolicy())).toEqual({
      type: 'accept',
    })
  })

  test('the verdict sees the attempt, and what it throws passes on', async () => {
    const failure = new Error('verdict failed')
    const verdict = vi.fn((): Verdict => {
      throw failure
    })
    const attempt = attemptOf({ answer })
    await expect(judgeAttempt(attempt, toRetryPolicy({ verdict }))).rejects.toBe(failure)
    expect(verdict).toHaveBeenCalledExactlyOnceWith(attempt)
  })
})
