import type { Tool as ToolInfo } from '@ag-ui/core'
import { BasePlugin, isLlmAgent, type InvocationContext, type LlmRequest } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { Content, Part } from '../adk-types.js'
import { dropPreviews, nameCalls, withoutMadeIds } from './call-ids.js'
import { UnknownTool } from './client-tool.js'
import type { Root } from './find-placeholders.js'
import { createHandOvers } from './hand-overs.js'
import { instruct } from './instruct.js'
import { createLostResults, type LostResult } from './lost-results.js'
import { createOffer, type OfferOptions } from './offer.js'
import { repairContents } from './repair-contents.js'
import { RunHooks, type PluginHooks } from './run-hooks.js'
import { userFirst } from './user-first.js'

/** What one run brings along for its models. */
export interface RunPluginOptions {
  /** The client's tools. */
  readonly tools: readonly ToolInfo[]
  /**
   * Which agents may use them. `everywhere`: all of the tree; `placed`: those with a `clientTools()`; `auto`: placed if
   * there is one in the tree, else everywhere.
   */
  readonly where: OfferOptions['where']
  readonly root: Root
  /** The invocation to go on with, when an attempt before has failed: workflows know by it which nodes are done. */
  readonly invocationId?: () => string | undefined
  /** What models are told besides the instructions of their agents. */
  readonly instructions: readonly string[]
  readonly newId: IdSource
  /** Called once for each problem. */
  readonly report: (problem: string) => void
}

/** The plugin of one run, and what it knows. */
export interface RunPlugin {
  /** Belongs before the plugins of the user: ADK asks no further when one of them answers. */
  readonly plugin: BasePlugin
  /** The client's name of a tool. `author`, the agent that calls it, settles it where agents have tools of one name. */
  readonly wireName: (toolName: string, author?: string) => string
  /** The name that models know a tool of the client by; that of any other tool as it is. */
  readonly modelName: (wireName: string) => string
  readonly isClientTool: (toolName: string, author?: string) => boolean
  /**
   * Results of tools that ran beside a call that asks for confirmation: ADK drops them. By call id, once. Changes that an
   * `afterToolCallback` of the agent makes are not in them.
   */
  readonly takeDroppedResults: (callIds: readonly string[]) => readonly LostResult[]
}

/**
 * Brings the client's tools and instructions into the model requests of one run, keeps the requests in a form that models
 * accept, gives calls their ids, and ends the run when the client is to act. Nothing of it outlives the run.
 */
export function createRunPlugin(options: RunPluginOptions): RunPlugin {
  const { instructions, newId } = options
  const handOvers = createHandOvers()
  const lost = createLostResults()
  const offer = createOffer({
    ...options,
    report: once(options.report),
  })
  const toolsOf = new WeakMap<InvocationContext, LlmRequest['toolsDict']>()

  const hooks: PluginHooks = {
    userMessage: (context) => {
      const invocationId = options.invocationId?.()
      if (invocationId !== undefined) Object.assign(context, { invocationId })
    },
    beforeModel: (request, context) => {
      lost.clear(context)
      if (handOvers.has(context)) return {}
      toolsOf.set(context, request.toolsDict)
      offer.addTo(request, context)
      instruct(request, instructions)
      request.contents = conversation(request, context)
      return undefined
    },
    afterModel: (response, context) => {
      if (response.partial) return dropPreviews(response)
      const parts = response.content?.parts ?? []
      nameCalls(parts, newId, context.session.events)
      answerUnknown(parts, toolsOf.get(context))
    },
    afterTool: (tool, context, result) => {
      const { transferToAgent: to } = context.actions
      const { invocationContext } = context
      // A model that asks for an agent that does not exist is asked again.
      if (to !== undefined && invocationContext.agent?.rootAgent.findAgent(to))
        handOvers.note(invocationContext, to)
      // Somebody else has to answer. Without this, ADK asks the model once more in some cases: with Gemini, and when
      // other tools of the turn have answered.
      if (tool.isLongRunning && (result === null || result === undefined)) handOvers.end(invocationContext)
      lost.note(tool, { context, result })
    },
    toolError: (tool, context, error) => {
      lost.noteError(context, error)
      // ADK would leave the call open, as if the result were still to come.
      return tool.isLongRunning ? { error: error.message } : undefined
    },
  }
  const { wireName, modelName, isClientTool } = offer
  return { plugin: new RunHooks(hooks), wireName, modelName, isClientTool, takeDroppedResults: lost.take }
}

/** The contents of a request as its model takes them. */
function conversation({ contents }: LlmRequest, context: InvocationContext): Content[] {
  const repaired = userFirst(repairContents(contents), context)
  return isPlainGemini(context) ? withoutMadeIds(repaired) : [...repaired]
}

/** Calls of tools that do not exist get an answer that says so. */
function answerUnknown(parts: readonly Part[], tools: LlmRequest['toolsDict'] | undefined): void {
  for (const { functionCall } of parts) {
    const name = functionCall?.name
    if (tools && name !== undefined && !Object.hasOwn(tools, name)) tools[name] = new UnknownTool(name)
  }
}

/** Whether the model is Gemini by its usual interface. The other one matches calls by any id. */
function isPlainGemini({ agent }: InvocationContext): boolean {
  if (!isLlmAgent(agent)) return false
  const model: object = agent.canonicalModel
  return gemini in model && !('useInteractionsApi' in model && model.useInteractionsApi)
}

// As ADK knows its own: an `instanceof` would not work across two copies of it.
const gemini = Symbol.for('google.adk.geminiModel')

function once(report: (problem: string) => void): (problem: string) => void {
  const told = new Set<string>()
  return (problem) => {
    if (told.has(problem)) return
    told.add(problem)
    report(problem)
  }
}
