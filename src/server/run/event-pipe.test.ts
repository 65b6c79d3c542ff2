import { beforeEach, describe, expect, test, vi, type Mock } from 'vitest'
import { inputOf } from '../../../test/support/fetch-server.js'
import { createServerContext, type ContextUnderTest } from '../../../test/support/server-context.js'
import { hold, keyOf, logOf, runOf, stored } from '../../../test/support/store-contract/rig.js'
import { parseRunInput } from '../../protocol/index.js'
import type { Store } from '../../threads/contract.js'
import { createRunInfo } from '../hooks/request-hooks.js'
import { startRunSpan } from '../observe/tracing.js'
import { createStateRulesOf } from '../state/state-rules.js'
import { EventPipe } from './event-pipe.js'

const key = keyOf('t')
const before = { city: 'Rome', ledger: [1], 'temp:x': 1 }
let under: ContextUnderTest
let pipe: EventPipe
let begin: Mock<Store['threads']['begin']>

beforeEach(async () => {
  under = createServerContext({ stateRulesOf: createStateRulesOf({ private: ['ledger'] }) })
  const { server } = under
  const { store } = server
  const lease = await hold(store, key)
  const record = runOf('r1', { start: { keep: 0, append: [], state: before, clientTools: [] } })
  await store.threads.begin(lease, record)
  begin = vi.spyOn(store.threads, 'begin')
  const controller = new AbortController()
  const change = { keep: 0, append: [] }
  const setup = {
    ...{ server, lease, record, controller, thread: undefined, free: () => Promise.resolve() },
    needsSubscriber: false,
    agent: { name: 'agent', description: '', run: () => Promise.reject(new Error('No run.')) as never },
    info: createRunInfo({
      key,
      claims: {},
      input: parseRunInput(inputOf({ runId: 'r1' })).input,
      controller,
    }),
    plan: {
      type: 'run' as const,
      ...{ messages: [], change, state: before, catchUp: [], fork: false, resume: [], pendingToolCalls: [] },
    },
    span: startRunSpan({ agent: 'agent', threadId: 't', runId: 'r1', headers: new Headers() }),
  }
  pipe = new EventPipe(setup, { saved: undefined, followedChanged: () => undefined })
})

const showState = (snapshot: unknown) => void pipe.send({ type: 'STATE_SNAPSHOT', snapshot })
const startState = async () => (await stored(under.server.store, key)).run?.start?.state
const append = (firstSeq: number) => pipe.append({ firstSeq, lines: ['{}'] })

describe('the record of a run', () => {
  test('is not written again when clients can see all that has changed', async () => {
    await append(0)
    showState({ city: 'Oslo', ledger: [1], 'temp:x': 2 })
    await append(1)
    expect(begin).not.toHaveBeenCalled()
    expect(await logOf(under.server.store, key, 'r1')).toHaveLength(2)
  })

  test('has what clients cannot see, before the log has what came with it, and the rest as it was', async () => {
    const seen: unknown[] = []
    const { store } = under.server
    const write = store.log.append.bind(store.log)
    vi.spyOn(store.log, 'append').mockImplementation(async (...given) => {
      seen.push(await startState())
      await write(...given)
    })
    showState({ city: 'Oslo', ledger: [1, 2], 'user:name': 'Ann', 'temp:x': 3 })
    await append(0)
    expect(seen).toEqual([{ city: 'Rome', ledger: [1, 2], 'user:name': 'Ann' }])
    await append(1)
    expect(begin).toHaveBeenCalledTimes(1)
    showState({ city: 'Oslo' })
    await append(2)
    expect(seen.at(-1)).toEqual({ city: 'Rome' })
  })

  test('is tried again when it could not be written, and the log waits for it', async () => {
    begin.mockRejectedValueOnce(new Error('full'))
    showState({ ledger: [1, 2] })
    await expect(append(0)).rejects.toThrow('full')
    expect(await logOf(under.server.store, key, 'r1')).toEqual([])
    await append(0)
    expect(await startState()).toEqual({ city: 'Rome', ledger: [1, 2] })
  })

  test('does not share what it has with the run', async () => {
    const ledger = [1, 2]
    showState({ ledger })
    await append(0)
    ledger.push(3)
    expect(await startState()).toMatchObject({ ledger: [1, 2] })
  })
})
