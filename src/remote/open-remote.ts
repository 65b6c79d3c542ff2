import type { RunAgentInput } from '@ag-ui/core'
import type { RunContext } from '../agents/index.js'
import { stableHash } from '../core/hash.js'
import { resumeOf, type IdsHere, type RemoteFrame } from './ask.js'
import { createCallNames } from './call-names.js'
import type { AgUiAgent, FromAgUiOptions } from './options.js'
import { remoteInput } from './remote-input.js'
import { remoteThreadId } from './remote-thread.js'
import { createTranslator, type Translator } from './translate/translator.js'

/** An agent with all that its runs have in common. */
export interface RemoteSetup<A extends AgUiAgent> {
  readonly name: string
  readonly agent: A
  readonly options: FromAgUiOptions<A>
}

/** The parts of one run, each its own. */
export interface OpenRemote<A extends AgUiAgent> {
  readonly agent: A
  readonly input: RunAgentInput
  readonly translator: Translator
  readonly ids: IdsHere
}

/** Makes a run ready. `frame` is what it goes on from, with all answers, if anything. */
export async function openRemote<A extends AgUiAgent>(
  setup: RemoteSetup<A>,
  ctx: RunContext,
  frame: RemoteFrame | undefined,
): Promise<OpenRemote<A>> {
  const { name, options } = setup
  const { messages, setState } = ctx
  const { address, subagentRunId } = ctx.span
  const { callId, newId, report } = ctx.services
  const agent = await copyFor(setup, ctx)
  const runId = newId('run')
  const calls = createCallNames({ address, messages, callId })
  const input = remoteInput(ctx, {
    agent,
    threadId: frame?.threadId ?? (await remoteThreadId(ctx, options.threadId)),
    runId,
    resume: frame && resumeOf(frame),
    forward: options.forward,
    messages: calls.sent,
  })
  const ids: IdsHere = {
    // Derived from the run too: an agent may use an id again for its next question, and an answer is taken once.
    questionId: (id) => `int-${stableHash([runId, address, id].join('\n'))}`,
    // Ids of spans are unique in a run; two places of one agent may well use the same.
    spanId: (id) =>
      id === undefined || subagentRunId === undefined ? (id ?? subagentRunId) : `${subagentRunId}/${id}`,
    callId: calls.here,
  }
  const sharesState = options.forward?.includes('state') ?? true
  const told = { name, runId, ids, calls, messages: input.messages, sharesState }
  const translator = createTranslator({ ...told, shared: () => ctx.state, setState, newId, report })
  return { agent, input, translator, ids }
}

/** A copy that nobody else runs. One of an `HttpAgent` that was aborted once would be aborted too. */
async function copyFor<A extends AgUiAgent>({ agent, options }: RemoteSetup<A>, ctx: RunContext): Promise<A> {
  const copy = agent.clone() as A
  if (Reflect.get(copy, 'abortController') instanceof AbortController)
    Reflect.set(copy, 'abortController', new AbortController())
  await options.prepare?.(copy, ctx)
  return copy
}
