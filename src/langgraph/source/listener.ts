/** Marks the handler of a bridge among those of a run. The same one in every copy of the package. */
export const listening = Symbol.for('millrace.langgraph.listener')

/** Hears what the code of a graph has to say. */
export interface Listener {
  readonly [listening]: true
  /** Gives a promise when the reader is behind; it never rejects. */
  handleCustomEvent(name: string, value: unknown, runId: string | undefined): Promise<unknown> | undefined
}
