import {
  isWorkflow,
  type BaseMemoryService,
  type BasePlugin,
  type BaseSessionService,
  type Event,
  type Runner,
} from '@google/adk'
import type { RunContext } from '../../agents/index.js'
import { contextForModels } from '../../bridge/model-context.js'
import type { AgentEvent } from '../../protocol/index.js'
import { toResponsePart } from '../interrupts/answers.js'
import type { AdkFrame } from '../interrupts/to-interrupts.js'
import { resolveOption, type AdkOptions, type RunnerFactory } from '../contract.js'
import { type EventMark, eventMark, iterationsAtCalls } from '../session/marks.js'
import { subagentSession, type SessionFinder, type SessionLocation } from '../session/find-session.js'
import { planSession } from '../session/plan-session.js'
import { prepareRunSession, type RunSession } from '../session/run-session.js'
import { raceFreeSessions } from '../session/race-free-sessions.js'
import { RecentSessions } from '../session/recent-sessions.js'
import { applySessionDelta } from '../session/session-state.js'
import { createToolWrapper } from '../tools/run-tools.js'
import { RunPlugin } from '../tools/run-plugin.js'
import { AdkTranslator } from '../translate/adk-translator.js'
import { createRunTree, type RunTree } from '../tree/run-tree.js'
import { pluginsOf, RunPluginManager } from './plugin-manager.js'

/** An ADK agent with all that its runs share. No run changes it. */
export interface AdkSetup {
  readonly name: string
  readonly description: string
  readonly options: AdkOptions
  /** The Runner whose agent, services and plugins a run uses. Without a run: the one whose services have the thread. */
  readonly runnerFor: RunnerFactory
  /** The team's long-term memory, which receives sessions before they go. */
  readonly longTermMemoryOf: (runner: Runner) => BaseMemoryService | undefined
  readonly sessions: SessionFinder
  /** The tools of all agents. Undefined if only a run knows them. */
  readonly toolNames: readonly string[] | undefined
}

/** All parts of one run. */
export interface AdkRun {
  readonly setup: AdkSetup
  readonly ctx: RunContext
  /** The frame that the run resumes from. */
  readonly frame: AdkFrame | undefined
  /** Calls left to the client before, which have no result yet. */
  readonly openCallIds: readonly string[]
  readonly runner: Runner
  readonly session: RunSession
  readonly tree: RunTree
  readonly plugin: RunPlugin
  readonly translator: AdkTranslator
  /** Applies a change of the session's state. Returns the event for the client, if the client may see a part of it. */
  readonly changeState: (delta: Readonly<Record<string, unknown>>) => AgentEvent | undefined
}

/** Puts a run together: a Runner with a plugin, a session and a tree of its own. */
export async function prepareAdkRun(
  setup: AdkSetup,
  ctx: RunContext,
  frame: AdkFrame | undefined,
): Promise<AdkRun> {
  const { options } = setup
  const base = await setup.runnerFor(ctx, ctx)
  const { service, key } = await locateSession(setup, ctx, base)
  const plugin = new RunPlugin({
    tools: ctx.client.tools,
    where: options.clientTools ?? 'auto',
    root: base.agent,
    invocationId: () => earlierInvocation(session, base.agent),
    instructions: () => [...session.plan.instructions, ...contextInstructions(ctx)],
    newId: ctx.services.newId,
    assertActive: ctx.services.assertActive,
    onModelRequest: ctx.services.onModelRequest,
    report: ctx.services.report,
  })
  const session: RunSession = await prepareRunSession({
    service,
    key,
    plan: ({ events }) =>
      planSession({
        events,
        messages: ctx.messages,
        answers: answerParts(frame, events),
        saved: frame?.events ?? [],
        rootAuthor: base.agent.name,
        toModelName: plugin.modelName,
        runId: ctx.runId,
        newId: ctx.services.newId,
      }),
    temp: { ag_ui_context: ctx.client.context, ...(await resolveOption(options.tempState, ctx)) },
    mark: (event) => ({ runId: ctx.runId, ...translator.mark(event), ...iterationsMark(event, tree) }),
  })
  for (const problem of session.plan.problems) ctx.services.report(problem)
  await evictSessions(base, ctx)
  const openCallIds = openCalls(frame, ctx)
  const tree: RunTree = createRunTree(base.agent, {
    resumeAt: resumedAgents(session),
    waitingAt: callsByAuthor(openCallIds, session),
    iterations: { ...earlierIterations(session, ctx), ...frame?.iterations },
    wrapTool: createToolWrapper(ctx),
  })
  const changeState = createStateChange(ctx)
  const translator: AdkTranslator = new AdkTranslator({
    runId: ctx.runId,
    rootAuthor: base.agent.name,
    isAgent: (author) => tree.agentNames.has(author),
    hidesText: (author) => tree.structured.has(author),
    wireName: plugin.wireName,
    isClientTool: plugin.isClientTool,
    parentSubagentRunId: ctx.span.subagentRunId,
    newId: ctx.services.newId,
    changeState,
    addUsage: ctx.services.addUsage,
    report: ctx.services.report,
  })
  const runner = inheritRunner(base, {
    appName: key.appName,
    root: tree.root,
    sessionService: session.service,
    plugin,
  })
  return { setup, ctx, frame, openCallIds, runner, session, tree, plugin, translator, changeState }
}

async function locateSession(
  { sessions }: AdkSetup,
  ctx: RunContext,
  runner: Runner,
): Promise<SessionLocation> {
  if (ctx.span.subagentRunId !== undefined)
    return subagentSession(ctx, { appName: runner.appName, userId: ctx.user })
  return { service: raceFreeSessions(runner.sessionService), key: await sessions.find(ctx, runner) }
}

/** Sessions that nobody gave a service for do not outgrow the memory of the process. */
async function evictSessions({ sessionService }: Runner, { services }: RunContext): Promise<void> {
  if (!(sessionService instanceof RecentSessions)) return
  await sessionService.evict().catch((error: unknown) => {
    services.report('long-term memory did not take a session', error)
  })
}

function contextInstructions({ client }: RunContext): string[] {
  return contextForModels(client).map(({ description, value }) => `${description}: ${value}`)
}

function answerParts(frame: AdkFrame | undefined, events: readonly Event[]) {
  return (frame?.interrupts ?? []).map((interrupt) => {
    const answer = frame?.answers[interrupt.interrupt.id] ?? { status: 'cancelled' }
    return toResponsePart(interrupt, answer, [...events, ...(frame?.events ?? [])])
  })
}

/** The invocation that the run continues, if any: workflows know by it which of their nodes are done. */
function earlierInvocation({ plan }: RunSession, root: Runner['agent']): string | undefined {
  const { recent, add, news } = plan
  if (news.isDelivered) return recent.findLast(({ author }) => author === 'user')?.invocationId
  // A workflow does not stop for a tool call: in another invocation it would begin anew.
  const calls = isWorkflow(root) ? answeredCalls(plan) : new Set()
  const isCaller = ({ content }: Event): boolean =>
    content?.parts?.some(({ functionCall }) => calls.has(functionCall?.id)) === true
  return [...recent, ...add].findLast(isCaller)?.invocationId
}

/** The completed rounds of the loops, for an event that the run may stop at. */
function iterationsMark({ longRunningToolIds = [] }: Event, tree: RunTree): EventMark {
  const iterations = longRunningToolIds.length > 0 ? tree.iterations() : {}
  return Object.keys(iterations).length > 0 ? { iterations } : {}
}

/** The loops' rounds of the run that stopped, from the session or the thread. */
function earlierIterations({ plan }: RunSession, { messages }: RunContext): Readonly<Record<string, number>> {
  const calls = answeredCalls(plan)
  if (calls.size === 0) return {}
  const marked = plan.recent
    .filter(({ content }) => content?.parts?.some(({ functionCall }) => calls.has(functionCall?.id)))
    .map((event) => eventMark(event).iterations ?? {})
  return Object.assign({}, ...marked, iterationsAtCalls(messages, calls)) as Record<string, number>
}

/** The calls whose results are in the news. */
function answeredCalls({ news }: RunSession['plan']): ReadonlySet<string | undefined> {
  const parts = news.content?.parts ?? []
  return new Set(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
}

/** The agents where the tree resumes: those whose calls are answered, or the one that failed in an earlier attempt. */
function resumedAgents({ plan }: RunSession): readonly string[] {
  if (plan.authors.length > 0 || !plan.news.isDelivered) return plan.authors
  const last = plan.recent.findLast(({ author }) => author !== 'user')
  const isAtWork =
    last?.errorCode !== undefined || last?.content?.parts?.some((part) => part.functionResponse)
  return last?.author !== undefined && isAtWork === true ? [last.author] : []
}

/** The calls that the client has yet to answer. A user who goes on does without their results. */
function openCalls(frame: AdkFrame | undefined, { messages }: RunContext): readonly string[] {
  if (!frame || frame.pendingCallIds.length === 0) return []
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const made = new Set(
    since
      .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .map(({ id }) => id),
  )
  const answered = new Set(since.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
  return frame.pendingCallIds.filter((id) => made.has(id) && !answered.has(id))
}

/** Call ids by the name of the agent that made the calls. */
function callsByAuthor(
  ids: readonly string[],
  { session }: RunSession,
): Readonly<Record<string, readonly string[]>> {
  const calls: Record<string, string[]> = {}
  if (ids.length === 0) return calls
  for (const { author = '', content } of session.events) {
    for (const { functionCall } of content?.parts ?? [])
      if (functionCall?.id !== undefined && ids.includes(functionCall.id))
        (calls[author] ??= []).push(functionCall.id)
  }
  return calls
}

/** Applies changes of the session's state to the thread's. Returns the event for the client, if it may see any. */
function createStateChange(ctx: RunContext): AdkRun['changeState'] {
  return (delta) => {
    const next = applySessionDelta(ctx.state, delta)
    return next === ctx.state ? undefined : ctx.setState(next)
  }
}

interface RunnerParts {
  readonly appName: string
  readonly root: Runner['agent']
  readonly sessionService: BaseSessionService
  /** Comes before the team's plugins: ADK skips the rest once a plugin answers. */
  readonly plugin: BasePlugin
}

/** A Runner for one run: it inherits from the given one, with parts of its own. */
function inheritRunner(runner: Runner, parts: RunnerParts): Runner {
  return Object.create(runner, {
    appName: { value: parts.appName },
    agent: { value: parts.root },
    sessionService: { value: parts.sessionService },
    pluginManager: { value: new RunPluginManager([parts.plugin, ...pluginsOf(runner.pluginManager)]) },
    // The tree decides where a run resumes.
    resumabilityConfig: { value: undefined },
  }) as Runner
}
