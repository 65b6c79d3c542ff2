import { isWorkflow, type Event, type Runner } from '@google/adk'
import type { RunContext } from '../agents/index.js'
import type { AgentEvent } from '../protocol/index.js'
import { toResponsePart } from './interrupts/answers.js'
import { iterationsAt, namedMessages } from './call-place.js'
import type { AdkFrame } from './interrupts/to-interrupts.js'
import { markOf, type Mark } from './mark.js'
import { planSession } from './session/plan-session.js'
import { openRunSession, type RunSession } from './session/run-session.js'
import { sessionBelow, type SessionPlace } from './session/place-session.js'
import { safeSessions } from './session/safe-service.js'
import { applyDelta } from './session/state-sync.js'
import { runnerWith, valueFor, type AdkSetup, type RunnableRoot } from './setup.js'
import { createRunPlugin, type RunPlugin } from './tools/run-plugin.js'
import { createTranslator, type Translator } from './translate/translator.js'
import { createRunTree, type RunTree } from './tree/run-tree.js'

/** All parts of a run. */
export interface Work {
  readonly setup: AdkSetup
  readonly ctx: RunContext
  /** What the run goes on from. */
  readonly frame: AdkFrame | undefined
  readonly runner: Runner
  readonly session: RunSession
  readonly tree: RunTree
  readonly plugin: RunPlugin
  readonly translator: Translator
}

/** Puts a run together: a Runner with a plugin, a session and a tree of its own. */
export async function openRun(setup: AdkSetup, ctx: RunContext, frame: AdkFrame | undefined): Promise<Work> {
  const { options } = setup
  const base = await setup.runnerFor(ctx)
  const { service, key } = await placeOf(setup, ctx, base)
  const plugin = createRunPlugin({
    tools: ctx.client.tools,
    where: options.clientTools ?? 'auto',
    root: base.agent,
    invocationId: () => earlierInvocation(session, base.agent),
    instructions: instructionsOf(ctx),
    newId: ctx.services.newId,
    report: ctx.services.report,
  })
  const answers = (events: readonly Event[]) =>
    (frame?.interrupts ?? []).map((question) => {
      const answer = frame?.answers[question.interrupt.id] ?? { status: 'cancelled' }
      return toResponsePart(question, answer, [...events, ...(frame?.events ?? [])])
    })
  const session: RunSession = await openRunSession({
    service,
    key,
    plan: ({ events }) =>
      planSession({
        events,
        messages: namedMessages(ctx.messages),
        answers: answers(events),
        saved: frame?.events ?? [],
        rootAuthor: base.agent.name,
        toModelName: plugin.modelName,
        runId: ctx.runId,
        newId: ctx.services.newId,
      }),
    temp: { ag_ui_context: ctx.client.context, ...(await valueFor(options.tempState, ctx)) },
    mark: (event) => ({ runId: ctx.runId, ...translator.mark(event), ...roundsAt(event, tree) }),
  })
  for (const note of session.plan.notes) ctx.services.report(note)
  const tree: RunTree = createRunTree(base.agent, {
    resumeAt: goingOn(session),
    iterations: { ...earlierRounds(session, ctx), ...frame?.iterations },
  })
  const translator: Translator = createTranslator({
    runId: ctx.runId,
    rootAuthor: base.agent.name,
    isAgent: (author) => tree.agentNames.has(author),
    hidesText: (author) => tree.structured.has(author),
    wireName: plugin.wireName,
    isClientTool: plugin.isClientTool,
    predictState: options.predictState ?? [],
    parentSubagentRunId: ctx.span.subagentRunId,
    newId: ctx.services.newId,
    changeState: (delta) => stateEvent(ctx, applyDelta(ctx.state, delta)),
    addUsage: ctx.services.addUsage,
    report: ctx.services.report,
  })
  const runner = runnerWith(base, {
    appName: key.appName,
    root: tree.root,
    sessionService: session.service,
    plugin: plugin.plugin,
  })
  return { setup, ctx, frame, runner, session, tree, plugin, translator }
}

/** The invocation that a run goes on with. */
function earlierInvocation(session: RunSession, root: RunnableRoot): string | undefined {
  const { keep, add, news } = session.plan
  if (news.isDelivered) return keep.findLast(({ author }) => author === 'user')?.invocationId
  // For a workflow the call of a tool is no pause: in another invocation it would begin anew.
  const calls = isWorkflow(root) ? answeredCalls(session) : new Set()
  const isCaller = ({ content }: Event): boolean =>
    content?.parts?.some(({ functionCall }) => calls.has(functionCall?.id)) === true
  return [...keep, ...add].findLast(isCaller)?.invocationId
}

/** The rounds of loops, to be noted on an event that the run may stop at. */
function roundsAt({ longRunningToolIds = [] }: Event, tree: RunTree): Mark {
  const iterations = longRunningToolIds.length > 0 ? tree.iterations() : {}
  return Object.keys(iterations).length > 0 ? { iterations } : {}
}

/** The same, of the run that had stopped: as the session has it, or the thread. */
function earlierRounds(session: RunSession, { messages }: RunContext): Readonly<Record<string, number>> {
  const calls = answeredCalls(session)
  const noted = session.plan.keep
    .filter(({ content }) => content?.parts?.some(({ functionCall }) => calls.has(functionCall?.id)))
    .map((event) => markOf(event).iterations ?? {})
  return Object.assign({}, ...noted, iterationsAt(messages, calls)) as Record<string, number>
}

/** The calls that the news brings results of. */
function answeredCalls({ plan }: RunSession): ReadonlySet<string | undefined> {
  const parts = plan.news.content?.parts ?? []
  return new Set(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
}

/** Where the tree goes on: at the agents whose calls are answered, or at the one that failed in an attempt before. */
function goingOn({ plan }: RunSession): readonly string[] {
  if (plan.authors.length > 0 || !plan.news.isDelivered) return plan.authors
  const last = plan.keep.findLast(({ author }) => author !== 'user')
  const isAtWork =
    last?.errorCode !== undefined || last?.content?.parts?.some((part) => part.functionResponse)
  return last?.author !== undefined && isAtWork === true ? [last.author] : []
}

async function placeOf({ sessions }: AdkSetup, ctx: RunContext, runner: Runner): Promise<SessionPlace> {
  if (ctx.span.subagentRunId !== undefined)
    return sessionBelow(ctx, { appName: runner.appName, userId: ctx.user })
  return { service: safeSessions(runner.sessionService), key: await sessions.find(ctx, runner) }
}

/** What the client says to the agent besides messages of the conversation. */
function instructionsOf({ messages, client }: RunContext): string[] {
  const told = messages.flatMap(({ role, content }) =>
    (role === 'system' || role === 'developer') && typeof content === 'string' ? [content] : [],
  )
  return [...told, ...client.context.map(({ description, value }) => `${description}: ${value}`)]
}

/** Tells the client of a new state, if it is one. */
export function stateEvent(ctx: RunContext, next: unknown): AgentEvent | undefined {
  return next === ctx.state ? undefined : ctx.setState(next)
}
