import { InterruptSchema } from '@ag-ui/core/schemas'
import { createEvent, getUserInputRequests, type Event } from '@google/adk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertJson } from '../../core/json.js'
import { toResponsePart } from './answers.js'
import { unwrapAnswer, wrapAnswer } from './request-calls.js'
import { toAdkInterrupts, type AdkInterrupt } from './to-interrupts.js'

function asking(name: string, args: Record<string, unknown>, id = 'q1'): Event {
  const functionCall = { id, name, args }
  return createEvent({
    author: 'clerk',
    content: { role: 'user', parts: [{ functionCall }] },
    longRunningToolIds: [id],
  })
}

function asked(event: Event, runId = 'r1') {
  const requests = getUserInputRequests(event).map((request) => ({ request, event, subagentRunId: 'sub-1' }))
  const [found] = toAdkInterrupts(requests, runId)
  if (!found) throw new Error('There is no interrupt.')
  return found
}

const pay = {
  originalFunctionCall: { id: 'p1', name: 'pay', args: { amount: 3 } },
  toolConfirmation: { hint: 'Pay 3 coins?', confirmed: false, payload: { tip: 0 } },
}

describe('a confirmation', () => {
  it('is about the call that the client has seen', () => {
    const found = asked(asking('adk_request_confirmation', pay))
    expect(found).toEqual({
      interrupt: {
        id: expect.stringMatching(/^int-[0-9a-f]{16}$/) as string,
        subagentRunId: 'sub-1',
        reason: 'confirmation',
        message: 'Pay 3 coins?\nMay the tool "pay" be called with amount 3?',
        toolCallId: 'p1',
        responseSchema: {
          properties: {
            approved: { description: expect.any(String) as string, anyOf: [{ type: 'boolean' }, {}] },
            payload: {},
          },
        },
        metadata: {
          agent: 'clerk',
          toolName: 'pay',
          arguments: { amount: 3 },
          hint: 'Pay 3 coins?',
          payload: { tip: 0 },
        },
      },
      kind: 'confirmation',
      functionCallId: 'q1',
      functionCallName: 'adk_request_confirmation',
      author: 'clerk',
    })
    expect(InterruptSchema.safeParse(found.interrupt).success).toBe(true)
  })

  it('asks in words for people where ADK speaks to programmers', () => {
    const hint = 'Please approve or reject the tool call pay() by responding with a FunctionResponse with ...'
    const event = asking('adk_request_confirmation', { ...pay, toolConfirmation: { hint, confirmed: false } })
    expect(asked(event).interrupt.message).toBe('May the tool "pay" be called with amount 3?')
    expect(asked(event).interrupt.metadata).not.toHaveProperty('hint')
  })

  it('cuts long arguments in its message only', () => {
    const args = { text: 'x'.repeat(9_999) }
    const originalFunctionCall = { ...pay.originalFunctionCall, args }
    const { message = '', metadata } = asked(
      asking('adk_request_confirmation', { ...pay, originalFunctionCall }),
    ).interrupt
    expect(message.length).toBeLessThan(600)
    expect(message).toMatch(/xxx…\?$/)
    expect(metadata).toMatchObject({ arguments: args })
  })

  it('has another id in every run, and for every call', () => {
    const event = asking('adk_request_confirmation', pay)
    const ids = [asked(event), asked(event, 'r2'), asked(asking('adk_request_confirmation', pay, 'q2'))]
    expect(new Set(ids.map(({ interrupt }) => interrupt.id)).size).toBe(3)
    expect(asked(event)).toEqual(asked(event))
  })

  it('is JSON whatever a tool has put into its payload', () => {
    const circle: Record<string, unknown> = { big: 1n }
    circle.self = circle
    const event = asking('adk_request_confirmation', {
      ...pay,
      toolConfirmation: { hint: '', confirmed: false, payload: circle },
    })
    const found = asked(event)
    assertJson(found, 'interrupt')
    expect(found.interrupt.metadata).not.toHaveProperty('payload')
  })
})

describe('an input', () => {
  it('has the schema of the request as JSON Schema', () => {
    const response_schema = {
      type: 'OBJECT',
      properties: { type: { type: 'STRING' }, n: { type: ['integer', 'null'] } },
    }
    const { interrupt } = asked(
      asking('adk_request_input', { message: 'Who?', payload: [1], response_schema }),
    )
    expect(interrupt).toMatchObject({
      reason: 'input_required',
      message: 'Who?',
      responseSchema: {
        type: 'object',
        properties: { type: { type: 'string' }, n: { type: ['integer', 'null'] } },
      },
      metadata: { agent: 'clerk', payload: [1] },
    })
  })

  it('takes anything when the request has no schema, or one that says nothing', () => {
    expect(asked(asking('adk_request_input', {})).interrupt).not.toHaveProperty('responseSchema')
    const odd = asked(asking('adk_request_input', { response_schema: { type: 'str' } }))
    expect(odd.interrupt.responseSchema).toEqual({})
  })
})

describe('a credential', () => {
  const flows = {
    authorizationCode: {
      authorizationUrl: 'https://x.test',
      tokenUrl: 'https://x.test/t',
      scopes: { read: '' },
    },
  }

  it('of OAuth says which page to open', () => {
    const authUri = 'https://x.test/auth?client_id=me&state=s'
    const auth_config = {
      authScheme: { type: 'oauth2', flows },
      rawAuthCredential: { authType: 'oauth2', oauth2: { clientId: 'me', clientSecret: 'secret' } },
      exchangedAuthCredential: { authType: 'oauth2', oauth2: { clientSecret: 'secret', authUri } },
      credentialKey: 'k',
    }
    const { interrupt } = asked(asking('adk_request_credential', { function_call_id: 't1', auth_config }))
    expect(interrupt).toMatchObject({
      reason: 'adk:credential',
      message: 'You have to sign in.',
      toolCallId: 't1',
      metadata: {
        agent: 'clerk',
        credential: { type: 'oauth2', authorizationUri: authUri, scopes: ['read'] },
      },
    })
  })

  it.each([
    { scheme: { type: 'apiKey', name: 'X-Key', in: 'header' }, required: ['apiKey'] },
    { scheme: { type: 'http', scheme: 'Basic' }, required: ['username', 'password'] },
    { scheme: { type: 'http', scheme: 'bearer' }, required: ['token'] },
    { scheme: { type: 'mutualTLS' }, required: undefined },
  ])('of $scheme.type says what has to come back', ({ scheme, required }) => {
    const args = { functionCallId: 'q1', authConfig: { authScheme: scheme, credentialKey: 'k' } }
    const { interrupt } = asked(asking('adk_request_credential', args))
    expect(interrupt.responseSchema?.required).toEqual(required)
    expect(interrupt).not.toHaveProperty('toolCallId')
  })

  it('never shows a secret, wherever it stands in the configuration', () => {
    fc.assert(
      fc.property(authConfig, fc.boolean(), (config, isSnake) => {
        const args = isSnake
          ? { function_call_id: 't1', auth_config: snake(config) }
          : { functionCallId: 't1', authConfig: config }
        expect(JSON.stringify(asked(asking('adk_request_credential', args)))).not.toContain('secret-')
      }),
    )
  })
})

const secret = fc.nat().map((number) => `secret-${number}`)
const secrets = (...names: string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, secret])), { requiredKeys: [] })

const oauth2 = fc
  .tuple(
    secrets(
      ...[
        'clientSecret',
        'nonce',
        'codeVerifier',
        'authResponseUri',
        'authCode',
        'accessToken',
        'refreshToken',
      ],
      ...['idToken', 'audience', 'custom'],
    ),
    fc.oneof(
      fc.constant({}),
      secret.map((value) => ({ authUri: `https://u:${value}@x.test/a?client_secret=${value}&client_id=me` })),
    ),
  )
  .map(([values, uri]) => ({ clientId: 'me', ...values, ...uri }))

const credential = fc.record(
  {
    authType: fc.constantFrom('apiKey', 'http', 'oauth2', 'openIdConnect', 'serviceAccount'),
    apiKey: secret,
    resourceRef: secret,
    custom: secret,
    oauth2,
    http: fc.record({
      scheme: secret,
      credentials: secrets('username', 'password', 'token'),
      additionalHeaders: secrets('authorization'),
    }),
    serviceAccount: fc.record({
      serviceAccountCredential: secrets('privateKey', 'privateKeyId', 'clientEmail'),
    }),
  },
  { requiredKeys: [] },
)

const authConfig = fc.record(
  {
    authScheme: fc.record(
      {
        type: fc.oneof(fc.constantFrom('apiKey', 'http', 'oauth2', 'openIdConnect'), secret),
        name: fc.constant('X-Key'),
        description: secret,
        'x-custom': secret,
        flows: fc.record({
          authorizationCode: fc.record({ scopes: fc.record({ read: secret }), tokenUrl: secret }),
        }),
      },
      { requiredKeys: [] },
    ),
    rawAuthCredential: credential,
    exchangedAuthCredential: credential,
    credentialKey: secret,
    custom: secret,
  },
  { requiredKeys: [] },
)

function snake(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snake)
  if (typeof value !== 'object' || value === null) return value
  const names = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [names(key), snake(member)]))
}

function interruptOf(
  kind: AdkInterrupt['kind'],
  interrupt: Partial<AdkInterrupt['interrupt']> = {},
): AdkInterrupt {
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
    [resolved({ confirmed: true, approved: false }), { confirmed: false }],
    [resolved({}), { confirmed: false }],
    [resolved({ confirmed: 'true' }), { confirmed: false }],
    [resolved('yes'), { confirmed: false }],
    [resolved(null), { confirmed: false }],
    [cancelled, { confirmed: false }],
  ])('%j is %j for ADK', (answer, response) => {
    const functionResponse = { id: 'q1', name: 'adk_request_confirmation', response }
    expect(toResponsePart(interruptOf('confirmation'), answer, [])).toEqual({ functionResponse })
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
    expect(toResponsePart(interruptOf('input'), answer, [])).toMatchObject({ functionResponse: { response } })
  })

  it('that is a text is left to ADK where a schema says what it should be', () => {
    const asked = interruptOf('input', { responseSchema: { type: 'number' } })
    expect(toResponsePart(asked, resolved('42'), [])).toMatchObject({
      functionResponse: { response: { result: '42' } },
    })
  })

  it.each(['Ann', '42', 'null', '"quoted"', 7, null, { a: 1 }, { result: 'x' }, [1]])(
    '%j can be read again',
    (value) => {
      expect(unwrapAnswer(wrapAnswer(value))).toEqual(value)
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
    expect(toResponsePart(interruptOf('credential'), resolved(payload), events)).toEqual({ functionResponse })
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
    const part = toResponsePart(interruptOf('credential'), resolved(payload), from)
    expect(part).toMatchObject({ functionResponse: { response: { exchangedAuthCredential } } })
  })

  it('is refused when nothing of use is in it, or when the request is lost', () => {
    const asked = interruptOf('credential')
    expect(() => toResponsePart(asked, resolved({ accessToken: 'x' }), events)).toThrow(
      /none of the credentials/,
    )
    expect(() => toResponsePart(asked, resolved({ authCode: 'x' }), [])).toThrow(/does not have the request/)
  })

  it('that is cancelled is an error of the tool that asked', () => {
    const part = toResponsePart(interruptOf('credential', { toolCallId: 't1' }), cancelled, events)
    expect(part).toMatchObject({
      functionResponse: { id: 't1', name: 'mail', response: { error: expect.any(String) as string } },
    })
  })
})
