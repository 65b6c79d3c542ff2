import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Lease, LogBatch, LogEntry, Thread, ThreadKey } from '../../../src/threads/contract.js'
import { changeOf, keyOf, linesOf, messagesOf, runOf, type Rig } from './rig.js'
import { propertyRuns } from '../property-runs.js'

/** The simplest model of a store. */
interface Model {
  readonly key: ThreadKey
  readonly lease: Lease
  thread: Thread | undefined
  /** A person has given the title. */
  isNamed?: boolean
  /** The highest version that a thread with this key has had. */
  highest?: number
  readonly logs: Map<string, LogEntry[]>
}

const runIds = ['r1', 'r2', 'r3']
const runId = fc.constantFrom(...runIds)
// From text, which has no -0.
const json = fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as unknown)
const which = { thread: fc.nat({ max: 2 }) }

const step = fc.oneof(
  fc.record({ kind: fc.constant('begin' as const), ...which, runId }),
  fc.record({
    kind: fc.constant('append' as const),
    ...which,
    runId,
    count: fc.nat({ max: 4 }),
    gap: fc.nat({ max: 2 }),
  }),
  fc.record({ kind: fc.constant('remove' as const), ...which }),
  fc.record(
    { kind: fc.constant('label' as const), ...which, title: fc.string(), archived: fc.boolean() },
    { requiredKeys: ['kind', 'thread'] },
  ),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fork' as const),
      ...which,
      from: fc.nat({ max: 2 }),
      keep: fc.nat({ max: 9 }),
      append: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 2 }),
    }),
  },
  fc.record({ kind: fc.constant('wait' as const), ...which, ms: fc.nat({ max: 50 }) }),
  {
    weight: 3,
    arbitrary: fc.record(
      {
        kind: fc.constant('commit' as const),
        ...which,
        behind: fc.constantFrom(0, 0, 0, 0, 1, -1),
        keep: fc.nat({ max: 9 }),
        keepsTooMany: fc.constantFrom(false, false, false, false, true),
        append: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
        state: json,
        checkpoint: json,
        title: fc.string(),
        endedRun: runId,
        lastEvents: fc.nat({ max: 3 }),
      },
      { requiredKeys: ['kind', 'thread', 'behind', 'keep', 'keepsTooMany', 'append', 'state'] },
    ),
  },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type CommitStep = Extract<Step, { kind: 'commit' }>
type LabelStep = Extract<Step, { kind: 'label' }>
type ForkStep = Extract<Step, { kind: 'fork' }>

function emptyThread(key: ThreadKey, now: number): Thread {
  const nothing = { messages: [], state: {}, interrupts: [], pendingToolCalls: [] }
  return { key, version: 0, createdAt: now, updatedAt: now, title: '', ...nothing }
}

function nextBatch({ logs }: Model, runId: string, count: number): LogBatch {
  return { runId, firstSeq: (logs.get(runId)?.at(-1)?.seq ?? -1) + 1, lines: linesOf(runId, count) }
}

function addToLog({ logs }: Model, { runId, firstSeq, lines }: LogBatch): void {
  const entries = lines.map((line, index) => ({ seq: firstSeq + index, json: line }))
  logs.set(runId, [...(logs.get(runId) ?? []), ...entries])
}

function expectNewVersion(model: Model, version: number): void {
  const { thread, highest = 0 } = model
  if (thread && thread.version > 0) expect(version).toBe(thread.version + 1)
  expect(version).toBeGreaterThan(highest)
  model.highest = version
}

/** Any sequence of writes leaves the same in the store and in the model. */
export function describeModel(rig: Rig): void {
  const commit = async (model: Model, given: CommitStep): Promise<void> => {
    const now = rig.clock.now()
    const old = model.thread ?? emptyThread(model.key, now)
    const { state, behind, keepsTooMany, endedRun, lastEvents } = given
    const { length } = old.messages
    const keep = keepsTooMany ? length + 1 : Math.min(given.keep, length)
    const rest = {
      ...('checkpoint' in given ? { checkpoint: given.checkpoint } : {}),
      ...(given.title === undefined || model.isNamed ? {} : { title: given.title }),
      ...(endedRun === undefined ? {} : { run: runOf(endedRun, { status: 'completed' }) }),
    }
    const log = endedRun === undefined ? undefined : nextBatch(model, endedRun, lastEvents ?? 0)
    const append = messagesOf(...given.append)
    const change = changeOf({
      ...{ version: old.version - behind, keep, append, state, ...rest },
      ...(given.title === undefined ? {} : { title: given.title }),
    })
    const committing = rig.store.threads.commit(model.lease, log === undefined ? change : { ...change, log })
    if (behind !== 0 || keepsTooMany) {
      await expect(committing).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      return
    }
    const version = await committing
    expectNewVersion(model, version)
    const { checkpoint: _checkpoint, ...stays } = old
    const messages = [...old.messages.slice(0, keep), ...append]
    model.thread = { ...stays, ...rest, version, updatedAt: now, messages, state }
    if (log === undefined) return
    addToLog(model, log)
    for (const each of runIds) if (each !== endedRun) model.logs.delete(each)
  }

  /** Makes a thread anew, as a fork of another. */
  const fork = async (model: Model, source: Model | undefined, given: ForkStep): Promise<void> => {
    if (source === undefined || source === model) return
    const now = rig.clock.now()
    const before = source.thread?.messages ?? []
    const keep = Math.min(given.keep, before.length)
    const append = messagesOf(...given.append)
    const rest = { forkedFrom: source.key.thread, state: { keep } }
    await rig.store.threads.remove(model.lease)
    model.thread = undefined
    const version = await rig.store.threads.commit(model.lease, changeOf({ keep, append, ...rest }))
    expectNewVersion(model, version)
    const messages = [...before.slice(0, keep), ...append]
    model.thread = { ...emptyThread(model.key, now), ...rest, version, messages }
    model.isNamed = false
    model.logs.clear()
  }

  const label = async (model: Model, { title, archived }: LabelStep): Promise<void> => {
    const labels = {
      ...(title === undefined ? {} : { title }),
      ...(archived === undefined ? {} : { archived }),
    }
    expect(await rig.store.threads.label(model.key, labels)).toBe(model.thread !== undefined)
    if (model.thread === undefined) return
    const { archived: was = false, ...rest } = model.thread
    model.thread = {
      ...rest,
      ...(title === undefined ? {} : { title }),
      ...((archived ?? was) ? { archived: true } : {}),
    }
    if (title !== undefined) model.isNamed = true
  }

  const take = async (model: Model, given: Exclude<Step, ForkStep>): Promise<void> => {
    const now = rig.clock.now()
    switch (given.kind) {
      case 'wait':
        return rig.clock.advance(given.ms)
      case 'begin':
        await rig.store.threads.begin(model.lease, runOf(given.runId))
        model.thread = { ...(model.thread ?? emptyThread(model.key, now)), run: runOf(given.runId) }
        return
      case 'append': {
        // Events come only from runs that have begun.
        if (model.thread === undefined) return
        const batch = nextBatch(model, given.runId, given.count)
        const later = { ...batch, firstSeq: batch.firstSeq + given.gap }
        await rig.store.log.append(model.lease, later)
        addToLog(model, later)
        return
      }
      case 'remove':
        await rig.store.threads.remove(model.lease)
        model.thread = undefined
        model.isNamed = false
        model.logs.clear()
        return
      case 'label':
        return label(model, given)
      case 'commit':
        return commit(model, given)
    }
  }

  const expectSame = async (models: readonly Model[]): Promise<void> => {
    for (const { key, thread, logs } of models) {
      expect(await rig.store.threads.load(key)).toEqual(thread)
      for (const each of runIds) expect(await rig.logOf(key, each)).toEqual(logs.get(each) ?? [])
    }
    const threads = models.flatMap(({ thread }) => thread ?? [])
    const running = threads.filter(({ run }) => run?.status === 'running').map(({ key }) => key)
    const app = models[0]?.key.app ?? ''
    const unfinished = (await rig.store.threads.unfinished()).filter((key) => key.app === app)
    expect(unfinished.map(({ thread }) => thread).sort()).toEqual(running.map(({ thread }) => thread).sort())
    const listed = threads
      .filter(({ version }) => version > 0)
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.key.thread < b.key.thread ? -1 : 1))
      .map(({ key, version, messages }) => ({ key, version, messageCount: messages.length }))
    const page = await rig.store.threads.list(keyOf('', { app }), { limit: 10 })
    expect(page.threads).toMatchObject(listed)
    expect(page.threads).toHaveLength(listed.length)
    expect(page.cursor).toBeUndefined()
  }

  test('any writes leave the same in the store and in the simplest model', async () => {
    let turn = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        turn += 1
        const keys = ['a', 'b', 'c'].map((thread) => keyOf(thread, { app: `app-${turn}` }))
        const models = await Promise.all(
          keys.map(async (key) => ({ key, lease: await rig.hold(key), thread: undefined, logs: new Map() })),
        )
        for (const given of steps) {
          const model = models[given.thread]
          if (model === undefined) continue
          if (given.kind === 'fork') await fork(model, models[given.from], given)
          else await take(model, given)
          await expectSame(models)
        }
        for (const { lease } of models) await rig.store.threads.remove(lease)
        expect(await rig.underTest.messageRows?.()).toBe(rig.underTest.messageRows && 0)
      }),
      { numRuns: propertyRuns(40) },
    )
  })
}
