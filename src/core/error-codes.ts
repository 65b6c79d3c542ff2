/** The meaning of one error code. `docs/errors.md` is this table in prose; a test compares them. */
export interface ErrorCodeInfo {
  /** HTTP status when the error ends a request before any stream has begun. */
  readonly status: number
  /** Whether clients may see the error's own message. Otherwise they get the code's sentence of `errorTexts`. */
  readonly expose: boolean
}

export const errorCodes = {
  INVALID_INPUT: { status: 400, expose: true },
  UNSUPPORTED_PROTOCOL: { status: 400, expose: true },
  AGENT_ERROR: { status: 500, expose: false },
  MODEL_ERROR: { status: 502, expose: false },
  TOOL_ERROR: { status: 500, expose: false },
  INVALID_TOOL_ARGUMENTS: { status: 500, expose: false },
  MAX_RETRIES_EXCEEDED: { status: 502, expose: true },
  MAX_ITERATIONS: { status: 500, expose: true },
  INVALID_OPTIONS: { status: 500, expose: false },
  INVALID_AGENT: { status: 500, expose: false },
  INVALID_RESUME: { status: 400, expose: true },
  INVALID_CHECKPOINT: { status: 409, expose: false },
  INVALID_EVENT: { status: 500, expose: false },
  INVALID_INTERRUPT: { status: 500, expose: false },
  ENCODING_ERROR: { status: 500, expose: false },
  RUN_CANCELLED: { status: 499, expose: true },
  RUN_CLOSED: { status: 500, expose: false },
  INVALID_JSON: { status: 400, expose: true },
  INVALID_PATCH: { status: 422, expose: true },
  PATCH_CONFLICT: { status: 409, expose: true },
  UNAUTHENTICATED: { status: 401, expose: true },
  FORBIDDEN: { status: 403, expose: true },
  FORBIDDEN_HOST: { status: 403, expose: true },
  NOT_FOUND: { status: 404, expose: true },
  AGENT_NOT_FOUND: { status: 404, expose: true },
  THREAD_NOT_FOUND: { status: 404, expose: true },
  RUN_NOT_FOUND: { status: 404, expose: true },
  METHOD_NOT_ALLOWED: { status: 405, expose: true },
  PAYLOAD_TOO_LARGE: { status: 413, expose: true },
  THREAD_FULL: { status: 413, expose: true },
  STATE_TOO_LARGE: { status: 413, expose: true },
  EVENT_TOO_LARGE: { status: 500, expose: true },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, expose: true },
  THREAD_IS_LOCKED: { status: 409, expose: true },
  TOO_MANY_RUNS: { status: 429, expose: true },
  RATE_LIMITED: { status: 429, expose: true },
  TOO_MANY_STREAMS: { status: 429, expose: true },
  TOO_MANY_BYTES: { status: 429, expose: true },
  IDENTIFY_TIMEOUT: { status: 503, expose: true },
  NO_TOOL_RESULTS: { status: 400, expose: true },
  EXECUTION_TIMEOUT: { status: 504, expose: true },
  BACKGROUND_EXECUTION_ERROR: { status: 500, expose: false },
  HOOK_ERROR: { status: 500, expose: false },
  RUN_LOST: { status: 500, expose: true },
  SERVER_CLOSING: { status: 503, expose: true },
  STORE_ERROR: { status: 503, expose: false },
  VERSION_CONFLICT: { status: 409, expose: false },
  LEASE_LOST: { status: 409, expose: false },
  NETWORK_ERROR: { status: 503, expose: true },
  INTERNAL_ERROR: { status: 500, expose: false },
} as const satisfies Record<string, ErrorCodeInfo>

export type ErrorCode = keyof typeof errorCodes
