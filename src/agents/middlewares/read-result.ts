import { defineTool } from '../tools/define-tool.js'
import type { Tool } from '../contract.js'
import type { ResultStore } from './result-store.js'
import { sliceWhole, wholeIndex } from './whole-characters.js'

export const readResultName = 'read_result'

const defaultPage = 10_000

interface ReadResultArgs {
  readonly key: string
  readonly offset?: number
  readonly limit?: number
}

/** The tool that reads stored results, at most `maxChars` characters at a time. */
export function readResultTool(store: ResultStore, maxChars: number): Tool {
  const page = Math.min(defaultPage, maxChars)
  return defineTool<ReadResultArgs>({
    name: readResultName,
    description: 'Reads a part of a tool result that was too large to show.',
    parameters: {
      type: 'object',
      properties: {
        key: { type: 'string', description: 'The key that was given in place of the result.' },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'How many characters to skip from the beginning: 0 unless given.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          description: `How many characters to read: ${page} unless given, ${maxChars} at most.`,
        },
      },
      required: ['key'],
      additionalProperties: false,
    },
    async execute({ key, offset = 0, limit = page }) {
      const text = await store.get(key)
      if (text === undefined)
        return `There is no result with the key ${key}. It may have been dropped; call the tool again.`
      return readPage(text, offset, Math.min(limit, maxChars))
    },
  })
}

function readPage(text: string, offset: number, limit: number): string {
  const end = wholeIndex(text, Math.min(offset + limit, text.length))
  if (offset >= text.length) return `The result ends at character ${text.length}.`
  const rest = end < text.length ? `go on with offset ${end}` : 'this is the end'
  return `${sliceWhole(text, offset, end)}\n[characters ${offset} to ${end} of ${text.length}; ${rest}]`
}
