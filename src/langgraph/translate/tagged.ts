/** The tag of a span's events, to be spread into them. */
export function tagged(span: string | undefined): { subagentRunId?: string } {
  return span === undefined ? {} : { subagentRunId: span }
}
