import { describe, expect, test } from 'vitest'
import { MillraceError, type MillraceErrorOptions } from '../../core/errors.js'
import { backoffDelay, toBackoff } from './backoff.js'
import { isRetryableCode, isRetryableFailure } from './failures.js'
import { SessionProgress, type AdkSessionState } from './session-progress.js'

const thrown = (error: unknown) => ({ error, isThrown: true, events: [] })
const withFields = (fields: object) => Object.assign(new Error('failed'), fields)
const own = (options: MillraceErrorOptions = {}) => new MillraceError('MODEL_ERROR', 'failed', options)

describe('a thrown failure is retryable:', () => {
  test.each<[string, unknown]>([
    ['any error that says nothing of itself', new Error('kaput')],
    ['a value that is no error', 'kaput'],
    ['nothing at all', undefined],
    ['a status of the server', withFields({ status: 503 })],
    ['a status code of too many requests', withFields({ statusCode: 429 })],
    ['a numeric code', withFields({ code: 500 })],
    ['a socket that broke', withFields({ code: 'ECONNRESET' })],
    ['a node that reported a busy model', withFields({ name: 'NodeReportedError', code: '503' })],
    ['a model error of ours', own()],
    ['an error of ours that says so', new MillraceError('TOOL_ERROR', 'x', { details: { retryable: true } })],
  ])('%s', (_, error) => {
    expect(isRetryableFailure(thrown(error))).toBe(true)
  })
})

describe('a thrown failure is permanent:', () => {
  test.each<[string, unknown]>([
    ['an abort', new DOMException('stopped', 'AbortError')],
    ['an abort of a workflow', withFields({ name: 'InvocationAbortedError' })],
    ['an interrupt', withFields({ name: 'InterruptSignal' })],
    ['an approval that does not fit', withFields({ name: 'IntentMismatchError' })],
    ['a refusal', withFields({ status: 400 })],
    ['a numeric code of a refusal', withFields({ code: 403 })],
    ['a refusal by name', withFields({ code: 'PERMISSION_DENIED' })],
    ['a tool that is there twice', new Error('Duplicate tool name: pay')],
    ['too many calls of the model', new Error('Max number of llm calls limit of 2 exceeded')],
    ['a model error of ours with the status of a refusal', own({ details: { status: 400 } })],
    ['a model error of ours that was retried enough', own({ details: { retryable: false } })],
    ['another error of ours', new MillraceError('INVALID_AGENT', 'x')],
  ])('%s', (_, error) => {
    expect(isRetryableFailure(thrown(error))).toBe(false)
  })
})

test('one permanent error event is enough', () => {
  const [good, bad] = ['503', '400'].map((errorCode) => ({ errorCode }) as never)
  const failure = { error: own(), isThrown: false }
  expect(isRetryableFailure({ ...failure, events: [good, good] as never })).toBe(true)
  expect(isRetryableFailure({ ...failure, events: [good, bad] as never })).toBe(false)
})

test.each([
  ['UNKNOWN_ERROR', true],
  ['UNAVAILABLE', true],
  ['MALFORMED_FUNCTION_CALL', true],
  ['504', true],
  ['INVALID_ARGUMENT', false],
  ['SAFETY', false],
  ['404', false],
])('the code %s alone: %s', (code, isRetryable) => {
  expect(isRetryableCode(code)).toBe(isRetryable)
})

const states: readonly AdkSessionState[] = [
  ...(['init', 'ready', 'running', 'error', 'retrying', 'failed', 'cleaning', 'closed'] as const),
]

/** The design's diagram, and what it leaves open: no retry at all, and one retry after the other. */
const drawn = new Set([
  ...['init>ready', 'ready>running', 'running>ready', 'running>error', 'error>retrying', 'retrying>ready'],
  ...['retrying>failed', 'failed>ready', 'ready>cleaning', 'cleaning>closed'],
  ...['error>ready', 'error>failed', 'retrying>retrying'],
])

describe.each(states)('a session moves from %s', (from) => {
  test.each(states)('to %s', (to) => {
    const progress = new SessionProgress(undefined)
    progress.state = from
    if (drawn.has(`${from}>${to}`)) {
      progress.move(to)
      expect(progress.state).toBe(to)
      return
    }
    const code = from === 'cleaning' || from === 'closed' ? 'RUN_CLOSED' : 'THREAD_IS_LOCKED'
    expect(() => progress.move(to)).toThrow(expect.objectContaining({ code }))
  })
})

test('pauses stay numbers however many there are', () => {
  expect(backoffDelay(5000, toBackoff({}))).toBe(60_000)
  expect(backoffDelay(5000, toBackoff({ delayMs: 0 }))).toBe(0)
  expect(backoffDelay(5000, toBackoff({ factor: 1 }))).toBe(1000)
})
