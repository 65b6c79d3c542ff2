/** Where the bytes of one response go. */
export interface Sink {
  /** False when there is no room for more now: then wait for `drained`. */
  write(chunk: string | Uint8Array): boolean
  /** Resolves when there is room again, or the client is gone. */
  drained(): Promise<void>
  /** Ends the response as it should end. */
  end(): void
  /** Breaks the connection off: the last resort for a client that takes nothing. */
  destroy(): void
  /** Aborts when the client goes away before the end. */
  readonly gone: Departure
}

/** Tells of the client that goes away. Every AbortSignal is one, but takes a kilobyte, of every stream. */
export interface Departure {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
