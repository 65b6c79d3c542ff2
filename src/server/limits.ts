/** What a server takes, and for how long. */
export interface Limits {
  /** Bytes of a request body. Default 10 MiB. */
  readonly bodyBytes: number
  /** How long a client may take to send its body, in milliseconds. Default 30 s. */
  readonly bodyTimeoutMs: number
  /** Messages in one request. Default 10,000. */
  readonly messages: number
  /** Tools a client may offer. Default 256. */
  readonly tools: number
  /** How deeply JSON may be nested. Default 64. */
  readonly jsonDepth: number
  /** Characters of an id: thread, run, message, tool call. Default 256. */
  readonly idLength: number
  /** Runs at work in this process. Those that wait for a person are not at work. Default 1000. */
  readonly runs: number
  /** Runs at work for one user. Default 100. */
  readonly runsPerUser: number
  /** How long a run may take, in milliseconds, whether it is chatty or silent. Default 10 minutes. */
  readonly runTimeoutMs: number
  /** How long a tool may take that has no limit of its own, in milliseconds. Default 5 minutes. */
  readonly toolTimeoutMs: number
  /** How long a hook may take, in milliseconds. Then it has failed. Default 30 s. */
  readonly hookTimeoutMs: number
  /** How long to wait for a busy thread with `whenBusy: 'wait'`, in milliseconds. Default 30 s. */
  readonly waitMs: number
  /** How long a run may take to come to where `whenBusy: 'preempt'` stops it, in milliseconds. Default 10 s. */
  readonly preemptMs: number
  /** Events that are kept at hand for clients that are slow; those further behind read the log. Default 1 MiB. */
  readonly bufferBytes: number
  /** A client that takes nothing for so long is dropped and may reconnect. The run goes on. Default 30 s. */
  readonly stallMs: number
  /** How often a silent stream is kept alive, in milliseconds. Default 15 s. */
  readonly heartbeatMs: number
  /** How long a thread is leased, in milliseconds. Renewed at a third of it. Default 15 s. */
  readonly leaseMs: number
}

export const defaultLimits: Limits = {
  bodyBytes: 10 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  messages: 10_000,
  tools: 256,
  jsonDepth: 64,
  idLength: 256,
  runs: 1000,
  runsPerUser: 100,
  runTimeoutMs: 600_000,
  toolTimeoutMs: 300_000,
  hookTimeoutMs: 30_000,
  waitMs: 30_000,
  preemptMs: 10_000,
  bufferBytes: 1024 * 1024,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  leaseMs: 15_000,
}
