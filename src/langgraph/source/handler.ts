import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { LLMResult } from '@langchain/core/outputs'
import { isGraphInterrupt, isParentCommand } from '@langchain/langgraph'
import type { GraphEvent } from '../graph-event.js'
import { isGraph, isHidden, isNode, unnamedGraph, type ChainStart } from './chain-facts.js'
import { listening, type Listener } from './listener.js'
import { answerOf, isSilent, messageOf, textOf } from './model-facts.js'
import { createRuns, type RunKind } from './runs.js'
import { toolInput, toolName } from './tool-facts.js'

/** Where a handler puts what it hears. */
export interface HandlerOptions {
  /** Gives a promise when whoever has caused the event should wait. Must not throw. */
  readonly put: (event: GraphEvent) => Promise<unknown> | undefined
  readonly report: (problem: string) => void
}

type Heard = Promise<unknown> | undefined
type Method<Name extends keyof BaseCallbackHandler> = Parameters<
  Extract<BaseCallbackHandler[Name], (...args: never[]) => unknown>
>

/**
 * Hears all that LangChain tells of a graph at work, and changes nothing but that models stream. LangChain waits for
 * it: a provider reads on when the event of its last chunk has found room. Never throws.
 */
export class GraphHandler extends BaseCallbackHandler implements Listener {
  readonly name = 'millrace'
  readonly [listening] = true
  readonly lc_prefer_streaming = true
  override awaitHandlers = true
  readonly #put: HandlerOptions['put']
  readonly #report: HandlerOptions['report']
  readonly #runs = createRuns()
  #rootId: string | undefined
  #isOver = false
  #onOver: (() => void) | undefined

  constructor({ put, report }: HandlerOptions) {
    super()
    this.#put = put
    this.#report = report
  }

  override copy(): this {
    return this
  }

  /** Resolves when the graph has stopped for good. Its stream ends earlier when it is aborted. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#rootId === undefined || this.#isOver) resolve()
      else this.#onOver = resolve
    })
  }

  override handleChainStart(...args: Method<'handleChainStart'>): Heard {
    const [serialized, input, runId, parentRunId, tags = [], metadata = {}, , name] = args
    return this.#tell(() => this.#chain({ serialized, input, runId, parentRunId, tags, metadata, name }))
  }

  override handleChainEnd(output: unknown, runId: string): Heard {
    return this.#tell(() => this.#chainEnd(runId, output))
  }

  override handleChainError(error: unknown, runId: string): Heard {
    // A command for the graph around is thrown, too.
    if (isParentCommand(error)) return this.#tell(() => this.#chainEnd(runId, error.command))
    return this.#failed(runId, error)
  }

  override handleChatModelStart(...args: Method<'handleChatModelStart'>): Heard {
    const [, , runId, parentRunId, , tags = [], metadata = {}] = args
    return this.#tell(() => ({
      type: 'model-start',
      runId,
      parentRunId: this.#runs.open(runId, parentRunId, { kind: 'model' }),
      provider: textOf(metadata.ls_provider),
      model: textOf(metadata.ls_model_name),
      isHidden: isSilent(tags),
    }))
  }

  override handleLLMStart(...[llm, , ...rest]: Method<'handleLLMStart'>): Heard {
    return this.handleChatModelStart(llm, [], ...rest)
  }

  // For every chunk: nothing here can fail, and it costs next to nothing.
  override handleLLMNewToken(...[token, , runId, , , fields]: Method<'handleLLMNewToken'>): Heard {
    return this.#put({ type: 'model-chunk', runId, message: messageOf(token, fields?.chunk) })
  }

  override handleLLMEnd(output: LLMResult, runId: string): Heard {
    return this.#tell(() => {
      this.#runs.close(runId)
      return { type: 'model-end', runId, message: answerOf(output) }
    })
  }

  override handleLLMError(error: unknown, runId: string): Heard {
    return this.#failed(runId, error)
  }

  override handleToolStart(...args: Method<'handleToolStart'>): Heard {
    const [serialized, input, runId, parentRunId, , , name, toolCallId] = args
    return this.#tell(() => ({
      type: 'tool-start',
      runId,
      parentRunId: this.#runs.open(runId, parentRunId, { kind: 'tool' }),
      name: name ?? toolName(serialized),
      input: toolInput(input),
      toolCallId,
    }))
  }

  override handleToolEvent(chunk: unknown, runId: string): Heard {
    return this.#put({ type: 'tool-output', runId, chunk })
  }

  override handleToolEnd(output: unknown, runId: string): Heard {
    return this.#tell(() => {
      this.#runs.close(runId)
      return { type: 'tool-end', runId, output }
    })
  }

  override handleToolError(error: unknown, runId: string): Heard {
    return isParentCommand(error) ? this.handleToolEnd(error.command, runId) : this.#failed(runId, error)
  }

  override handleCustomEvent(name: string, value: unknown, runId: string | undefined): Heard {
    return this.#put({ type: 'custom', name, value, runId: this.#runs.shown(runId) })
  }

  #chain(start: ChainStart): GraphEvent | undefined {
    const { runId, parentRunId, input, name = unnamedGraph } = start
    if (isGraph(start)) return this.#graph(start)
    if (isHidden(start) || !isNode(start)) {
      this.#runs.pass(runId, parentRunId)
      return undefined
    }
    const around = this.#runs.open(runId, parentRunId, { kind: 'node', input, name })
    return { type: 'node-start', runId, parentRunId: around, node: name }
  }

  #graph(start: ChainStart): GraphEvent | undefined {
    const { runId, parentRunId, input, name = unnamedGraph } = start
    if (this.#rootId === undefined) {
      this.#rootId = runId
      return undefined
    }
    const node = this.#runs.get(parentRunId)
    // Nothing else tells a graph that is the node from one that its code calls: it gets what the node has got.
    const isItself = isNode(start) || (node?.kind === 'node' && node.input === input)
    const around = this.#runs.open(runId, parentRunId, { kind: 'graph' })
    const shownName = isItself && name === unnamedGraph ? (node?.name ?? name) : name
    return { type: 'graph-start', runId, parentRunId: around, name: shownName, isNode: isItself }
  }

  #chainEnd(runId: string, output: unknown): GraphEvent | undefined {
    const kind = this.#close(runId)
    if (kind === 'graph') return { type: 'graph-end', runId }
    return kind === undefined ? undefined : { type: 'node-end', runId, output }
  }

  #failed(runId: string, error: unknown): Heard {
    return this.#tell(() => {
      const kind = this.#close(runId)
      return kind && { type: errorTypes[kind], runId, error, isInterrupt: isGraphInterrupt(error) }
    })
  }

  #close(runId: string): RunKind | undefined {
    if (runId === this.#rootId) {
      this.#isOver = true
      this.#onOver?.()
    }
    return this.#runs.close(runId)?.kind
  }

  /** LangChain would only warn of an error, on the console. */
  #tell(event: () => GraphEvent | undefined): Heard {
    try {
      const told = event()
      return told && this.#put(told)
    } catch (error) {
      this.#report(`An event of LangGraph could not be read: ${String(error)}`)
      return undefined
    }
  }
}

const errorTypes = {
  node: 'node-error',
  graph: 'graph-error',
  model: 'model-error',
  tool: 'tool-error',
} as const satisfies Record<RunKind, GraphEvent['type']>
