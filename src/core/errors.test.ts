import { describe, expect, test, vi } from 'vitest'
import { errorTexts } from './error-texts.js'
import { MillraceError, toWireError } from './errors.js'

describe('MillraceError', () => {
  test('takes status and exposure from the code', () => {
    const error = new MillraceError('INVALID_INPUT', 'Send a thread id.')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'MillraceError',
      message: 'Send a thread id.',
      code: 'INVALID_INPUT',
      status: 400,
      expose: true,
      details: {},
    })
    expect(new MillraceError('AGENT_ERROR', 'secret')).toMatchObject({ status: 500, expose: false })
  })

  test('keeps details and the cause, also a cause that is undefined', () => {
    const cause = new Error('low level')
    const error = new MillraceError('AGENT_ERROR', 'failed', { cause, details: { tool: 'search' } })
    expect(error.cause).toBe(cause)
    expect(error.details).toEqual({ tool: 'search' })
    expect(new MillraceError('AGENT_ERROR', 'failed', { cause: undefined })).toHaveProperty(
      'cause',
      undefined,
    )
    expect(new MillraceError('AGENT_ERROR', 'failed')).not.toHaveProperty('cause')
  })

  test('is recognised across two copies of the package', async () => {
    vi.resetModules()
    const copy = await import('./errors.js')
    const error = new copy.MillraceError('RUN_CLOSED', 'over')
    expect(error).not.toBeInstanceOf(MillraceError)
    expect(MillraceError.isInstance(error)).toBe(true)
  })

  test('is not mistaken for anything else', () => {
    for (const value of [new Error('x'), { code: 'AGENT_ERROR' }, null, undefined, 'AGENT_ERROR']) {
      expect(MillraceError.isInstance(value)).toBe(false)
    }
  })

  test('is told from a value that cannot be looked at', () => {
    const has = (): never => {
      throw new Error('Do not look.')
    }
    expect(MillraceError.isInstance(new Proxy({}, { has }))).toBe(false)
    expect(toWireError(new Proxy({}, { has })).code).toBe('AGENT_ERROR')
  })
})

describe('toWireError', () => {
  test('shows the message of an error that may be shown', () => {
    expect(toWireError(new MillraceError('INVALID_INPUT', 'Send a thread id.'))).toEqual({
      code: 'INVALID_INPUT',
      message: 'Send a thread id.',
    })
  })

  test('replaces the message of any other error by the neutral sentence of its code', () => {
    expect(toWireError(new MillraceError('INVALID_EVENT', 'password is hunter2'))).toEqual({
      code: 'INVALID_EVENT',
      message: errorTexts.INVALID_EVENT,
    })
  })

  test('lets one error overrule the exposure of its code, both ways', () => {
    expect(toWireError(new MillraceError('AGENT_ERROR', 'Try later.', { expose: true })).message).toBe(
      'Try later.',
    )
    expect(toWireError(new MillraceError('INVALID_INPUT', 'secret', { expose: false })).message).toBe(
      errorTexts.INVALID_INPUT,
    )
  })

  test("gives an agent's own code in place of ours, with the message that ours allows", () => {
    const error = new MillraceError('AGENT_ERROR', 'secret', { wireCode: 'UPSTREAM_503' })
    expect(toWireError(error)).toEqual({ code: 'UPSTREAM_503', message: errorTexts.AGENT_ERROR })
    expect(error.code).toBe('AGENT_ERROR')
  })

  test('says nothing of a foreign error but the fallback', () => {
    expect(toWireError(new Error('secret'))).toEqual({ code: 'AGENT_ERROR', message: 'The agent failed.' })
    expect(toWireError('secret', 'RUN_CANCELLED')).toEqual({
      code: 'RUN_CANCELLED',
      message: 'The run was cancelled.',
    })
  })
})
