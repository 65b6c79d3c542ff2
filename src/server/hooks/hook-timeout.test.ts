import { expect, it } from 'vitest'
import {
  expectRefusal,
  fetchServer,
  inputOf,
  typesOf,
  user,
  type FetchServer,
} from '../../../test/support/fetch-server.js'
import { deferred } from '../../../test/support/run-agent.js'
import { defineAgent } from '../../agents/index.js'
import { scriptedModel } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Hooks } from './hooks.js'

const limits = { hookTimeoutMs: 1000 }
const key = { app: 'default', user: 'local', agent: 'talker', thread: 'thread-1' }

/** Serves an agent with hooks that wait as long as they like. */
function served(hooks: Hooks): FetchServer {
  const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
  return fetchServer({ agents: [agent], hooks, limits })
}

/** Waits for the first of its calls that is meant, and never answers that. */
function stuckOnce<T>(answer: (value: T) => unknown, isMeant: (value: T) => boolean = () => true) {
  const stuck = deferred()
  let isStuck = false
  const hook = (value: T): unknown => {
    if (isStuck || !isMeant(value)) return answer(value)
    isStuck = true
    stuck.resolve()
    return new Promise<never>(() => undefined)
  }
  return { hook: hook as never, stuck: stuck.promise }
}

const same = <T>(value: T): T => value
const nothing = () => undefined

/** The response to a request whose hook is stuck, after the hook's time is over. */
async function afterItsTime<T>(made: FetchServer, stuck: Promise<void>, work: Promise<T>): Promise<T> {
  await stuck
  await made.clock.advance(999)
  expect(await made.metric('hook_failures_total')).toEqual({})
  await made.clock.advance(1)
  return work
}

async function expectUsable(made: FetchServer): Promise<void> {
  expect(await made.store.leases.isHeld(key)).toBe(false)
  expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
}

it.each([
  ['inputRecord', nothing],
  ['lock', nothing],
  ['inputChange', same],
] as const)('%s that does not answer refuses the request', async (name, answer) => {
  const { hook, stuck } = stuckOnce<unknown>(answer)
  const made = served({ [name]: hook })
  const refused = await afterItsTime(made, stuck, made.ask('POST /run', { body: inputOf() }))
  expectRefusal(refused, 500, 'HOOK_ERROR')
  expect(made.logText()).toContain(`The hook '${name}' took longer than 1000 ms`)
  await expectUsable(made)
})

it.each([
  ['runtimeEvent', same],
  ['translate', nothing],
  ['event', same],
  ['stateSnapshot', same],
  ['outputRecord', nothing],
  ['outputChange', same],
] as const)('%s that does not answer fails the run', async (name, answer) => {
  const { hook, stuck } = stuckOnce<unknown>(answer)
  const made = served({ [name]: hook })
  const events = await afterItsTime(made, stuck, made.run())
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
  expect(await made.metric('hook_failures_total')).toEqual({ [`hook="${name}"`]: 1 })
  await expectUsable(made)
})

it.each([
  ['outputRecord', nothing],
  ['outputChange', same],
] as const)('%s that does not answer at the end makes a failure of it', async (name, answer) => {
  const { hook, stuck } = stuckOnce<AgUiEvent>(answer, ({ type }) => type === 'RUN_FINISHED')
  const made = served({ [name]: hook })
  const events = await afterItsTime(made, stuck, made.run())
  expect(typesOf(events)).toContain('TEXT_MESSAGE_CONTENT')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
  await expectUsable(made)
})

it('a state that is not shown in time to a client that is behind refuses the request, and nothing is changed', async () => {
  const { hook, stuck } = stuckOnce<unknown>(same, (state) => JSON.stringify(state) === '{"count":2}')
  const made = served({ stateSnapshot: hook })
  await made.run({ state: { count: 1 } })
  await made.ask('PATCH /state/thread-1', { body: [{ op: 'replace', path: '/count', value: 2 }] })
  const before = await made.history()
  const body = inputOf({ messages: [...before, user('u2', 'Again.')], state: { count: 1 } })
  expectRefusal(await afterItsTime(made, stuck, made.ask('POST /run', { body })), 500, 'HOOK_ERROR')
  expect(await made.history()).toEqual(before)
  await expectUsable(made)
})

it('a lock that comes after its time is released', async () => {
  const [called, granted] = [deferred(), deferred()]
  let locks = 0
  const lock = async () => {
    called.resolve()
    await granted.promise
    locks++
    return () => {
      locks--
    }
  }
  const made = served({ lock })
  const refused = await afterItsTime(made, called.promise, made.ask('POST /run', { body: inputOf() }))
  expectRefusal(refused, 500, 'HOOK_ERROR')
  granted.resolve()
  await made.clock.advance(0)
  expect(locks).toBe(0)
  await expectUsable(made)
})

it('a lock that is not released in time does not keep the end of the run', async () => {
  const { hook: unlock, stuck } = stuckOnce(nothing)
  const made = served({ lock: () => unlock })
  const events = await afterItsTime(made, stuck, made.run())
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  expect(made.logText()).toContain(`The hook 'lock' took longer than 1000 ms`)
  await expectUsable(made)
})

it('closing does not wait for ever for a hook', async () => {
  const { hook, stuck } = stuckOnce<AgUiEvent>(same, ({ type }) => type === 'RUN_FINISHED')
  const made = served({ outputChange: hook })
  const run = made.run()
  await stuck
  const closed = made.server.close({ graceMs: 0 })
  await made.clock.advance(1000)
  await closed
  expect((await run).at(-1)).toMatchObject({ type: 'RUN_ERROR' })
})
