import { createEvent } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { responseTo } from './answers.js'
import type { Question } from './questions.js'
import { unwrapped, wrapped } from './wrap.js'

function question(kind: Question['kind'], interrupt: Partial<Question['interrupt']> = {}): Question {
  const functionCallName = `adk_request_${kind}`
  return {
    interrupt: { id: 'int-1', reason: '', ...interrupt },
    kind,
    functionCallId: 'q1',
    functionCallName,
    author: 'a',
  }
}

const resolved = (payload: unknown) => ({ status: 'resolved', payload }) as const
const cancelled = { status: 'cancelled' } as const

describe('the answer to a confirmation', () => {
  it.each([
    [resolved({ confirmed: true }), { confirmed: true }],
    [resolved({ confirmed: true, payload: { tip: 1 } }), { confirmed: true, payload: { tip: 1 } }],
    [resolved({ approved: true }), { confirmed: true }],
    [resolved(true), { confirmed: true }],
    [resolved({ confirmed: false, approved: true }), { confirmed: false }],
    [resolved({ confirmed: 'true' }), { confirmed: false }],
    [resolved('yes'), { confirmed: false }],
    [resolved(null), { confirmed: false }],
    [cancelled, { confirmed: false }],
  ])('%j is %j for ADK', (answer, response) => {
    const functionResponse = { id: 'q1', name: 'adk_request_confirmation', response }
    expect(responseTo(question('confirmation'), answer, [])).toEqual({ functionResponse })
  })
})

describe('the answer to an input', () => {
  it.each([
    [resolved({ name: 'Ann' }), { name: 'Ann' }],
    [resolved({ result: 1 }), { result: { result: 1 } }],
    [resolved('Ann'), { result: 'Ann' }],
    [resolved('42'), { result: '"42"' }],
    [resolved([1]), { result: [1] }],
    [resolved(false), { result: false }],
    [cancelled, { result: null }],
  ])('%j is %j for ADK', (answer, response) => {
    expect(responseTo(question('input'), answer, [])).toMatchObject({ functionResponse: { response } })
  })

  it('that is a text is left to ADK where a schema says what it should be', () => {
    const asked = question('input', { responseSchema: { type: 'number' } })
    expect(responseTo(asked, resolved('42'), [])).toMatchObject({
      functionResponse: { response: { result: '42' } },
    })
  })

  it.each(['Ann', '42', 'null', '"quoted"', 7, null, { a: 1 }, { result: 'x' }, [1]])(
    '%j can be read again',
    (value) => {
      expect(unwrapped(wrapped(value))).toEqual(value)
    },
  )
})

describe('the answer to a request for credentials', () => {
  const authScheme = { type: 'oauth2' }
  const session = (auth_config: unknown) => [
    createEvent({ content: { parts: [{ functionCall: { id: 't1', name: 'mail', args: {} } }] } }),
    createEvent({
      content: {
        parts: [
          {
            functionCall: {
              id: 'q1',
              name: 'adk_request_credential',
              args: { function_call_id: 't1', auth_config },
            },
          },
        ],
      },
    }),
  ]
  const events = session({ authScheme, credentialKey: 'k' })

  it('takes nothing but what was asked for', () => {
    const payload = { authCode: 'code', accessToken: 'stolen', clientSecret: 'other', credentialKey: 'else' }
    const response = {
      authScheme,
      credentialKey: 'k',
      exchangedAuthCredential: { authType: 'oauth2', oauth2: { authCode: 'code' } },
    }
    const functionResponse = { id: 'q1', name: 'adk_request_credential', response }
    expect(responseTo(question('credential'), resolved(payload), events)).toEqual({ functionResponse })
  })

  it.each([
    [
      authScheme,
      'https://me.test/back?code=1',
      { oauth2: { authResponseUri: 'https://me.test/back?code=1' } },
    ],
    [{ type: 'apiKey' }, 'key', { apiKey: 'key' }],
    [{ type: 'http', scheme: 'basic' }, { username: 'u', password: 'p' }, { http: { scheme: 'basic' } }],
    [{ type: 'http', scheme: 'bearer' }, 'token', { http: { credentials: { token: 'token' } } }],
  ])('for %j takes %j', (scheme, payload, exchangedAuthCredential) => {
    const from = session({ auth_scheme: scheme, credential_key: 'k' })
    const part = responseTo(question('credential'), resolved(payload), from)
    expect(part).toMatchObject({ functionResponse: { response: { exchangedAuthCredential } } })
  })

  it('is refused when nothing of use is in it, or when the request is lost', () => {
    const asked = question('credential')
    expect(() => responseTo(asked, resolved({ accessToken: 'x' }), events)).toThrow(/none of the credentials/)
    expect(() => responseTo(asked, resolved({ authCode: 'x' }), [])).toThrow(/does not have the request/)
  })

  it('that is cancelled is an error of the tool that asked', () => {
    const part = responseTo(question('credential', { toolCallId: 't1' }), cancelled, events)
    expect(part).toMatchObject({
      functionResponse: { id: 't1', name: 'mail', response: { error: expect.any(String) as string } },
    })
  })
})
