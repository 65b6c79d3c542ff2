import { BaseTool, type BaseToolParams } from '@google/adk'
import type { Schema } from './merge-schemas.js'

type Declaration = NonNullable<ReturnType<BaseTool['_getDeclaration']>>

/** A tool that the client runs: a call to it ends the run, and its result comes with a later one. */
export class ClientTool extends BaseTool {
  readonly #parameters: Schema

  constructor(tool: Pick<BaseToolParams, 'name' | 'description'> & { readonly parameters: Schema }) {
    super({ name: tool.name, description: tool.description, isLongRunning: true })
    this.#parameters = tool.parameters
  }

  override _getDeclaration(): Declaration {
    return { name: this.name, description: this.description, parametersJsonSchema: this.#parameters }
  }

  /** Gives nothing: then the call of a long-running tool stays open, and the run ends. */
  override runAsync(): Promise<null> {
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
