import {
  checkOptionNames,
  describeKind,
  memberOf,
  interruptedBy,
  isAnswered,
  limitsMember,
  withAnswers,
  withHistory,
  type Agent,
  type Control,
  type RunContext,
} from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import type { AgentEvent, EventOf } from '../protocol/index.js'
import type { AgUiAgent, FromAgUiOptions } from './contract.js'
import { toLocalInterrupt, type RemoteFrame } from './interrupts.js'
import { prepareRemoteRun, type PreparedRun, type RemoteSetup } from './prepare-run.js'
import { failedRun } from './remote-error.js'
import { remoteEvents } from './remote-events.js'
import type { RemoteEnd } from './remote-translator.js'

/**
 * Makes an Agent of an agent of `@ag-ui/client`: an `HttpAgent` in front of an endpoint in any language, or any other
 * `AbstractAgent`. Every run uses a copy of it (`clone()`), so it can stand in several places of a tree at once.
 * Throws INVALID_AGENT when it has no name.
 *
 * @example
 * const researcher = fromAgUi(new HttpAgent({ url: 'https://agents.example/research' }), { name: 'researcher' })
 */
export function fromAgUi<A extends AgUiAgent>(agent: A, options: FromAgUiOptions<A> = {}): Agent {
  checkOptionNames('fromAgUi', options, optionNames)
  // It may come from code without types.
  if (typeof memberOf(agent, 'runAgent') !== 'function')
    throw new MillraceError(
      'INVALID_AGENT',
      `\`fromAgUi\` takes an agent of '@ag-ui/client', a \`new HttpAgent({ url })\` for example, not ${describeKind(agent)}.`,
    )
  const name = options.name ?? agent.agentId
  if (name === undefined || name === '')
    throw new MillraceError('INVALID_AGENT', 'Give the agent a name: `fromAgUi(agent, { name })`.')
  const { description = agent.description ?? '', examples, capabilities } = options
  const adapted: Agent = {
    name,
    description,
    run: (ctx) => runRemote({ name, agent, options }, ctx),
    outline: () => ({ kind: 'remote', runtime: 'remote' }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
    ...limitsMember(options.limits),
  }
  return withHistory(adapted, options.historyRewriter)
}

// The compiler checks that none is missing.
const optionNames: Readonly<Record<keyof FromAgUiOptions, true>> = {
  ...{
    name: true,
    description: true,
    examples: true,
    capabilities: true,
    limits: true,
    historyRewriter: true,
  },
  ...{ forward: true, threadId: true, prepare: true, cancel: true },
}

async function* runRemote<A extends AgUiAgent>(
  setup: RemoteSetup<A>,
  ctx: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  const saved = ctx.resume.takeFrame() as RemoteFrame | undefined
  const frame = saved && withAnswers(saved, ctx.resume.answers)
  // The protocol requires all answers at once.
  if (frame && !isAnswered(frame)) return interruptedBy(ctx.span.address, frame)
  const { name, options } = setup
  const run = await prepareRemoteRun(setup, ctx, frame)
  const { agent, input, translator } = run
  const { threadId, runId } = input
  const { clock, graceMs, report } = ctx.services
  const { signal } = ctx
  ctx.services.assertActive()
  const hasEnded = (): boolean => translator.end !== undefined
  const cancel = options.cancel && (() => options.cancel?.({ agent, threadId, runId }))
  const events = remoteEvents(agent, { name, input, signal, clock, graceMs, hasEnded, report, cancel })
  for await (const event of events) {
    for (const shown of translator.translate(event)) yield shown
    if (translator.isOver) break
  }
  return toControl(name, ctx, run)
}

function toControl(
  name: string,
  ctx: RunContext,
  { input, translator, ids }: PreparedRun<AgUiAgent>,
): Control {
  const { end } = translator
  for (const usage of end?.usage ?? []) ctx.services.addUsage(usage)
  // A stream without an end has thrown before.
  if (!end || isCancelled(end)) return { type: 'cancelled' }
  if (end.type === 'RUN_ERROR') throw failedRun(name, end)
  if (end.outcome?.type !== 'interrupt') return toDone(end, translator.openCalls(), ids.callId)
  const interrupts = end.outcome.interrupts.map((interrupt) => toLocalInterrupt(interrupt, ids))
  const frame: RemoteFrame = { interrupts, answers: {}, threadId: input.threadId }
  return interruptedBy(ctx.span.address, frame)
}

/** Whether the run was cancelled remotely. Servers send older clients an error instead. */
function isCancelled(end: RemoteEnd): boolean {
  return end.type === 'RUN_ERROR' ? end.code === 'abort' : end.outcome?.type === 'cancelled'
}

/** Servers before 1.0 do not name the pending calls: then all calls without a result are pending. */
function toDone(
  { result, outcome }: EventOf<'RUN_FINISHED'>,
  openCalls: readonly string[],
  callId: (remoteId: string) => string,
): Control {
  const named = outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined
  const pendingToolCallIds = (named ?? openCalls).map(callId)
  return {
    type: 'done',
    ...(result === undefined ? {} : { result: result as unknown }),
    ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }),
  }
}
