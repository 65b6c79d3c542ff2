export interface LintRuleInfo {
  /**
   * The part that finds violations: `client` rules repeat what `@ag-ui/client` itself rejects or warns about, `stream` rules look at
   * the events beyond that, `endpoint` rules look at the HTTP exchange.
   */
  readonly scope: 'client' | 'stream' | 'endpoint'
  /** One line that says what a correct producer does. */
  readonly text: string
}

/** Every rule of the linter, for documentation and command-line listings. */
export const lintRules = {
  'event-object': { scope: 'client', text: 'Every event is a JSON object with a non-empty string `type`.' },
  'client-schema': { scope: 'client', text: 'Every known field has a value the 1.0 schema allows.' },
  'client-verify': {
    scope: 'client',
    text: 'Runs, messages, calls, steps and subagents open and close in order.',
  },
  'client-warning': {
    scope: 'client',
    text: 'No event makes a client warn, translate, strip or ignore anything.',
  },

  'null-field': { scope: 'stream', text: 'An optional field without a value is left out, never null.' },
  'empty-delta': {
    scope: 'stream',
    text: 'A content event carries some text, some metadata or a raw event.',
  },
  'reserved-metadata': { scope: 'stream', text: 'The metadata key `ag-ui` belongs to the protocol.' },
  'terminal-missing': { scope: 'stream', text: 'The stream ends with RUN_FINISHED or RUN_ERROR.' },
  'second-terminal': { scope: 'stream', text: 'A run ends once: no RUN_ERROR after RUN_FINISHED.' },
  'cancelled-with-result': { scope: 'stream', text: 'A cancelled run carries no result.' },
  'run-id': {
    scope: 'stream',
    text: 'RUN_FINISHED repeats the run id; the last run has the id of the input.',
  },
  'thread-id': { scope: 'stream', text: 'Every run of a stream is on the thread of the input.' },
  'protocol-version': {
    scope: 'stream',
    text: 'RUN_STARTED names a 1.x version to a client that named one.',
  },
  'version-gate': {
    scope: 'stream',
    text: 'A client that named no version gets no shape that is new in 1.0.',
  },
  'usage-sums': {
    scope: 'stream',
    text: 'Token counts add up: total is input plus output, parts fit in them.',
  },
  'interrupt-ids': {
    scope: 'stream',
    text: 'Interrupt ids are unique in a run; suspended subagents name only them.',
  },
  'interrupt-call': {
    scope: 'stream',
    text: 'An interrupt names a tool call that exists; one that asks for approval, a call without result.',
  },
  'interrupt-on-client-tool': {
    scope: 'stream',
    text: 'A call to a client tool is left pending, not interrupted.',
  },
  'suspended-subagent': {
    scope: 'stream',
    text: 'A subagent is suspended exactly when the run ends in its interrupt.',
  },
  'subagent-closed': {
    scope: 'stream',
    text: 'No event is tagged with a subagent that has ended in this run.',
  },
  'pending-tool-calls': {
    scope: 'stream',
    text: 'A success names the calls of the run without result, in order.',
  },
  'result-without-call': { scope: 'stream', text: 'A tool result answers a call the client knows.' },
  'duplicate-result': { scope: 'stream', text: 'A tool call gets one result.' },
  'client-tool-result': { scope: 'stream', text: 'Only the client answers a call to one of its own tools.' },
  'snapshot-ids': {
    scope: 'stream',
    text: 'A messages snapshot has the ids the run has streamed so far, except of rejected messages.',
  },
  'history-restated': {
    scope: 'stream',
    text: 'A run that rejects or rewrites messages ends with a snapshot of those that count.',
  },
  'message-id-reuse': { scope: 'stream', text: 'A message id names one message of one role.' },
  'replayed-item': { scope: 'stream', text: 'A message or call of an earlier run is not streamed again.' },
  'state-delta': { scope: 'stream', text: 'A state delta applies to the state the client holds.' },
  'activity-delta': { scope: 'stream', text: 'An activity delta applies to an activity the client holds.' },
  'encrypted-value': {
    scope: 'stream',
    text: 'An encrypted value names a message or call the client holds.',
  },

  'http-unreachable': { scope: 'endpoint', text: 'The endpoint answers the request.' },
  'http-status': { scope: 'endpoint', text: 'A valid input is answered with a 2xx status.' },
  'http-timeout': { scope: 'endpoint', text: 'The run ends within the time allowed.' },
  'connection-lost': { scope: 'endpoint', text: 'The body is ended by the server, never torn down.' },
  'content-type': { scope: 'endpoint', text: 'The response is `text/event-stream`.' },
  'content-encoding': {
    scope: 'endpoint',
    text: 'The stream is not compressed, so that nothing buffers it.',
  },
  'empty-body': { scope: 'endpoint', text: 'The body carries events.' },
  'line-endings': { scope: 'endpoint', text: 'Lines end in LF; clients split frames on two LFs only.' },
  'frame-json': { scope: 'endpoint', text: 'The data of every frame is one JSON document.' },
  'frame-size': { scope: 'endpoint', text: 'A frame has at most 10 Mi characters.' },
  'stream-not-closed': { scope: 'endpoint', text: 'The body closes right after the terminal event.' },
} as const satisfies Record<string, LintRuleInfo>

/** The name of a rule. */
export type LintRule = keyof typeof lintRules

/** One thing a producer did wrong. */
export interface Violation {
  readonly rule: LintRule
  /** One sentence that says what is wrong. */
  readonly message: string
  /** Index of the event at fault, from 0; undefined when no single event is. */
  readonly index: number | undefined
}
