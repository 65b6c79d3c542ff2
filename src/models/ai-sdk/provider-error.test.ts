import { describe, expect, test } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { toModelError } from './provider-error.js'

const now = Date.parse('2026-01-01T00:00:00Z')
const facts = { name: 'openai gpt', hasResponse: false, clock: manualClock(now) }
const detailsOf = (error: unknown, hasResponse = false) =>
  toModelError(error, { ...facts, hasResponse }).details

function apiCallError(fields: Record<string, unknown>): Error {
  return Object.assign(new Error('Rate limit reached'), { name: 'AI_APICallError', ...fields })
}

test('an error of the HTTP API keeps its status, its verdict and its cause', () => {
  const cause = apiCallError({ statusCode: 429, isRetryable: true })
  const error = toModelError(cause, facts)
  expect(error).toMatchObject({
    code: 'MODEL_ERROR',
    message: 'openai gpt (HTTP 429): Rate limit reached',
    details: { status: 429, retryable: true },
    expose: false,
    cause,
  })
})

test('an error that is one of ours passes', () => {
  const error = new MillraceError('RUN_CANCELLED', 'stop')
  expect(toModelError(error, facts)).toBe(error)
})

describe('whether it may be retried', () => {
  test.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, true],
    [422, false],
    [429, true],
    [500, true],
    [529, true],
  ])('follows from status %i: %s', (statusCode, retryable) => {
    expect(detailsOf({ message: 'x', statusCode })).toEqual({ status: statusCode, retryable })
  })

  test('is what the provider says, against the status too', () => {
    expect(detailsOf(apiCallError({ statusCode: 429, isRetryable: false }))).toMatchObject({
      retryable: false,
    })
    expect(detailsOf(apiCallError({ statusCode: undefined, isRetryable: true }))).toEqual({ retryable: true })
  })

  test.each([
    ['a lost line while the model answers', new TypeError('terminated'), true, true],
    ['the same before the model answers', new TypeError('x is not a function'), false, false],
    ['a timeout', new DOMException('slow', 'TimeoutError'), false, true],
    ['an overloaded server in mid-stream', { type: 'overloaded_error', message: 'Overloaded' }, true, true],
    ['a bad request in mid-stream', { type: 'invalid_request_error', message: 'no' }, true, false],
    [
      'too long a conversation in mid-stream',
      { code: 'context_length_exceeded', message: 'no' },
      true,
      false,
    ],
    ['an empty account in mid-stream', { code: 'insufficient_quota', message: 'no' }, true, false],
    ['a chunk that is no JSON', Object.assign(new Error('bad'), { name: 'AI_JSONParseError' }), true, false],
    ['a missing key', Object.assign(new Error('key'), { name: 'AI_LoadAPIKeyError' }), false, false],
    ['a text', 'went wrong', true, true],
  ])('is told for %s', (_what, error, hasResponse, retryable) => {
    expect(detailsOf(error, hasResponse)).toEqual({ retryable })
  })

  test('follows from a status that stands in the code', () => {
    expect(detailsOf({ message: 'x', code: 503 }, true)).toEqual({ status: 503, retryable: true })
    expect(detailsOf({ message: 'x', code: '400' }, true)).toEqual({ status: 400, retryable: false })
  })
})

describe('the time to wait', () => {
  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  ])('is read from %j', (responseHeaders, retryAfterMs) => {
    const error = apiCallError({ statusCode: 429, isRetryable: true, responseHeaders })
    expect(detailsOf(error)).toEqual({ status: 429, retryable: true, retryAfterMs })
  })

  test.each([
    {},
    { 'retry-after': 'soon' },
    { 'retry-after': '-5' },
    { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' },
  ])('is absent with %j', (responseHeaders) => {
    expect(detailsOf(apiCallError({ statusCode: 429, isRetryable: true, responseHeaders }))).toEqual({
      status: 429,
      retryable: true,
    })
  })
})
