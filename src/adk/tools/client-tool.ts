import { BaseTool, type BaseToolParams, type RunAsyncToolRequest } from '@google/adk'
import type { Schema } from './merge-schemas.js'

type Declaration = NonNullable<ReturnType<BaseTool['_getDeclaration']>>

/** A tool that the client runs: a call to it ends the run, and its result comes with a later one. */
export class ClientTool extends BaseTool {
  readonly #parameters: Schema
  readonly #onPause: (request: RunAsyncToolRequest) => void

  constructor(
    tool: Pick<BaseToolParams, 'name' | 'description'> & { readonly parameters: Schema },
    onPause: (request: RunAsyncToolRequest) => void,
  ) {
    super({ name: tool.name, description: tool.description, isLongRunning: true })
    this.#parameters = tool.parameters
    this.#onPause = onPause
  }

  override _getDeclaration(): Declaration {
    return { name: this.name, description: this.description, parametersJsonSchema: this.#parameters }
  }

  override runAsync(request: RunAsyncToolRequest): Promise<null> {
    this.#onPause(request)
    // Nothing: ADK leaves the call of a long-running tool open then.
    return Promise.resolve(null)
  }
}

/** Answers calls of a tool that does not exist. ADK leaves them without an answer, and models try again. */
export class UnknownTool extends BaseTool {
  constructor(name: string) {
    super({ name, description: '' })
  }

  override runAsync(): Promise<{ readonly error: string }> {
    return Promise.resolve({ error: `There is no tool named "${this.name}".` })
  }
}
