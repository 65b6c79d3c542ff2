import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import {
  AuthCredentialTypes,
  FunctionNode,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  RequestInput,
  requestInputTool,
  SequentialAgent,
  START,
  Workflow,
  type AuthConfig,
  type BaseAgent,
  type BaseSessionService,
} from '@google/adk'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkRoot } from '../../src/adk/index.js'
import { defineAgent, sequential } from '../../src/agents/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import {
  requestLines,
  callId,
  clientTool,
  historyOf,
  interruptsIn,
  serveAdk,
  textIn,
} from '../support/adk/serve-adk.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { newClient } from './support-clients.js'
import { inputOf, user } from './support-server.js'

const done: string[] = []
const remove = new FunctionTool({
  name: 'remove',
  description: 'Removes a file.',
  parameters: z.object({ path: z.string() }),
  requireConfirmation: true,
  execute: ({ path }) => {
    done.push(path)
    return { removed: path }
  },
})
const look = new FunctionTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  execute: () => ({ seen: true }),
})

function helper(steps: readonly LlmStep[], tools: LlmAgent['tools'] = [remove, look]) {
  const llm = new ScriptedLlm(steps)
  return { llm, make: (): AdkRoot => new LlmAgent({ name: 'helper', model: llm, tools }) }
}

const yes = (payload?: unknown) => ({ status: 'resolved' as const, payload })

/** What becomes of the server, between question and answer. */
type Between =
  'nothing' | 'restart: threads in SQLite, sessions in memory' | 'restart: threads in memory, sessions kept'

const betweens: readonly Between[] = [
  'nothing',
  'restart: threads in SQLite, sessions in memory',
  'restart: threads in memory, sessions kept',
]

/** A conversation that goes on over a restart. The client is another one then, that knows what the server tells it. */
async function converse(make: () => AdkRoot, between: Between) {
  done.length = 0
  const kept: BaseSessionService = new InMemorySessionService()
  const serve = (): Promise<ServedAgents> =>
    between === 'restart: threads in memory, sessions kept'
      ? serveAgents({ agents: [fromAdk(make(), { sessionService: kept })] })
      : serveAdk({ make: () => fromAdk(make()), store: between === 'nothing' ? 'memory' : 'sqlite' })
  let served = await serve()
  let client = newClient({ url: served.url })
  const bytes: string[] = []
  let count = 0

  const go = async (fields: { resume?: ResumeEntry[] } = {}): Promise<readonly AgUiEvent[]> => {
    const { messages } = client
    const body = inputOf({ runId: `run-${++count}`, messages, ...fields })
    const { events } = await served.stream('/run', { body })
    bytes.push(JSON.stringify(events))
    client.setMessages(await historyOf(served))
    return events
  }
  const comeBack = async (): Promise<void> => {
    const before = served
    if (between === 'restart: threads in memory, sessions kept') served = await serve()
    else if (between !== 'nothing') served = await served.restart()
    if (before !== served) expect(served.url).not.toBe(before.url)
    client = newClient({ url: served.url })
    await client.connectAgent()
  }
  return {
    bytes,
    get served() {
      return served
    },
    async say(text: string): Promise<readonly AgUiEvent[]> {
      client.addMessage(user(`u${count + 1}`, text))
      return go()
    },
    /** What a fresh client is asked, after a restart if that is to be done. */
    async openInterrupts(): Promise<readonly Interrupt[]> {
      await comeBack()
      return client.pendingInterrupts
    },
    /** Restarts if that is to be done, comes back with a fresh client, and answers what it is asked. */
    async answer(answers: (question: Interrupt) => Omit<ResumeEntry, 'interruptId'> | undefined) {
      await comeBack()
      bytes.push(JSON.stringify([client.messages, client.state, client.pendingInterrupts]))
      const resume = client.pendingInterrupts.flatMap((question) => {
        const answer = answers(question)
        return answer ? [{ interruptId: question.id, ...answer }] : []
      })
      return go({ resume })
    },
  }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe.each(betweens)('between question and answer: %s', (between) => {
  it('#1839: a tool that has to be confirmed runs once, with what ran beside it', async () => {
    const { llm, make } = helper([
      callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'look' }),
      says('Gone.'),
      says('Bye.'),
    ])
    const talk = await converse(make, between)
    const events = await talk.say('Remove /a')
    expect(interruptsIn(events)).toMatchObject([
      { reason: 'confirmation', metadata: { toolName: 'remove', arguments: { path: '/a' } } },
    ])
    expect([done, resultsIn(events).length]).toEqual([[], 1])
    const second = await talk.answer(() => yes({ confirmed: true }))
    expect([done, textIn(second)]).toEqual([['/a'], 'Gone.'])
    const whole = [
      'user: Remove /a',
      'model: remove({"path":"/a"}) | look({})',
      'user: remove -> {"removed":"/a"} | look -> {"seen":true}',
    ]
    expect(requestLines(llm.calls[1])).toEqual(whole)
    await talk.say('Bye')
    expect(requestLines(llm.calls[2]).slice(-2)).toEqual(['model: Gone.', 'user: Bye'])
    expect(done).toEqual(['/a'])
  })

  it('a tool that is not confirmed, or that nobody answers for, does not run', async () => {
    for (const answer of [yes({ confirmed: false }), { status: 'cancelled' as const }]) {
      const { llm, make } = helper([callsTool({ name: 'remove', args: { path: '/a' } }), says('Kept.')])
      const talk = await converse(make, between)
      await talk.say('Remove /a')
      expect(textIn(await talk.answer(() => answer))).toBe('Kept.')
      expect(done).toEqual([])
      expect(requestLines(llm.calls[1])[2]).toMatch(/^user: remove -> /)
    }
  })

  it('#1669: the node of a workflow that asks gets the answer, and the workflow goes on there', async () => {
    const seen: unknown[] = []
    const first = new FunctionNode('first', () => {
      seen.push('first')
      return 'one'
    })
    const ask = new FunctionNode('ask', () => new RequestInput({ interruptId: 'q1', message: 'How many?' }))
    const take = new FunctionNode('take', (_, input) => {
      seen.push(input)
      return `took ${JSON.stringify(input)}`
    })
    const make = () => new Workflow({ name: 'form', edges: [[START, first, ask, take]] })
    const talk = await converse(make, between)
    expect(interruptsIn(await talk.say('Go'))).toMatchObject([
      { reason: 'input_required', message: 'How many?' },
    ])
    const events = await talk.answer(() => yes({ n: 3 }))
    expect(seen).toEqual(['first', { n: 3 }])
    expect(textIn(events)).toContain('took {"n":3}')
  })

  it('a model that asks by a tool gets the answer', async () => {
    const { llm, make } = helper(
      [callsTool({ name: 'adk_request_input', args: { message: 'Which one?' } }), says('Two it is.')],
      [requestInputTool],
    )
    const talk = await converse(make, between)
    expect(interruptsIn(await talk.say('Choose'))).toMatchObject([{ message: 'Which one?' }])
    expect(textIn(await talk.answer(() => yes('two')))).toBe('Two it is.')
    expect(JSON.stringify(llm.calls[1])).toContain('two')
  })

  const config = {
    oauth: {
      authScheme: {
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://x.test/auth',
            tokenUrl: 'https://x.test/token',
            scopes: { read: 'Read' },
          },
        },
      },
      rawAuthCredential: {
        authType: AuthCredentialTypes.OAUTH2,
        oauth2: { clientId: 'me', clientSecret: 'hush-secret', redirectUri: 'https://app.test/back' },
      },
      credentialKey: 'mail',
    } as AuthConfig,
    key: {
      authScheme: { type: 'apiKey', name: 'X-Key', in: 'header' },
      rawAuthCredential: { authType: AuthCredentialTypes.API_KEY, apiKey: 'hush-secret' },
      credentialKey: 'key',
    } as AuthConfig,
  }

  const mail = (auth: AuthConfig, used: string[]) =>
    new FunctionTool({
      name: 'mail',
      description: 'Mails.',
      parameters: z.object({}),
      execute: (_, context) => {
        const credential = context?.getAuthResponse(auth)
        const secret = credential?.apiKey ?? credential?.oauth2?.accessToken
        if (secret !== undefined) {
          used.push(secret)
          return { sent: true }
        }
        context?.requestCredential(auth)
        return { status: 'waiting' }
      },
    })

  it('a tool that needs an API key gets it, and no secret is ever sent', async () => {
    const used: string[] = []
    const { llm, make } = helper([callsTool({ name: 'mail' }), says('Sent.')], [mail(config.key, used)])
    const talk = await converse(make, between)
    expect(interruptsIn(await talk.say('Mail'))).toMatchObject([{ reason: 'adk:credential' }])
    expect(textIn(await talk.answer(() => yes({ apiKey: 'key-of-ann' })))).toBe('Sent.')
    expect(used).toEqual(['key-of-ann'])
    const sent = JSON.stringify([talk.bytes, await historyOf(talk.served)])
    expect(sent).not.toContain('hush-secret')
    expect(sent).not.toContain('key-of-ann')
    expect(JSON.stringify(llm.calls)).not.toContain('key-of-ann')
  })

  it('who cancels a request for credentials gets an answer, and the model an error', async () => {
    const used: string[] = []
    const { llm, make } = helper(
      [callsTool({ name: 'mail' }, { name: 'look' }), says('Then not.'), says('Bye.')],
      [mail(config.key, used), look],
    )
    const talk = await converse(make, between)
    await talk.say('Mail')
    const events = await talk.answer(() => ({ status: 'cancelled' }))
    expect(textIn(events)).toBe('Then not.')
    const error = 'The user did not provide the credentials that this tool needs.'
    expect(resultsIn(events)).toEqual([expect.stringContaining(error)])
    expect(await talk.openInterrupts()).toEqual([])
    expect(textIn(await talk.say('Bye'))).toBe('Bye.')
    expect(used).toEqual([])
    expect(requestLines(llm.calls[2])).toEqual([
      'user: Mail',
      'model: mail({}) | look({})',
      `user: mail -> {"error":"${error}"} | look -> {"seen":true}`,
      'model: Then not.',
      'user: Bye',
    ])
    const results = (await historyOf(talk.served)).filter(({ role }) => role === 'tool')
    expect(results).toHaveLength(2)
  })

  it('#1331: a tool that needs a sign-in gets its token, and no secret is ever sent', async () => {
    const real = globalThis.fetch
    const bodies: URLSearchParams[] = []
    vi.stubGlobal('fetch', (url: string | URL, init: { body: string }) => {
      if (!String(url).startsWith('https://x.test')) return real(url, init)
      bodies.push(new URLSearchParams(init.body))
      return Promise.resolve(Response.json({ access_token: 'token-1', token_type: 'Bearer' }))
    })
    const used: string[] = []
    const { make } = helper([callsTool({ name: 'mail' }), says('Sent.')], [mail(config.oauth, used)])
    const talk = await converse(make, between)
    await talk.say('Mail')
    const events = await talk.answer(({ metadata }) => {
      const { authorizationUri = '' } = metadata?.credential as { authorizationUri?: string }
      const state = new URL(authorizationUri).searchParams.get('state') ?? ''
      return yes({ authResponseUri: `https://app.test/back?code=c-1&state=${state}` })
    })
    expect([textIn(events), used]).toEqual(['Sent.', ['token-1']])
    expect([bodies[0]?.get('code'), bodies[0]?.get('client_secret')]).toEqual(['c-1', 'hush-secret'])
    const sent = JSON.stringify([talk.bytes, await historyOf(talk.served)])
    for (const secret of ['hush-secret', 'token-1']) expect(sent).not.toContain(secret)
  })

  it('two questions are answered one by one, and the agent goes on with both', async () => {
    const { llm, make } = helper([
      callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'remove', args: { path: '/b' } }),
      says('Done.'),
    ])
    const talk = await converse(make, between)
    const first = interruptsIn(await talk.say('Remove both'))
    expect(first).toHaveLength(2)
    const pathOf = ({ metadata }: Interrupt): unknown => (metadata?.arguments as { path: string }).path
    const half = await talk.answer((one) => (pathOf(one) === '/b' ? yes({ confirmed: true }) : undefined))
    expect(interruptsIn(half).map(pathOf)).toEqual(['/a'])
    expect([done, llm.calls.length]).toEqual([[], 1])
    // Who has lost the thread asks for both again.
    const end = await talk.answer((one) => yes({ confirmed: pathOf(one) === '/b' }))
    expect([textIn(end), done]).toEqual(['Done.', ['/b']])
    expect(llm.calls).toHaveLength(2)
  })
})

describe('a question whether a tool may be called', () => {
  const asks = new FunctionTool({
    name: 'send',
    description: 'Sends.',
    parameters: z.object({ to: z.string() }),
    execute: ({ to }, context) => {
      if (context?.toolConfirmation?.confirmed) done.push(to)
      else if (!context?.toolConfirmation) context?.requestConfirmation({ hint: 'She is on leave.' })
      return { sent: context?.toolConfirmation?.confirmed ?? false }
    },
  })

  it('says what is about to be done: tool, arguments and hint', async () => {
    const { make } = helper(
      [callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'send', args: { to: 'ann' } })],
      [remove, asks],
    )
    const talk = await converse(make, 'nothing')
    const events = await talk.say('Go')
    const [first, second] = interruptsIn(events)
    expect(first).toMatchObject({
      reason: 'confirmation',
      message: 'May the tool "remove" be called with path "/a"?',
      toolCallId: callId(events, 'remove'),
      responseSchema: { properties: { approved: {} } },
      metadata: { agent: 'helper', toolName: 'remove', arguments: { path: '/a' } },
    })
    expect(second).toMatchObject({
      message: 'She is on leave.\nMay the tool "send" be called with to "ann"?',
      toolCallId: callId(events, 'send'),
      metadata: { toolName: 'send', arguments: { to: 'ann' }, hint: 'She is on leave.' },
    })
  })

  it.each([
    [{ approved: true }, true],
    [{ confirmed: true }, true],
    [{ approved: true, confirmed: true }, true],
    [true, true],
    [{ approved: false }, false],
    [{ confirmed: false }, false],
    [{ approved: true, confirmed: false }, false],
    [{ approved: false, confirmed: true }, false],
    [{ approved: 'true' }, false],
    [{ approved: 1 }, false],
    [{ decision: 'approve' }, false],
    [{}, false],
    [[true], false],
    ['yes', false],
    [false, false],
    [null, false],
    [undefined, false],
  ])('is answered by %j: %s', async (payload, isYes) => {
    const { llm, make } = helper(
      [
        callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'send', args: { to: 'ann' } }),
        says('Well.'),
      ],
      [remove, asks],
    )
    const talk = await converse(make, 'nothing')
    await talk.say('Go')
    expect(textIn(await talk.answer(() => yes(payload)))).toBe('Well.')
    expect([done, llm.calls.length]).toEqual([isYes ? ['/a', 'ann'] : [], 2])
  })

  it.each([
    [true, ['/a']],
    [false, []],
    ['no', []],
  ])('is answered by %j from a client before 1.0', async (resume, removed) => {
    const { make } = helper([callsTool({ name: 'remove', args: { path: '/a' } }), says('Well.')])
    const talk = await converse(make, 'nothing')
    await talk.say('Remove /a')
    const messages = await historyOf(talk.served)
    const body = inputOf({ runId: 'run-9', messages, forwardedProps: { command: { resume } } })
    expect(textIn((await talk.served.stream('/run', { body })).events)).toBe('Well.')
    expect(done).toEqual(removed)
  })
})

it('an answer to a question that nobody asked is refused, and the open one stays', async () => {
  const { make } = helper([callsTool({ name: 'remove', args: { path: '/a' } }), says('Gone.')])
  const talk = await converse(make, 'nothing')
  await talk.say('Remove /a')
  const body = inputOf({
    runId: 'run-9',
    messages: await historyOf(talk.served),
    resume: [{ interruptId: 'int-stale', status: 'resolved', payload: { confirmed: true } }],
  })
  const { events } = await talk.served.stream('/run', { body })
  expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'INVALID_RESUME' }])
  expect(done).toEqual([])
  expect(textIn(await talk.answer(() => yes({ confirmed: true })))).toBe('Gone.')
  expect(done).toEqual(['/a'])
})

it('an answer that comes twice does its work once', async () => {
  const { llm, make } = helper([callsTool({ name: 'remove', args: { path: '/a' } }), says('Gone.')])
  const talk = await converse(make, 'nothing')
  const [question] = interruptsIn(await talk.say('Remove /a'))
  const resume = [{ interruptId: question?.id ?? '', ...yes({ confirmed: true }) }]
  await talk.answer(() => yes({ confirmed: true }))
  const body = inputOf({ runId: 'run-9', messages: await historyOf(talk.served), resume })
  const { events } = await talk.served.stream('/run', { body })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  expect([done, llm.calls.length]).toEqual([['/a'], 2])
})

it.each([false, true])(
  'a question beside a call of a client tool: both are answered, restart in between: %s',
  async (restarts) => {
    done.length = 0
    const tools = [clientTool('pick')]
    const { llm, make } = helper([
      callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'pick' }, { name: 'look' }),
      says('Done.'),
    ])
    let served = await serveAdk({ make: () => fromAdk(make()), store: 'sqlite' })
    const talk = served.talk()
    const events = await talk.say('Go', { tools })
    const [question] = interruptsIn(events)
    if (restarts) served = await served.restart()
    const next = served.talk()
    next.client.setMessages(talk.client.messages)
    const resume = [{ interruptId: question?.id ?? '', ...yes({ confirmed: true }) }]
    const after = await next.answer({ [callId(events, 'pick')]: 'red' }, { tools, resume })
    expect(textIn(after)).toBe('Done.')
    expect(done).toEqual(['/a'])
    expect(requestLines(llm.calls[1])).toEqual([
      'user: Go',
      'model: remove({"path":"/a"}) | pick({}) | look({})',
      'user: remove -> {"removed":"/a"} | pick -> {"result":"red"} | look -> {"seen":true}',
    ])
  },
)

describe.each([false, true])(
  'an approval before the result of a client tool, restarts in between: %s',
  (restarts) => {
    const tools = [clientTool('pick'), clientTool('draw')]

    async function approveFirst(steps: readonly LlmStep[]) {
      done.length = 0
      const { llm, make } = helper(steps)
      let served = await serveAdk({ make: () => fromAdk(make()), store: 'sqlite' })
      let talk = served.talk()
      const events = await talk.say('Go', { tools })
      const comeBack = async () => {
        const { messages } = talk.client
        if (restarts) served = await served.restart()
        talk = served.talk()
        talk.client.setMessages(messages)
        return talk
      }
      const resume = interruptsIn(events).map(({ id }) => ({ interruptId: id, ...yes({ confirmed: true }) }))
      const held = await (await comeBack()).send({ tools, resume })
      expect(held.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
      expect(llm.calls).toHaveLength(1)
      return { llm, comeBack, pick: callId(events, 'pick'), id: (name: string) => callId(events, name) }
    }

    const removeAndPick = callsTool(
      { name: 'remove', args: { path: '/a' } },
      { name: 'pick' },
      { name: 'look' },
    )

    it('the model is asked when the result is there, and the tool runs once', async () => {
      const { llm, comeBack, pick } = await approveFirst([removeAndPick, says('Done.')])
      expect(textIn(await (await comeBack()).answer({ [pick]: 'red' }, { tools }))).toBe('Done.')
      expect([done, llm.calls.length]).toEqual([['/a'], 2])
      expect(requestLines(llm.calls[1])).toEqual([
        'user: Go',
        'model: remove({"path":"/a"}) | pick({}) | look({})',
        'user: remove -> {"removed":"/a"} | pick -> {"result":"red"} | look -> {"seen":true}',
      ])
    })

    it('who goes on without the result is answered', async () => {
      const { llm, comeBack } = await approveFirst([removeAndPick, says('Done.')])
      expect(textIn(await (await comeBack()).say('Never mind', { tools }))).toBe('Done.')
      expect(done).toEqual(['/a'])
      expect(requestLines(llm.calls[1]).slice(1)).toEqual([
        'model: remove({"path":"/a"}) | pick({}) | look({})',
        expect.stringMatching(/remove -> {"removed":"\/a"} .* pick -> .*no_result.* look -> {"seen":true}/),
        'user: Never mind',
      ])
    })

    it('results come one by one', async () => {
      const { llm, comeBack, id } = await approveFirst([
        callsTool({ name: 'pick' }, { name: 'remove', args: { path: '/a' } }, { name: 'draw' }),
        says('Done.'),
      ])
      expect(textIn(await (await comeBack()).answer({ [id('draw')]: 'drawn' }, { tools }))).toBe('')
      expect(textIn(await (await comeBack()).answer({ [id('pick')]: 'red' }, { tools }))).toBe('Done.')
      expect(requestLines(llm.calls[1]).at(-1)).toBe(
        'user: pick -> {"result":"red"} | remove -> {"removed":"/a"} | draw -> {"result":"drawn"}',
      )
      expect([done, llm.calls.length]).toEqual([['/a'], 2])
    })
  },
)

it('below an agent of the kit, too, what is approved runs and the model waits for the client’s tool', async () => {
  done.length = 0
  const tools = [clientTool('pick')]
  const { llm, make } = helper([
    callsTool({ name: 'remove', args: { path: '/a' } }, { name: 'pick' }),
    says('Done. '),
  ])
  const after = defineAgent({ name: 'after', model: scriptedModel(['After.']) })
  const served = await serveAgents({
    agents: [sequential({ name: 'line', agents: [fromAdk(make()), after] })],
  })
  const talk = served.talk()
  const events = await talk.say('Go', { tools })
  const resume = interruptsIn(events).map(({ id }) => ({ interruptId: id, ...yes({ approved: true }) }))
  expect(textIn(await talk.send({ tools, resume }))).toBe('')
  expect([done, llm.calls.length]).toEqual([['/a'], 1])
  expect(textIn(await talk.answer({ [callId(events, 'pick')]: 'red' }, { tools }))).toBe('Done. After.')
  expect(requestLines(llm.calls[1]).at(-1)).toBe(
    'user: remove -> {"removed":"/a"} | pick -> {"result":"red"}',
  )
})

it('who talks on while a question is open is asked again', async () => {
  const { llm, make } = helper([callsTool({ name: 'remove', args: { path: '/a' } }), says('Gone.')])
  const talk = await converse(make, 'nothing')
  const [question] = interruptsIn(await talk.say('Remove /a'))
  const again = await talk.say('Hello?')
  expect(interruptsIn(again)).toEqual([question])
  expect([llm.calls.length, done]).toEqual([1, []])
})

describe('interrupts in trees', () => {
  /* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */

  const done: string[] = []
  const remove = new FunctionTool({
    name: 'remove',
    description: 'Removes a file.',
    parameters: z.object({ path: z.string() }),
    requireConfirmation: true,
    execute: ({ path }) => {
      done.push(path)
      return { removed: path }
    },
  })

  const key = {
    authScheme: { type: 'apiKey', name: 'X-Key', in: 'header' },
    credentialKey: 'key',
  } as AuthConfig
  const sign = new FunctionTool({
    name: 'sign',
    description: 'Signs.',
    parameters: z.object({}),
    execute: (_, context) => {
      context?.requestCredential(key)
      return { status: 'waiting' }
    },
  })

  const removes = (path: string): LlmStep => callsTool({ name: 'remove', args: { path } })

  function agentOf(name: string, steps: readonly LlmStep[]) {
    const llm = new ScriptedLlm(steps)
    return { llm, make: () => new LlmAgent({ name, model: llm, tools: [remove] }) }
  }

  type Scripted = ReturnType<typeof agentOf>

  const askedOften = (...agents: readonly Scripted[]): number[] => agents.map(({ llm }) => llm.calls.length)

  const betweens = ['nothing', 'sessions are lost', 'threads are lost'] as const

  /** Serves a tree. Between a question and its answer, or a call and its result, something may get lost. */
  async function serveTree(root: () => BaseAgent | Workflow, between: (typeof betweens)[number]) {
    done.length = 0
    const kept = new InMemorySessionService()
    const serve = (): Promise<ServedAgents> =>
      between === 'threads are lost'
        ? serveAgents({ agents: [fromAdk(root(), { sessionService: kept })] })
        : serveAdk({ make: () => fromAdk(root()), store: between === 'nothing' ? 'memory' : 'sqlite' })
    let served = await serve()
    let count = 0
    const tools = [clientTool('pick')]
    const go = async (fields: object): Promise<readonly AgUiEvent[]> => {
      const body = inputOf({ runId: `run-${++count}`, tools, ...fields })
      return (await served.stream('/run', { body })).events
    }
    const comeBack = async () => {
      if (between === 'threads are lost') served = await serve()
      if (between === 'sessions are lost') served = await served.restart()
      const client = newClient({ url: served.url })
      await client.connectAgent()
      return client
    }
    return {
      say: (text: string) => go({ messages: [user(`u${count}`, text)] }),
      async confirm(isConfirmed: (question: Interrupt) => boolean = () => true) {
        const { messages, pendingInterrupts } = await comeBack()
        const resume = pendingInterrupts.map((question) => ({
          interruptId: question.id,
          status: 'resolved',
          payload: { confirmed: isConfirmed(question) },
        }))
        return go({ messages, resume })
      },
      async cancel() {
        const { messages, pendingInterrupts } = await comeBack()
        return go({
          messages,
          resume: pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' })),
        })
      },
      async answer(toolCallId: string, content: string) {
        const { messages } = await comeBack()
        return go({ messages: [...messages, { id: `t${count}`, role: 'tool', toolCallId, content }] })
      },
    }
  }

  describe.each(betweens)('between question and answer: %s', (between) => {
    it('a sequence goes on at the agent that asked', async () => {
      const a = agentOf('a', [says('A.')])
      const b = agentOf('b', [removes('/b'), says('B.')])
      const c = agentOf('c', [says('C.')])
      const root = () => new SequentialAgent({ name: 'line', subAgents: [a.make(), b.make(), c.make()] })
      const tree = await serveTree(root, between)
      expect(interruptsIn(await tree.say('Go'))).toHaveLength(1)
      expect(textIn(await tree.confirm())).toBe('B.C.')
      expect([askedOften(a, b, c), done]).toEqual([[1, 2, 1], ['/b']])
    })

    it('a loop goes on in its round', async () => {
      const a = agentOf('a', [says('A1.'), says('A2.')])
      const b = agentOf('b', [says('B1.'), removes('/b'), says('B2.')])
      const root = () => new LoopAgent({ name: 'rounds', maxIterations: 2, subAgents: [a.make(), b.make()] })
      const tree = await serveTree(root, between)
      await tree.say('Go')
      expect(textIn(await tree.confirm())).toBe('B2.')
      expect([askedOften(a, b), done]).toEqual([[2, 3], ['/b']])
    })

    it('a loop goes on in its round after a call of the client’s tool', async () => {
      const a = agentOf('a', [says('A1.'), says('A2.')])
      const b = agentOf('b', [says('B1.'), callsTool({ name: 'pick' }), says('B2.')])
      const root = () => new LoopAgent({ name: 'rounds', maxIterations: 2, subAgents: [a.make(), b.make()] })
      const tree = await serveTree(root, between)
      const first = await tree.say('Go')
      expect(textIn(await tree.answer(callId(first, 'pick'), 'red'))).toBe('B2.')
      expect(askedOften(a, b)).toEqual([2, 3])
    })

    it('lanes that have both asked are both answered, and what comes after follows', async () => {
      const a = agentOf('a', [removes('/a'), says('A.')])
      const b = agentOf('b', [removes('/b'), says('B.')])
      const last = agentOf('last', [says('Last.')])
      const root = () =>
        new SequentialAgent({
          name: 'all',
          subAgents: [new ParallelAgent({ name: 'lanes', subAgents: [a.make(), b.make()] }), last.make()],
        })
      const tree = await serveTree(root, between)
      expect(interruptsIn(await tree.say('Go'))).toHaveLength(2)
      const events = await tree.confirm(({ metadata }) => metadata?.agent === 'b')
      expect(textIn(events)).toMatch(/^(A\.B\.|B\.A\.)Last\.$/)
      expect([askedOften(a, b, last), done]).toEqual([[2, 2, 1], ['/b']])
    })

    it('a node of a workflow goes on with all it has seen, and the next one follows', async () => {
      const a = agentOf('a', [says('A.')])
      const b = agentOf('b', [removes('/1'), removes('/2'), says('B.')])
      const c = agentOf('c', [says('C.')])
      const root = () => new Workflow({ name: 'flow', edges: [[START, a.make(), b.make(), c.make()]] })
      const tree = await serveTree(root, between)
      await tree.say('Go')
      expect(interruptsIn(await tree.confirm())).toHaveLength(1)
      expect(textIn(await tree.confirm())).toBe('B.C.')
      expect([askedOften(a, b, c), done]).toEqual([
        [1, 3, 1],
        ['/1', '/2'],
      ])
      expect(requestLines(b.llm.calls[2])).toEqual([
        'user: A.',
        'model: remove({"path":"/1"})',
        'user: remove -> {"removed":"/1"}',
        'model: remove({"path":"/2"})',
        'user: remove -> {"removed":"/2"}',
      ])
    })

    it('nodes of a workflow that ask one after the other each get their answer', async () => {
      const a = agentOf('a', [removes('/a'), says('A.')])
      const b = agentOf('b', [removes('/b'), says('B.')])
      const c = agentOf('c', [says('C.')])
      const root = () => new Workflow({ name: 'flow', edges: [[START, a.make(), b.make(), c.make()]] })
      const tree = await serveTree(root, between)
      await tree.say('Go')
      const second = await tree.confirm()
      expect([textIn(second), interruptsIn(second).length, done]).toEqual(['A.', 1, ['/a']])
      expect(textIn(await tree.confirm())).toBe('B.C.')
      expect([askedOften(a, b, c), done]).toEqual([
        [2, 2, 1],
        ['/a', '/b'],
      ])
    })

    const removeAndPick = callsTool({ name: 'remove', args: { path: '/b' } }, { name: 'pick' })

    it.each<[kind: string, (agents: [LlmAgent, LlmAgent, LlmAgent]) => BaseAgent | Workflow]>([
      ['a sequence', (agents) => new SequentialAgent({ name: 'line', subAgents: agents })],
      ['a loop', (agents) => new LoopAgent({ name: 'rounds', maxIterations: 1, subAgents: agents })],
      ['a workflow', (agents) => new Workflow({ name: 'flow', edges: [[START, ...agents]] })],
    ])('%s does what is approved, and waits for the client’s tool beside it', async (_, rootOf) => {
      const a = agentOf('a', [says('A.')])
      const b = agentOf('b', [removeAndPick, says('B.')])
      const c = agentOf('c', [says('C.')])
      const tree = await serveTree(() => rootOf([a.make(), b.make(), c.make()]), between)
      const first = await tree.say('Go')
      const approved = await tree.confirm()
      expect([textIn(approved), done, approved.at(-1)?.type]).toEqual(['', ['/b'], 'RUN_FINISHED'])
      expect(textIn(await tree.answer(callId(first, 'pick'), 'red'))).toBe('B.C.')
      expect([askedOften(a, b, c), done]).toEqual([[1, 2, 1], ['/b']])
      expect(requestLines(b.llm.calls[1]).slice(-2)).toEqual([
        'model: remove({"path":"/b"}) | pick({})',
        'user: remove -> {"removed":"/b"} | pick -> {"result":"red"}',
      ])
    })

    it('a lane goes on when it is approved, and what comes after waits for the other lane', async () => {
      const a = agentOf('a', [callsTool({ name: 'pick' }), says('A.')])
      const b = agentOf('b', [removes('/b'), says('B.')])
      const last = agentOf('last', [says('Last.')])
      const root = () =>
        new SequentialAgent({
          name: 'all',
          subAgents: [new ParallelAgent({ name: 'lanes', subAgents: [a.make(), b.make()] }), last.make()],
        })
      const tree = await serveTree(root, between)
      const first = await tree.say('Go')
      expect([textIn(await tree.confirm()), done]).toEqual(['B.', ['/b']])
      expect(textIn(await tree.answer(callId(first, 'pick'), 'red'))).toBe('A.Last.')
      expect(askedOften(a, b, last)).toEqual([2, 2, 1])
    })

    it('a sequence and a workflow go on after a request for credentials that is cancelled', async () => {
      for (const rootOf of [
        (agents: BaseAgent[]) => new SequentialAgent({ name: 'line', subAgents: agents }),
        ([a, b]: LlmAgent[]) =>
          new Workflow({ name: 'flow', edges: [[START, a, b].flatMap((node) => node ?? [])] }),
      ]) {
        const llm = new ScriptedLlm([callsTool({ name: 'sign' }), says('A.')])
        const b = agentOf('b', [says('B.')])
        const tree = await serveTree(
          () => rootOf([new LlmAgent({ name: 'a', model: llm, tools: [sign] }), b.make()]),
          between,
        )
        expect(interruptsIn(await tree.say('Go'))).toHaveLength(1)
        expect(textIn(await tree.cancel())).toBe('A.B.')
        expect(requestLines(llm.calls[1]).at(-1)).toContain('sign -> {"error":"The user did not')
        expect([llm.calls.length, askedOften(b)]).toEqual([2, [1]])
      }
    })

    it('a sub-agent that was transferred to goes on', async () => {
      const child = agentOf('child', [removes('/c'), says('Child.')])
      const boss = new ScriptedLlm([callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })])
      const root = () => new LlmAgent({ name: 'boss', model: boss, subAgents: [child.make()] })
      const tree = await serveTree(root, between)
      await tree.say('Go')
      expect(textIn(await tree.confirm())).toBe('Child.')
      expect([boss.calls.length, child.llm.calls.length, done]).toEqual([1, 2, ['/c']])
    })
  })
})
