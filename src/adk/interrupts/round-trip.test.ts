import {
  AuthCredentialTypes,
  FunctionNode,
  FunctionTool,
  getUserInputRequests,
  requestInputTool,
  RequestInput,
  START,
  Workflow,
  type AuthConfig,
  type BaseAgent,
} from '@google/adk'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  ClientTool,
  converse,
  resultOf,
  resultsIn,
  textLines,
  scripted,
  type ConversationTurn,
} from '../../../test/support/adk/converse.js'
import { callsTool, says } from '../../../test/support/adk/scripted-llm.js'
import type { Answer } from '../../agents/index.js'
import type { Part } from '../adk-types.js'
import { toResponsePart } from './answers.js'
import { toAdkInterrupts } from './to-interrupts.js'

const resolved = (payload: unknown): Answer => ({ status: 'resolved', payload })
const cancelled: Answer = { status: 'cancelled' }

/** A run that asks, and the run with the answers. */
function interview(root: BaseAgent | Workflow) {
  const talk = converse(root)
  const interruptsIn = ({ events }: ConversationTurn) => {
    const requests = events.flatMap((event) =>
      getUserInputRequests(event).map((request) => ({ request, event, subagentRunId: undefined })),
    )
    return toAdkInterrupts(requests, 'r1')
  }
  let interrupts: ReturnType<typeof interruptsIn> = []
  const noted = (turn: ConversationTurn) => {
    interrupts = interruptsIn(turn)
    return turn
  }
  return {
    ask: async (message = 'go') => noted(await talk.turn(message)),
    interrupts: () => interrupts,
    async answer(answers: readonly Answer[], others: readonly Part[] = []) {
      const history = await talk.history()
      const parts = answers.flatMap((answer, index) => {
        const question = interrupts[index]
        return question ? [toResponsePart(question, answer, history)] : []
      })
      return noted(
        await talk.turn([...others, ...parts], { resumeAt: interrupts.map(({ author }) => author) }),
      )
    },
  }
}

describe('a tool that has to be confirmed', () => {
  const setup = () => {
    const paid: unknown[] = []
    const execute = ({ amount }: { amount: number }) => {
      paid.push(amount)
      return { paid: amount }
    }
    const parameters = z.object({ amount: z.number() })
    const pay = new FunctionTool({
      name: 'pay',
      description: 'pays',
      parameters,
      execute,
      requireConfirmation: true,
    })
    const call = { name: 'pay', id: 'p1', args: { amount: 3 } }
    return { paid, pay, call }
  }

  it.each([
    [resolved({ confirmed: true }), '{"paid":3}', [3]],
    [resolved({ confirmed: false }), '{"error":"This tool call is rejected."}', []],
    [cancelled, '{"error":"This tool call is rejected."}', []],
  ])('after %j gives the model %s', async (answer, result, expected) => {
    const { paid, pay, call } = setup()
    const a = scripted('a', [callsTool(call), says('done')], { tools: [pay] })
    const talk = interview(a.agent)
    await talk.ask()
    expect(talk.interrupts().map(({ interrupt }) => interrupt.toolCallId)).toEqual(['p1'])
    expect(textLines(await talk.answer([answer]))).toEqual(['a: done'])
    expect([resultsIn(a.llm.calls[1]), paid]).toEqual([[result], expected])
  })

  it('can be answered together with the result of a client tool', async () => {
    const { paid, pay, call } = setup()
    const tools = [pay, new ClientTool('pick')]
    const a = scripted('a', [callsTool({ name: 'pick', id: 'c1' }, call), says('done')], { tools })
    const talk = interview(a.agent)
    await talk.ask()
    await talk.answer([resolved({ confirmed: true })], [resultOf('c1', 'pick', { color: 'red' })])
    expect(paid).toEqual([3])
    expect(resultsIn(a.llm.calls[1]).sort()).toEqual(['{"color":"red"}', '{"paid":3}'])
  })
})

describe('a tool that asks for confirmation by itself', () => {
  const setup = () => {
    const delete_ = new FunctionTool({
      name: 'delete',
      description: 'deletes',
      execute: (_: unknown, context) => {
        if (context?.toolConfirmation)
          return { deleted: context.toolConfirmation.confirmed, how: context.toolConfirmation.payload }
        context?.requestConfirmation({ hint: 'Delete all?', payload: { how: 'soft' } })
        return { status: 'waiting' }
      },
    })
    return scripted('a', [callsTool({ name: 'delete', id: 'd1' }), says('done')], { tools: [delete_] })
  }

  it.each([
    [resolved({ confirmed: true, payload: 'hard' }), '{"deleted":true,"how":"hard"}'],
    [cancelled, '{"deleted":false}'],
  ])('is run again with %j', async (answer, result) => {
    const a = setup()
    const talk = interview(a.agent)
    await talk.ask()
    expect(talk.interrupts()[0]?.interrupt).toMatchObject({
      message: 'Delete all?\nMay the tool "delete" be called?',
      metadata: { payload: { how: 'soft' } },
    })
    expect(textLines(await talk.answer([answer]))).toEqual(['a: done'])
    expect(resultsIn(a.llm.calls[1])).toEqual([result])
  })
})

describe('a question of a model', () => {
  const asks = callsTool({ name: requestInputTool.name, id: 'q1', args: { message: 'Who?' } })

  it.each([
    [resolved('42'), '{"result":"42"}'],
    [resolved({ name: 'Ann' }), '{"result":{"name":"Ann"}}'],
    [cancelled, '{"result":"The user gave no answer."}'],
  ])('gets %j, also in later turns', async (answer, result) => {
    const a = scripted('a', [asks, says('hello'), says('again')], { tools: [requestInputTool] })
    const talk = interview(a.agent)
    await talk.ask()
    expect(talk.interrupts()[0]?.interrupt.message).toBe('Who?')
    expect(textLines(await talk.answer([answer]))).toEqual(['a: hello'])
    await talk.ask('more')
    for (const contents of a.llm.calls.slice(1)) {
      expect(contents.map(({ role }) => role).slice(0, 3)).toEqual(['user', 'model', 'user'])
      expect(contents[1]?.parts?.[0]?.functionCall).toMatchObject({
        name: requestInputTool.name,
        args: { message: 'Who?' },
      })
      expect(contents[2]?.parts?.[0]?.functionResponse?.name).toBe(requestInputTool.name)
      expect(resultsIn(contents)).toEqual([result])
    }
  })

  it('that nobody answered does not trouble the next turn', async () => {
    const a = scripted('a', [asks, says('fine')], { tools: [requestInputTool] })
    const talk = interview(a.agent)
    await talk.ask()
    expect(textLines(await talk.ask('never mind'))).toEqual(['a: fine'])
    expect(resultsIn(a.llm.calls[1])).toEqual([])
  })
})

describe('a question of a workflow', () => {
  const setup = (responseSchema?: z.ZodType) => {
    const answers: unknown[] = []
    const ask = new FunctionNode(
      'ask',
      () =>
        new RequestInput({
          interruptId: 'i1',
          message: 'How many?',
          ...(responseSchema ? { responseSchema } : {}),
        }),
    )
    const take = new FunctionNode('take', (_, input) => void answers.push(input))
    return { answers, workflow: new Workflow({ name: 'wf', edges: [[START, ask, take]] }) }
  }

  it.each([
    [resolved('42'), '42'],
    [resolved({ n: 1 }), { n: 1 }],
    [resolved({ result: 1 }), { result: 1 }],
    [resolved([1, 2]), [1, 2]],
    [cancelled, null],
  ])('gets %j', async (answer, value) => {
    const { answers, workflow } = setup()
    const talk = interview(workflow)
    await talk.ask()
    await talk.answer([answer])
    expect(answers).toEqual([value])
  })

  it.each([
    [resolved({ n: 3 }), { n: 3 }],
    [cancelled, null],
  ])('with a schema gets %j too', async (answer, value) => {
    const { answers, workflow } = setup(z.object({ n: z.number() }))
    const talk = interview(workflow)
    await talk.ask()
    expect(talk.interrupts()[0]?.interrupt.responseSchema).toMatchObject({ type: 'object', required: ['n'] })
    await talk.answer([answer])
    expect(answers).toEqual([value])
  })
})

describe('credentials', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  /** Where codes are exchanged for tokens. ADK talks to no endpoint of this machine: what it sends is caught. */
  function catchExchanges(): URLSearchParams[] {
    const bodies: URLSearchParams[] = []
    vi.stubGlobal('fetch', (_: unknown, init: { readonly body: string | URLSearchParams }) => {
      bodies.push(new URLSearchParams(init.body))
      return Promise.resolve(Response.json({ access_token: 'token-1', token_type: 'Bearer' }))
    })
    return bodies
  }

  function mailing(config: AuthConfig) {
    const mail = new FunctionTool({
      name: 'mail',
      description: 'mails',
      execute: (_: unknown, context) => {
        const credential = context?.getAuthResponse(config)
        if (credential)
          return {
            with: credential.apiKey ?? credential.oauth2?.accessToken ?? credential.http?.credentials.token,
          }
        context?.requestCredential(config)
        return { status: 'waiting' }
      },
    })
    return scripted('a', [callsTool({ name: 'mail', id: 'm1' }), says('done')], { tools: [mail] })
  }

  const keyConfig: AuthConfig = {
    authScheme: { type: 'apiKey', name: 'X-Key', in: 'header' },
    credentialKey: 'key',
  }
  const bearerConfig: AuthConfig = { authScheme: { type: 'http', scheme: 'bearer' }, credentialKey: 'bearer' }

  it.each([
    [keyConfig, { apiKey: 'k-1' }, '{"with":"k-1"}'],
    [bearerConfig, { token: 't-1' }, '{"with":"t-1"}'],
  ])('for %j reach the tool that asked', async (config, payload, result) => {
    const a = mailing(config)
    const talk = interview(a.agent)
    await talk.ask()
    expect(talk.interrupts()[0]?.interrupt).toMatchObject({ reason: 'adk:credential', toolCallId: 'm1' })
    expect(textLines(await talk.answer([resolved(payload)]))).toEqual(['a: done'])
    expect(resultsIn(a.llm.calls[1])).toEqual([result])
  })

  it('that nobody gives are an error the model sees', async () => {
    const a = mailing(keyConfig)
    const talk = interview(a.agent)
    await talk.ask()
    expect(textLines(await talk.answer([cancelled]))).toEqual(['a: done'])
    expect(resultsIn(a.llm.calls[1])).toEqual([
      '{"error":"The user did not provide the credentials that this tool needs."}',
    ])
  })

  it('of OAuth are exchanged by the server, which alone knows the secret', async () => {
    const bodies = catchExchanges()
    const tokenUrl = 'https://x.test/token'
    const flows = {
      authorizationCode: { authorizationUrl: 'https://x.test/auth', tokenUrl, scopes: { read: 'Read' } },
    }
    const oauth2 = { clientId: 'me', clientSecret: 'hush', redirectUri: 'https://app.test/back' }
    const a = mailing({
      authScheme: { type: 'oauth2', flows },
      rawAuthCredential: { authType: AuthCredentialTypes.OAUTH2, oauth2 },
      credentialKey: 'mail',
    })
    const talk = interview(a.agent)
    await talk.ask()
    const { interrupt } = talk.interrupts()[0] ?? {}
    expect(JSON.stringify(interrupt)).not.toContain('hush')
    const { authorizationUri } = (interrupt?.metadata?.credential ?? {}) as { authorizationUri: string }
    const state = new URL(authorizationUri).searchParams.get('state') ?? ''
    const authResponseUri = `https://app.test/back?code=c-1&state=${state}`
    expect(textLines(await talk.answer([resolved({ authResponseUri })]))).toEqual(['a: done'])
    expect(resultsIn(a.llm.calls[1])).toEqual(['{"with":"token-1"}'])
    expect([bodies[0]?.get('code'), bodies[0]?.get('client_secret')]).toEqual(['c-1', 'hush'])
  })

  it('of a node in a workflow are asked for again when nobody gives them', async () => {
    const seen: unknown[] = []
    const config: AuthConfig = { ...keyConfig, rawAuthCredential: { authType: AuthCredentialTypes.API_KEY } }
    const node = new FunctionNode('node', ({ state }) => void seen.push(state.get('temp:key')), {
      authConfig: config,
      rerunOnResume: true,
    })
    const talk = interview(new Workflow({ name: 'wf', edges: [[START, node]] }))
    await talk.ask()
    await talk.answer([cancelled])
    expect([talk.interrupts().length, seen]).toEqual([1, []])
    await talk.answer([resolved({ apiKey: 'k-1' })])
    expect(seen).toEqual([{ authType: 'apiKey', apiKey: 'k-1' }])
  })
})
