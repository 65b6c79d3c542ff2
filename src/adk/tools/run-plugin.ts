import type { Tool as ToolInfo } from '@ag-ui/core'
import {
  BasePlugin,
  BaseTool,
  isLlmAgent,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { ModelObserver } from '../../agents/index.js'
import type { Content, Part } from '../adk-types.js'
import { ownPluginName } from '../run/plugin-manager.js'
import { assignCallIds, withoutOwnCallIds } from './call-ids.js'
import type { RunnerRoot } from './client-tools.js'
import { type DroppedResult, DroppedResults, repairContents, withUserFirst } from './repair-contents.js'
import { ObservedRequests } from './observed-requests.js'
import { StreamedCalls } from './streamed-calls.js'
import { offerClientTools, type ClientToolOffer, type ClientToolOfferOptions } from './offer-client-tools.js'

export interface RunPluginOptions {
  /** The client's tools. */
  readonly tools: readonly ToolInfo[]
  /**
   * The agents that may use them. `everywhere`: all of the tree; `placed`: those with a `clientTools()`; `auto`: placed if
   * there is one in the tree, else everywhere.
   */
  readonly where: ClientToolOfferOptions['where']
  readonly root: RunnerRoot
  /** The invocation to continue after a failed attempt: workflows know by it which nodes are done. */
  readonly invocationId?: () => string | undefined
  /** Instructions for models besides those of their agents. */
  readonly instructions: () => readonly string[]
  readonly newId: IdSource
  /** Throws when the run may begin nothing more. */
  readonly assertActive?: () => void
  /** Is told of each request to a model. */
  readonly onModelRequest?: ModelObserver | undefined
  /** Called once for each problem. */
  readonly report: (problem: string, error?: unknown) => void
}

type PluginParams<Callback extends keyof BasePlugin> = BasePlugin[Callback] extends (
  params: infer P,
) => unknown
  ? P
  : never

const noAnswer = Promise.resolve(undefined)

/**
 * The plugin of one run. Adds the client's tools and instructions to model requests, keeps the requests in a form that
 * models accept, assigns call ids, and ends the run when the client must act. Put it before the user's plugins: ADK
 * skips the rest once a plugin answers, and this one answers only where it must.
 */
export class RunPlugin extends BasePlugin {
  /** The client's name of a tool. `author`, the agent that calls it, decides between agents with tools of one name. */
  readonly wireName: ClientToolOffer['wireName']
  /** The name that models know a client's tool by; the name of any other tool as it is. */
  readonly modelName: ClientToolOffer['modelName']
  readonly isClientTool: ClientToolOffer['isClientTool']
  readonly #options: RunPluginOptions
  readonly #offer: ClientToolOffer
  readonly #transfers = new Transfers()
  readonly #dropped = new DroppedResults()
  readonly #observed: ObservedRequests
  readonly #modelErrors = new Map<string, Error>()
  readonly #streamedIn = new WeakMap<InvocationContext, StreamedCalls>()
  readonly #toolsIn = new WeakMap<InvocationContext, LlmRequest['toolsDict']>()

  constructor(options: RunPluginOptions) {
    super(ownPluginName)
    this.#options = options
    this.#observed = new ObservedRequests(options.onModelRequest)
    this.#offer = offerClientTools({ ...options, report: reportOnce(options.report) })
    this.wireName = this.#offer.wireName
    this.modelName = this.#offer.modelName
    this.isClientTool = this.#offer.isClientTool
  }

  /** The error that ADK made an error event of, by its message. */
  thrownError(message: string): Error | undefined {
    return this.#modelErrors.get(message)
  }

  /** Returns, once, the results of these calls that ADK drops because a call beside them asks for confirmation. */
  takeDroppedResults(callIds: readonly string[]): readonly DroppedResult[] {
    return this.#dropped.take(callIds)
  }

  override onUserMessageCallback({
    invocationContext,
  }: PluginParams<'onUserMessageCallback'>): Promise<undefined> {
    const invocationId = this.#options.invocationId?.()
    if (invocationId !== undefined) Object.assign(invocationContext, { invocationId })
    return noAnswer
  }

  // The inherited one logs that it is experimental.
  override beforeToolSelection(): Promise<undefined> {
    return noAnswer
  }

  // Async: an error becomes a rejection.
  override async beforeModelCallback({
    callbackContext: { invocationContext: context },
    llmRequest: request,
  }: PluginParams<'beforeModelCallback'>): Promise<LlmResponse | undefined> {
    this.#options.assertActive?.()
    this.#dropped.clear(context)
    // Do not call the model of an agent that has transferred.
    if (this.#transfers.hasTransferred(context)) return {}
    this.#toolsIn.set(context, request.toolsDict)
    this.#offer.addTo(request, context)
    addClientInstructions(request, this.#options.instructions())
    request.contents = toModelContents(request, context)
    this.#observed.begin(context, request)
    return Promise.resolve(undefined)
  }

  // Called for every delta.
  override afterModelCallback({
    callbackContext,
    llmResponse: response,
  }: PluginParams<'afterModelCallback'>): Promise<undefined> {
    this.#observed.answer(callbackContext.invocationContext, response)
    const parts = response.content?.parts
    if (!parts?.some(({ functionCall }) => functionCall)) return noAnswer
    const { invocationContext: context } = callbackContext
    const { newId } = this.#options
    const { events } = context.session
    const streamed = this.#streamedIn.get(context) ?? new StreamedCalls()
    this.#streamedIn.set(context, streamed)
    if (response.partial) streamed.hide(response, newId, events)
    else {
      assignCallIds(parts, { newId, events, shownAs: (call) => streamed.take(call) })
      answerUnknownTools(parts, this.#toolsIn.get(context))
    }
    return noAnswer
  }

  override afterToolCallback({
    tool,
    toolContext,
    result,
  }: PluginParams<'afterToolCallback'>): Promise<undefined> {
    const { invocationContext: context, actions } = toolContext
    const to = actions.transferToAgent
    // ADK calls the model again after a transfer to an agent that does not exist.
    if (to !== undefined && context.agent?.rootAgent.findAgent(to)) this.#transfers.record(context, to)
    // The client or a person must answer. Without this, ADK may call the model once more: with Gemini, and when other
    // tools beside this one have answered.
    if (tool.isLongRunning && isNothing(result)) this.#transfers.endWithCallers(context)
    this.#dropped.record(tool, toolContext, result)
    return noAnswer
  }

  // ADK makes an event of the error, without a trace of its origin.
  override onModelErrorCallback({
    callbackContext,
    error,
  }: PluginParams<'onModelErrorCallback'>): Promise<undefined> {
    this.#observed.fail(callbackContext.invocationContext, error)
    this.#modelErrors.set(error.message, error)
    return noAnswer
  }

  override onToolErrorCallback({
    tool,
    toolContext,
    error,
  }: PluginParams<'onToolErrorCallback'>): Promise<Record<string, unknown> | undefined> {
    this.#dropped.recordError(toolContext, error)
    // Without a result, ADK would leave the call pending.
    return tool.isLongRunning ? Promise.resolve({ error: error.message }) : noAnswer
  }
}

function isNothing(result: unknown): boolean {
  return result === null || result === undefined
}

function reportOnce(report: RunPluginOptions['report']): RunPluginOptions['report'] {
  const reported = new Set<string>()
  return (problem, error) => {
    if (reported.has(problem)) return
    reported.add(problem)
    report(problem, error)
  }
}

type SystemInstruction = NonNullable<LlmRequest['config']>['systemInstruction']

/** Adds instructions to those of the agent. */
export function addClientInstructions(request: LlmRequest, instructions: readonly string[]): void {
  if (instructions.length === 0) return
  const systemInstruction = appendInstruction(request.config?.systemInstruction, instructions.join('\n\n'))
  request.config = { ...request.config, systemInstruction }
}

/** ADK keeps a text here; callbacks may leave any form that Gemini takes. */
function appendInstruction(before: SystemInstruction, text: string): NonNullable<SystemInstruction> {
  if (before === undefined || before === '') return text
  if (typeof before === 'string') return `${before}\n\n${text}`
  if (Array.isArray(before)) return [...before, { text }]
  if (isContent(before)) return { ...before, parts: [...(before.parts ?? []), { text }] }
  return [before, { text }]
}

function isContent(value: object): value is Content {
  return 'parts' in value || 'role' in value
}

/** The contents of a request in a form that the model of an agent accepts. */
export function toModelContents(
  { contents }: Pick<LlmRequest, 'contents'>,
  context: InvocationContext,
): Content[] {
  const repaired = withUserFirst(repairContents(contents), context)
  return usesGeminiApi(context) ? withoutOwnCallIds(repaired) : [...repaired]
}

/** Whether the model is Gemini with its usual API. Its Interactions API takes any call id. */
function usesGeminiApi({ agent }: InvocationContext): boolean {
  if (!isLlmAgent(agent)) return false
  const model: object = agent.canonicalModel
  return geminiBrand in model && !('useInteractionsApi' in model && model.useInteractionsApi)
}

// ADK's own brand: `instanceof` would not work across two copies of ADK.
const geminiBrand = Symbol.for('google.adk.geminiModel')

/** Adds a tool that returns an error for each unknown name. */
function answerUnknownTools(parts: readonly Part[], tools: LlmRequest['toolsDict'] | undefined): void {
  for (const { functionCall } of parts) {
    const name = functionCall?.name
    if (tools && name !== undefined && !Object.hasOwn(tools, name)) tools[name] = new UnknownTool(name)
  }
}

/** Returns an error for calls of a tool that does not exist. ADK leaves them without a result, and models try again. */
class UnknownTool extends BaseTool {
  constructor(name: string) {
    super({ name, description: '' })
  }

  override runAsync(): Promise<{ readonly error: string }> {
    return Promise.resolve({ error: `There is no tool named "${this.name}".` })
  }
}

/**
 * The transfers of a run. An agent that transfers runs the other one inside its own step and continues after it: when the
 * other waits in the middle of a step, and with Gemini always, since its last chunk makes ADK believe that the step is
 * not over.
 */
class Transfers {
  readonly #callers = new Map<string, InvocationContext>()
  readonly #transferred = new WeakSet<InvocationContext>()

  record(from: InvocationContext, to: string): void {
    this.#callers.set(agentKey(from, to), from)
    this.#transferred.add(from)
  }

  hasTransferred(context: InvocationContext): boolean {
    return this.#transferred.has(context)
  }

  /** Ends an agent after its step, and those that have transferred to it. */
  endWithCallers(context: InvocationContext): void {
    const ended = new Set<InvocationContext>()
    let current: InvocationContext | undefined = context
    // Two agents can transfer to each other.
    while (current && !ended.has(current)) {
      current.endInvocation = true
      ended.add(current)
      current = this.#callers.get(agentKey(current, current.agent?.name))
    }
  }
}

function agentKey({ branch }: InvocationContext, name: string | undefined): string {
  return JSON.stringify([branch, name])
}
