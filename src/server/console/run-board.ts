import type { TokenUsage } from '@ag-ui/core'
import type { Clock } from '../../core/clock.js'
import type { RunInput } from '../../protocol/index.js'
import type { Owner, ThreadKey } from '../../threads/contract.js'
import type { Logger } from '../contract.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { LiveRun, RunEnd } from '../live/registry.js'
import { RunRecording } from './recording.js'
import { defaultMemoryLimits, RunMemory, type RunMemoryLimits } from './run-memory.js'

/** A run in the console's list. */
export interface RunSummary {
  readonly runId: string
  readonly threadId: string
  readonly agent: string
  readonly user: string
  readonly title: string
  readonly status: 'running' | RunEnd['status']
  readonly startedAt: number
  readonly endedAt?: number
  readonly events: number
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly error?: RunEnd['error']
}

/** Whose runs are asked for: those of one user, or of all users of an app. */
export type RunViewer = Pick<Owner, 'app'> & Partial<Pick<Owner, 'user'>>

/** Is told of runs that begin, end or move on. */
interface RunFollower {
  readonly viewer: RunViewer
  readonly onRun: (run: RunSummary) => void
}

/** The runs that this process executes or remembers. There is one only where the console is on. */
export interface RunBoard {
  /** Opens the recording of a request. It is kept if the request becomes a run. */
  open(info: RunInfo, input: RunInput): void
  /** The recording that hooks write to. */
  of(info: RunInfo): RunRecording | undefined
  /** Takes a run that has begun. */
  add(run: LiveRun, info: RunInfo): void
  /** The newest first. */
  list(viewer: RunViewer): RunSummary[]
  find(key: ThreadKey, runId: string): RunRecording | undefined
  /** Returns a function that ends it. */
  follow(follower: RunFollower): () => void
}

interface RunBoardOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: RunMemoryLimits
}

const progressMs = 1000

export function createRunBoard({ clock, log, limits = defaultMemoryLimits }: RunBoardOptions): RunBoard {
  const opened = new WeakMap<RunInfo, RunRecording>()
  const memory = new RunMemory(limits)
  const followers = new Set<RunFollower>()
  const told = new WeakMap<RunRecording, number>()
  let isWatching = false

  const tell = (recording: RunRecording): void => {
    const summary = toSummary(recording)
    told.set(recording, summary.events)
    for (const { viewer, onRun } of followers) if (mayView(viewer, recording.key)) onRun(summary)
  }
  /** Looks once a second whether a run has moved on: nothing is done per event. */
  const watch = (): void => {
    if (isWatching || followers.size === 0) return
    const live = memory.all().filter(({ end }) => !end)
    if (live.length === 0) return
    isWatching = true
    clock.schedule(progressMs, () => {
      isWatching = false
      for (const recording of live)
        if (!recording.end && told.get(recording) !== toSummary(recording).events) tell(recording)
      watch()
    })
  }
  const open = (info: RunInfo): RunRecording => {
    const { key, runId } = info
    const recording = new RunRecording({ key, runId, clock, take: memory.take })
    opened.set(info, recording)
    return recording
  }
  return {
    open: (info, input) => open(info).keepInput(input),
    of: (info) => opened.get(info),
    add(run, info) {
      const recording = opened.get(info) ?? open(info)
      memory.add(recording)
      recording.begin(run)
      const onProblem = (error: unknown): void =>
        log.warn({ err: error }, 'the events of a run could not be recorded')
      void recordUntilEnd(recording, run, { clock, onProblem }).then(() => tell(recording))
      tell(recording)
      watch()
    },
    list: (viewer) =>
      memory
        .all()
        .filter(({ key }) => mayView(viewer, key))
        .reverse()
        .map(toSummary),
    find: (key, runId) => memory.find(key, runId),
    follow(follower) {
      followers.add(follower)
      watch()
      return () => void followers.delete(follower)
    },
  }
}

async function recordUntilEnd(
  recording: RunRecording,
  run: LiveRun,
  { clock, onProblem }: { readonly clock: Clock; readonly onProblem: (error: unknown) => void },
): Promise<void> {
  const events = recording.followEvents(run).catch((error: unknown) => {
    recording.dropEvents()
    onProblem(error)
  })
  await Promise.all([events, run.done])
  const end = run.end ?? { status: 'failed', usage: [] }
  recording.end = { ...end, endedAt: clock.now(), events: run.feed.nextSeq - run.firstSeq }
  // The live run has the whole thread in its scope.
  recording.run = undefined
}

function mayView({ app, user }: RunViewer, key: ThreadKey): boolean {
  return key.app === app && (user === undefined || user === key.user)
}

function toSummary({ key, runId, title, startedAt, run, end }: RunRecording): RunSummary {
  const { agent, user, thread } = key
  const about = { runId, threadId: thread, agent, user, title }
  if (!end) {
    const events = run ? run.feed.nextSeq - run.firstSeq : 0
    return { ...about, status: 'running', startedAt, events }
  }
  const { status, endedAt, events, error, usage } = end
  return { ...about, status, startedAt, endedAt, events, ...tokens(usage), ...(error && { error }) }
}

function tokens(usage: readonly TokenUsage[]): Pick<RunSummary, 'inputTokens' | 'outputTokens'> {
  if (usage.length === 0) return {}
  const sum = (member: 'inputTokens' | 'outputTokens'): number =>
    usage.reduce((total, one) => total + (one[member] ?? 0), 0)
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') }
}
