import { z } from 'zod'

// Structural, because the client brings its own copy of zod.
const issuesSchema = z.object({
  issues: z.array(z.object({ path: z.array(z.unknown()), message: z.string() })).min(1),
})

/** Describes any thrown value in one line; validation errors name the fields at fault. */
export function describeError(error: unknown): string {
  const validation = issuesSchema.safeParse(error)
  if (validation.success) {
    return validation.data.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll('\n', ' ')
}

const maxLength = 300

/** Describes any value in one short line. */
export function describeBriefly(value: unknown): string {
  const text = jsonText(value)
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

function jsonText(value: unknown): string {
  try {
    // Undefined, functions and symbols have no JSON, whatever the declared type says.
    const json = JSON.stringify(value) as string | undefined
    return json ?? String(value)
  } catch {
    // A cycle or a bigint: there is no JSON to show.
    return Object.prototype.toString.call(value)
  }
}
