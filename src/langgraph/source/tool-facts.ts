import { isRecord } from '../../core/is-record.js'

/** The name of a tool that is a class of its own: LangChain tells it only by that class. */
export function toolName(serialized: unknown): string {
  const { name, id } = isRecord(serialized) ? serialized : {}
  if (typeof name === 'string') return name
  const last: unknown = Array.isArray(id) ? id.at(-1) : undefined
  return typeof last === 'string' ? last : 'tool'
}

/** What a tool gets, as JSON. LangChain gives records as JSON, but a text as it is. */
export function toolInput(input: string): string {
  try {
    JSON.parse(input)
    return input
  } catch {
    return JSON.stringify(input)
  }
}
