/** What a code means to the people who meet it. `docs/errors.md` is this table in prose; a test compares them. */
export interface ErrorCodeInfo {
  /** HTTP status when the error ends a request before any stream has begun. */
  readonly status: number
  /** Whether an error's own message may be shown to a client. Otherwise `text` is sent instead. */
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
  MAX_ITERATIONS: { status: 500, expose: true, text: 'The agent did not finish within its number of steps.' },
  INVALID_AGENT: { status: 500, expose: false, text: 'The agent is not set up correctly.' },
  INVALID_RESUME: { status: 400, expose: true, text: 'The answers do not fit the open questions.' },
  INVALID_CHECKPOINT: { status: 409, expose: false, text: 'The saved run cannot be continued.' },
  INVALID_EVENT: { status: 500, expose: false, text: 'The agent produced an invalid event.' },
  INVALID_INTERRUPT: { status: 500, expose: false, text: 'The agent produced an invalid interrupt.' },
  ENCODING_ERROR: { status: 500, expose: false, text: 'The agent produced a value that is not JSON.' },
  RUN_CANCELLED: { status: 499, expose: true, text: 'The run was cancelled.' },
  RUN_CLOSED: { status: 500, expose: false, text: 'The run has already ended.' },
} as const satisfies Record<string, ErrorCodeInfo>

export type ErrorCode = keyof typeof errorCodes
