/** The calls by which ADK asks a person. Names of ADK, here so that pure code need not import it. */
export const requestNames = {
  confirmation: 'adk_request_confirmation',
  input: 'adk_request_input',
  credential: 'adk_request_credential',
} as const

/** Whether a call, or the answer to it, is one of ADK's own questions. */
export function isRequestName(name: string | undefined): boolean {
  return Object.values(requestNames).some((known) => known === name)
}
