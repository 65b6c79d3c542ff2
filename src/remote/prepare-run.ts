import { createHash } from 'node:crypto'
import { PROTOCOL_VERSION, type Message, type RunAgentInput } from '@ag-ui/core'
import { withoutOrigin, type RunContext } from '../agents/index.js'
import { isRecord, withoutKeys } from '../core/json.js'
import { isRejected, withoutValueTypes } from '../protocol/index.js'
import type { AgUiAgent, Forwarded, FromAgUiOptions } from './contract.js'
import { toResume, type RemoteFrame } from './interrupts.js'
import { RemoteIds } from './remote-ids.js'
import { RemoteTranslator } from './remote-translator.js'

/** A remote agent, the same for all its runs. */
export interface RemoteSetup<A extends AgUiAgent> {
  readonly name: string
  readonly agent: A
  readonly options: FromAgUiOptions<A>
}

/** The parts of one run. */
export interface PreparedRun<A extends AgUiAgent> {
  readonly agent: A
  readonly input: RunAgentInput
  readonly translator: RemoteTranslator
  readonly ids: RemoteIds
}

/** Prepares a run. A run that resumes has a frame with all answers. */
export async function prepareRemoteRun<A extends AgUiAgent>(
  setup: RemoteSetup<A>,
  ctx: RunContext,
  frame: RemoteFrame | undefined,
): Promise<PreparedRun<A>> {
  const { name, options } = setup
  const { messages } = ctx
  const { callId, newId, report, isPrivateKey } = ctx.services
  const readState = (): unknown => withoutKeys(ctx.state, isPrivateKey)
  const agent = await copyAgent(setup, ctx)
  const runId = newId('run')
  const ids = new RemoteIds({ ...ctx.span, runId, messages, callId })
  const forward = options.forward ?? everything
  const input = toInput(ctx, {
    ...{ threadId: frame?.threadId ?? (await remoteThreadId(ctx, options.threadId)), runId },
    ...(declaresVersion1(agent) ? { protocolVersion: PROTOCOL_VERSION } : {}),
    messages: ids
      .toRemoteMessages(messages)
      .filter(isForwarded)
      .map((message) => withoutOrigin(message, ctx.span.address)),
    state: readState(),
    forward,
    ...(frame ? { resume: toResume(frame) } : {}),
  })
  const translator = new RemoteTranslator({
    ...{ name, runId, ids, newId, report },
    messages: input.messages,
    sharesState: forward.includes('state'),
    readState,
    setState: (next) => ctx.setState((current: unknown) => withPrivateKeys(next, current, isPrivateKey)),
  })
  // The client of `@ag-ui/client` 1.0 warns about what 1.1 adds.
  return { agent, input: withoutValueTypes(input), translator, ids }
}

const everything: readonly Forwarded[] = ['context', 'forwardedProps', 'state', 'tools']

/** A copy of the agent for one run. A clone of an `HttpAgent` that was aborted once is aborted too. */
async function copyAgent<A extends AgUiAgent>(
  { agent, options }: RemoteSetup<A>,
  ctx: RunContext,
): Promise<A> {
  const copy = agent.clone() as A
  if (Reflect.get(copy, 'abortController') instanceof AbortController)
    Reflect.set(copy, 'abortController', new AbortController())
  await options.prepare?.(copy, ctx)
  return copy
}

interface InputOptions extends Pick<
  RunAgentInput,
  'threadId' | 'runId' | 'protocolVersion' | 'messages' | 'resume'
> {
  readonly state: unknown
  readonly forward: readonly Forwarded[]
}

/** The input of the run. A copy: an agent in this process may write into it. */
function toInput({ client }: RunContext, { forward, state, ...input }: InputOptions): RunAgentInput {
  return structuredClone({
    ...input,
    tools: forward.includes('tools') ? [...client.tools] : [],
    context: forward.includes('context') ? [...client.context] : [],
    state: forward.includes('state') ? state : {},
    forwardedProps: forward.includes('forwardedProps') ? (client.forwardedProps ?? {}) : {},
  })
}

/** The state that a remote agent has made, with the private keys as they are here: it has none of them. */
function withPrivateKeys(next: unknown, current: unknown, isPrivate: (key: string) => boolean): unknown {
  if (!isRecord(next)) return next
  const own = isRecord(current) ? withoutKeys(current, (key) => !isPrivate(key)) : {}
  return { ...(withoutKeys(next, isPrivate) as object), ...(own as object) }
}

/** Leaves out activities, which are for clients only, and rejected messages. */
function isForwarded(message: Message): boolean {
  return message.role !== 'activity' && !isRejected(message)
}

/**
 * Whether the agent reads all of 1.0. Servers send a client that declares the version shapes that older ones fail on; an
 * agent in front of an older server says so by `maxProtocolVersion`.
 */
function declaresVersion1(agent: AgUiAgent): boolean {
  const ceiling: unknown = Reflect.get(agent, 'maxProtocolVersion')
  return typeof ceiling === 'string' && Number.parseInt(ceiling, 10) >= 1
}

/**
 * The remote thread of this address: the same in every run of our thread, and different for every address, since two
 * conversations in one thread would be read as one.
 */
async function remoteThreadId(ctx: RunContext, chosen: FromAgUiOptions['threadId']): Promise<string> {
  const { app, user, threadId } = ctx
  const { address, subagentRunId } = ctx.span
  const root = chosen ? await chosen({ app, user, threadId }) : defaultThreadId(ctx)
  return subagentRunId === undefined ? root : toUuid([root, address])
}

/** Clients choose thread ids. With several users, none may reach the thread of another by its id. */
function defaultThreadId({ app, user, threadId }: RunContext): string {
  return app === 'default' && user === 'local' ? threadId : toUuid([app, user, threadId])
}

/** Some servers take UUIDs only. */
function toUuid(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16)
  // Version 8: a format of the application's own.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
