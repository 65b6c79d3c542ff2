import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../core/error-codes.js'
import { errorTexts } from '../../core/error-texts.js'
import { MillraceError, type MillraceErrorOptions } from '../../core/errors.js'
import { invalidField, toErrorResponse } from './errors.js'

function respond(code: ErrorCode, options?: MillraceErrorOptions) {
  return toErrorResponse(new MillraceError(code, 'own words', options))
}

describe('toErrorResponse', () => {
  test('has the status of the code, and the message when it may be shown', () => {
    expect(respond('THREAD_NOT_FOUND')).toEqual({
      status: 404,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: '{"error":{"code":"THREAD_NOT_FOUND","message":"own words"}}',
    })
  })

  test('shows nothing else: no hidden message, cause, details or stack', () => {
    const hidden = { cause: new Error('secret cause'), details: { secret: 'detail' } }
    expect(JSON.parse(respond('STORE_ERROR', hidden).body)).toEqual({
      error: { code: 'STORE_ERROR', message: errorTexts.STORE_ERROR },
    })
    expect(JSON.parse(respond('INVALID_INPUT', hidden).body)).toEqual({
      error: { code: 'INVALID_INPUT', message: 'own words' },
    })
  })

  test.each([new Error('secret'), 'secret', undefined, null, { status: 200, code: 'secret' }])(
    'says of any other error only that the server failed',
    (thrown) => {
      const { status, body } = toErrorResponse(thrown)
      expect(status).toBe(500)
      expect(JSON.parse(body)).toEqual({
        error: { code: 'INTERNAL_ERROR', message: errorTexts.INTERNAL_ERROR },
      })
    },
  )

  test("has an agent's own code in place of ours", () => {
    const { status, body } = respond('AGENT_ERROR', { wireCode: 'SOLD_OUT', expose: true })
    expect(status).toBe(500)
    expect(JSON.parse(body)).toEqual({ error: { code: 'SOLD_OUT', message: 'own words' } })
  })

  test('says how to sign in with 401, and what is allowed with 405', () => {
    expect(respond('UNAUTHENTICATED').headers['www-authenticate']).toBe('Bearer')
    expect(respond('METHOD_NOT_ALLOWED', { details: { allow: 'GET, DELETE' } }).headers.allow).toBe(
      'GET, DELETE',
    )
    expect(respond('METHOD_NOT_ALLOWED').headers.allow).toBe('')
  })

  test('says when to retry with 429 and 503', () => {
    const after = (retryAfterSeconds: unknown) =>
      respond('TOO_MANY_RUNS', { details: { retryAfterSeconds } }).headers['retry-after']
    expect(after(30)).toBe('30')
    expect(after(0.2)).toBe('1')
    expect(after(0)).toBe('0')
    for (const odd of [undefined, -1, Number.NaN, Infinity, '30\r\nx: y']) expect(after(odd)).toBe('1')
    for (const code of ['SERVER_CLOSING', 'STORE_ERROR'] as const)
      expect(respond(code).headers['retry-after']).toBe('1')
    expect(respond('INVALID_INPUT').headers).not.toHaveProperty('retry-after')
  })
})

test('invalidField names the field in the message and, for code, in the details', () => {
  expect(invalidField('runId', 'must not be empty')).toMatchObject({
    code: 'INVALID_INPUT',
    status: 400,
    expose: true,
    message: 'runId: must not be empty',
    details: { field: 'runId' },
  })
})
