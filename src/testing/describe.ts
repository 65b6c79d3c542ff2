import { z } from 'zod'

// Structural, because the client brings its own copy of zod.
const issuesSchema = z.object({
  issues: z.array(z.object({ path: z.array(z.unknown()), message: z.string() })).min(1),
})

/** One line about any thrown value; validation errors name the fields at fault. */
export function describeError(error: unknown): string {
  const validation = issuesSchema.safeParse(error)
  if (validation.success) {
    return validation.data.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll('\n', ' ')
}

const MAX_LENGTH = 300

/** Any value as one short line. */
export function describeValue(value: unknown): string {
  const text = toText(value)
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

function toText(value: unknown): string {
  try {
    // Undefined, functions and symbols have no JSON, whatever the declared type says.
    const json = JSON.stringify(value) as string | undefined
    return json ?? String(value)
  } catch {
    // A cycle or a bigint: there is no JSON to show.
    return Object.prototype.toString.call(value)
  }
}
