import { MillraceError } from '../../core/errors.js'
import { parseJson } from '../../core/json.js'
import type { JsonSchema } from '../../models/index.js'
import type { RetryPolicy, Verdict, ModelAttempt } from '../retry/retry-policy.js'
import { joinIssues } from '../json-schema/issues.js'
import { toChecker, toJsonSchema, type Schema } from '../tools/schema.js'

/** A final answer that must be JSON of a certain schema. */
export interface Output {
  readonly schema: JsonSchema
  /** The policy, with a check of the schema: rejects an answer that does not fit and tells the model why. */
  checkedBy(policy: RetryPolicy): RetryPolicy
  /** The value of an answer that was accepted. */
  parse(text: string): Promise<unknown>
}

export function createOutput(schema: Schema, agentName: string): Output {
  const what = `The output of agent '${agentName}'`
  const checker = toChecker(schema, what)
  const check = async (text: string): Promise<{ value: unknown } | { problem: string }> => {
    const json = jsonIn(text)
    if (json === undefined) return { problem: 'The answer is not JSON.' }
    const checked = await checker(json)
    if (checked.ok) return { value: checked.value }
    return { problem: joinIssues(checked.issues) }
  }
  return {
    schema: toJsonSchema(schema, what),
    checkedBy: (policy) => ({
      ...policy,
      async verdict(attempt): Promise<Verdict> {
        const verdict = await policy.verdict?.(attempt)
        if (verdict !== undefined && verdict !== 'accept') return verdict
        const { answer } = attempt
        if (!answer || answer.toolCalls.length > 0) return verdict
        const checked = await check(answer.text)
        return 'problem' in checked ? retryWith(attempt, answer.text, checked.problem) : verdict
      },
    }),
    async parse(text) {
      const checked = await check(text)
      if ('value' in checked) return checked.value
      const what = 'The answer does not fit the output schema'
      throw new MillraceError('MODEL_ERROR', `${what}: ${checked.problem}`, { logMessage: `${what}.` })
    },
  }
}

function retryWith({ request }: ModelAttempt, text: string, problem: string): Verdict {
  // Unique in the request, also the second time.
  const id = `rejected-${request.messages.length}`
  return {
    retry: true,
    reason: 'The answer did not have the shape that was asked for.',
    delayMs: 0,
    messages: [
      ...request.messages,
      { id: `${id}-answer`, role: 'assistant', content: text },
      {
        id: `${id}-reason`,
        role: 'user',
        content: `That does not fit: ${problem}. Answer again, with the JSON only.`,
      },
    ],
  }
}

/** The JSON in an answer, alone, in a fence or in the middle of a text. Undefined when there is none. */
function jsonIn(text: string): unknown {
  for (const part of [text, fencedPart(text), bracketedPart(text)]) {
    const json = part === undefined ? undefined : parseJson(part)
    if (json !== undefined) return json
  }
  return undefined
}

// Positions, not regular expressions: those take quadratic time for a text that opens and never closes.
function fencedPart(text: string): string | undefined {
  const [, fenced, ...rest] = text.split('```', 3)
  return rest.length > 0 ? fenced?.replace(/^json/, '') : undefined
}

function bracketedPart(text: string): string | undefined {
  const end = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}')) + 1
  const start = text.search(/[[{]/)
  return start !== -1 && start < end ? text.slice(start, end) : undefined
}
