import type { Message } from '@ag-ui/core'
import { withAuthor } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord, parseJson } from '../../core/json.js'
import type { LogEntry, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { loadThread } from '../recovery/recover-thread.js'
import { checkId, checkThreadId } from '../request/check-input.js'
import { findAgent, type UserRequest, type UserRoute } from '../routes/route.js'
import type { RunRecording } from './recording.js'

/** `GET /runs/{agent}/{thread}/{run}`: the run file of a run, live or over. */
export const runFileRoute: UserRoute = {
  method: 'GET',
  path: '/runs/:agent/:thread/:run',
  async handle(server, request) {
    const agent = findAgent(server, request.param('agent')).name
    const thread = checkThreadId(request.param('thread'), 'thread', server.limits)
    const runId = checkId(request.param('run'), 'run', server.limits)
    const found = await findRun(server, { key: { ...request.user, agent, thread }, runId })
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
    return new Response(toStream(writeRunFile(server, found, request)), { headers })
  },
}

interface RunName {
  readonly key: ThreadKey
  readonly runId: string
}

interface FoundRun extends RunName {
  readonly recording: RunRecording | undefined
  /** The thread as the store has it, if it is needed. */
  readonly thread: Thread | undefined
}

/** Throws RUN_NOT_FOUND, also for a run of another user. */
async function findRun(server: ServerContext, { key, runId }: RunName): Promise<FoundRun> {
  const recording = server.board?.find(key, runId)
  const isWhole = recording?.start !== undefined && recording.events !== undefined
  const thread = isWhole ? undefined : await loadThread(server, key)
  if (recording || thread?.run?.runId === runId) return { key, runId, recording, thread }
  throw new MillraceError('RUN_NOT_FOUND', 'There is no such run, or nothing is known of it any more.')
}

const pageSize = 1000

/** The events so far: from the process if it has all of them, else from the log. */
async function* eventsOf(
  { store }: ServerContext,
  { key, runId, recording }: FoundRun,
): AsyncGenerator<readonly LogEntry[]> {
  if (recording?.events) {
    // A copy: the list of a live run grows.
    yield* [...recording.events]
    return
  }
  // A live run may go on for as long as somebody reads: what it has now is enough.
  const until = recording?.run?.feed.nextSeq ?? Infinity
  for (let after = -1; after < until - 1;) {
    const page = await store.log.read(key, { runId, after }, pageSize)
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.seq
  }
}

/** Writes the file piece by piece: a long run is larger than anybody wants to hold in memory. */
async function* writeRunFile(
  server: ServerContext,
  found: FoundRun,
  { isOperator }: UserRequest,
): AsyncGenerator<string> {
  const { recording } = found
  yield `${JSON.stringify(headOf(found)).slice(0, -1)},"events":[`
  const ids = new Set<unknown>()
  const shownAt = createShownAt(recording?.shown ?? [])
  let count = 0
  for await (const entries of eventsOf(server, found)) {
    const lines = entries.map(({ seq, json }) => {
      if (!recording?.start) for (const id of messageIdsIn(json)) ids.add(id)
      const at = shownAt(seq)
      return `{"seq":${seq},${at === undefined ? '' : `"at":${at},`}"event":${json}}`
    })
    yield (count === 0 ? '' : ',') + lines.join(',')
    count += lines.length
  }
  // The process had no room for them, and the log has those of a later run by now.
  const isCut = count < (recording?.end?.events ?? 0)
  yield `]${isCut ? ',"isCut":true' : ''},"start":${JSON.stringify(startOf(server, found, ids))}`
  if (recording?.input !== undefined) yield `,"input":${recording.input}`
  // What models were asked, and what hooks have taken away, is not for those who talk to the agent.
  yield `,"requests":[${isOperator ? requestsOf(recording).join(',') : ''}]`
  yield `,"changes":[${isOperator ? (recording?.changes ?? []).join(',') : ''}]}`
}

/** When the event of a number was shown. To be asked in the order of the numbers. */
function createShownAt(shown: RunRecording['shown']): (seq: number) => number | undefined {
  let next = 0
  return (seq) => {
    while ((shown[next]?.seq ?? Infinity) <= seq) next++
    return shown[next - 1]?.at
  }
}

function headOf({ key, runId, recording, thread }: FoundRun): object {
  const { agent, user } = key
  const about = { format: 'millrace-run', version: 1, agent, threadId: key.thread, runId, user }
  if (recording) {
    const { startedAt, end } = recording
    if (!end) return { ...about, status: 'running', startedAt }
    const { status, endedAt, usage, error } = end
    return { ...about, status, startedAt, endedAt, usage, ...(error && { error }) }
  }
  const { status, startedAt, endedAt, error } = thread?.run ?? { status: 'lost', startedAt: 0 }
  const isWaiting = status === 'completed' && (thread?.pendingToolCalls.length ?? 0) > 0
  return {
    ...about,
    status: isWaiting ? 'waiting-for-tools' : status,
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(error && { error }),
  }
}

interface RunFileStart {
  readonly messages: readonly Message[]
  readonly state: unknown
}

/**
 * What the thread held before the run. Where nobody remembers it, it is the stored thread without the messages of the run; the
 * state comes with the first snapshot of the run, which stands before its first delta.
 */
function startOf(
  server: ServerContext,
  { key, recording, thread }: FoundRun,
  ids: ReadonlySet<unknown>,
): RunFileStart {
  if (recording?.start) {
    const { messages, state } = recording.start
    return { messages: messages.map(withAuthor), state }
  }
  const begun = thread?.run?.start
  if (thread && begun) {
    const messages = [...thread.messages.slice(0, begun.keep), ...begun.append]
    return { messages: messages.map(withAuthor), state: server.stateRulesOf(key).visible(begun.state) }
  }
  const before = (thread?.messages ?? []).filter(({ id }) => !ids.has(id))
  return { messages: before.map(withAuthor), state: {} }
}

function messageIdsIn(json: string): unknown[] {
  const event = parseJson(json)
  if (!isRecord(event)) return []
  // A message that only calls tools has no event of its own.
  return event.type === 'TOOL_CALL_START' ? [event.parentMessageId] : [event.messageId]
}

function requestsOf(recording: RunRecording | undefined): string[] {
  return (recording?.requests ?? []).map(({ at, text, ending }) => {
    const end = ending ? `,${JSON.stringify(ending).slice(1, -1)}` : ''
    return `{"at":${at},${text.slice(1, -1)}${end}}`
  })
}

function toStream(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const step = await texts.next()
      if (step.done === true) controller.close()
      else controller.enqueue(encoder.encode(step.value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  })
}
