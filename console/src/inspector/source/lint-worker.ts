import { lintEvents, type LintOptions } from 'millrace/testing'

/** What the linter is asked in its own thread: long streams take it seconds. */
export interface LintQuestion {
  readonly events: readonly unknown[]
  readonly options: LintOptions
}

self.onmessage = ({ data }: MessageEvent<LintQuestion>) => {
  try {
    self.postMessage(lintEvents(data.events, data.options))
  } catch {
    // The request itself is none: the stream is judged without it.
    const { input: _, ...options } = data.options
    self.postMessage(lintEvents(data.events, options))
  }
}
