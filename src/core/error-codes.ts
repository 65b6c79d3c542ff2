/** The meaning of one error code. `docs/errors.md` is this table in prose; a test compares them. */
export interface ErrorCodeInfo {
  /** HTTP status when the error ends a request before any stream has begun. */
  readonly status: number
  /** Whether clients may see the error's own message. Otherwise they get `text`. */
  readonly expose: boolean
  /** The neutral sentence that crosses the wire when the message itself may not. */
  readonly text: string
}

export const errorCodes = {
  INVALID_INPUT: { status: 400, expose: true, text: 'The request is not a valid AG-UI run input.' },
  UNSUPPORTED_PROTOCOL: { status: 400, expose: true, text: 'The protocol version is not supported.' },
  AGENT_ERROR: { status: 500, expose: false, text: 'The agent failed.' },
  MODEL_ERROR: { status: 502, expose: false, text: 'The model could not be reached or refused.' },
  TOOL_ERROR: { status: 500, expose: false, text: 'A tool failed.' },
  INVALID_TOOL_ARGUMENTS: { status: 500, expose: false, text: 'A tool was called with invalid arguments.' },
  MAX_RETRIES_EXCEEDED: {
    status: 502,
    expose: true,
    text: 'The agent failed, and so did every new attempt.',
  },
  MAX_ITERATIONS: { status: 500, expose: true, text: 'The agent did not finish within its number of steps.' },
  INVALID_OPTIONS: { status: 500, expose: false, text: 'The server is not set up correctly.' },
  INVALID_AGENT: { status: 500, expose: false, text: 'The agent is not set up correctly.' },
  INVALID_RESUME: { status: 400, expose: true, text: 'The answers do not fit the open interrupts.' },
  INVALID_CHECKPOINT: { status: 409, expose: false, text: 'The saved run cannot be continued.' },
  INVALID_EVENT: { status: 500, expose: false, text: 'The agent produced an invalid event.' },
  INVALID_INTERRUPT: { status: 500, expose: false, text: 'The agent produced an invalid interrupt.' },
  ENCODING_ERROR: { status: 500, expose: false, text: 'The agent produced a value that is not JSON.' },
  RUN_CANCELLED: { status: 499, expose: true, text: 'The run was cancelled.' },
  RUN_CLOSED: { status: 500, expose: false, text: 'The run has already ended.' },
  INVALID_JSON: { status: 400, expose: true, text: 'The body is not JSON.' },
  INVALID_PATCH: { status: 422, expose: true, text: 'The patch is not valid.' },
  PATCH_CONFLICT: { status: 409, expose: true, text: 'The patch does not fit the state.' },
  UNAUTHENTICATED: { status: 401, expose: true, text: 'The user is not known.' },
  FORBIDDEN_HOST: { status: 403, expose: true, text: 'This host name is not served.' },
  NOT_FOUND: { status: 404, expose: true, text: 'There is nothing at this address.' },
  AGENT_NOT_FOUND: { status: 404, expose: true, text: 'There is no such agent.' },
  THREAD_NOT_FOUND: { status: 404, expose: true, text: 'There is no such thread.' },
  RUN_NOT_FOUND: { status: 404, expose: true, text: 'There is no such run.' },
  METHOD_NOT_ALLOWED: { status: 405, expose: true, text: 'This method is not served here.' },
  PAYLOAD_TOO_LARGE: { status: 413, expose: true, text: 'The request is too large.' },
  THREAD_FULL: { status: 413, expose: true, text: 'The thread takes no more messages.' },
  STATE_TOO_LARGE: { status: 413, expose: true, text: 'The state of the thread is too large.' },
  EVENT_TOO_LARGE: { status: 500, expose: true, text: 'The agent produced an event that is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, expose: true, text: 'The body must be JSON.' },
  THREAD_IS_LOCKED: { status: 409, expose: true, text: 'Another run is live on this thread.' },
  TOO_MANY_RUNS: { status: 429, expose: true, text: 'Too many runs are live.' },
  RATE_LIMITED: { status: 429, expose: true, text: 'Too many requests were sent.' },
  TOO_MANY_STREAMS: { status: 429, expose: true, text: 'Too many streams are open.' },
  TOO_MANY_BYTES: { status: 429, expose: true, text: 'Too many request bodies are on their way.' },
  IDENTIFY_TIMEOUT: { status: 503, expose: true, text: 'The user could not be identified in time.' },
  NO_TOOL_RESULTS: { status: 400, expose: true, text: 'The tool result answers no call of this thread.' },
  EXECUTION_TIMEOUT: { status: 504, expose: true, text: 'The run took too long.' },
  BACKGROUND_EXECUTION_ERROR: { status: 500, expose: false, text: 'The run broke down.' },
  HOOK_ERROR: { status: 500, expose: false, text: 'The server could not process the run.' },
  RUN_LOST: { status: 500, expose: true, text: 'The run was lost: its process has ended.' },
  SERVER_CLOSING: { status: 503, expose: true, text: 'The server is shutting down.' },
  STORE_ERROR: { status: 503, expose: false, text: 'The thread store cannot be used.' },
  VERSION_CONFLICT: { status: 409, expose: false, text: 'The thread has changed meanwhile.' },
  LEASE_LOST: { status: 409, expose: false, text: 'The thread was taken over by another process.' },
  NETWORK_ERROR: { status: 503, expose: true, text: 'The server cannot be reached.' },
  INTERNAL_ERROR: { status: 500, expose: false, text: 'The server failed.' },
} as const satisfies Record<string, ErrorCodeInfo>

export type ErrorCode = keyof typeof errorCodes
