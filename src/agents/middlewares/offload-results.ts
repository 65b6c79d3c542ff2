import { contentToText, type ContentPart } from '@ag-ui/core'
import { randomIds, type IdSource } from '../../core/ids.js'
import { checkNumber } from '../check-number.js'
import type { Middleware } from '../chat/middleware.js'
import { contentResult, toResultContent } from '../tools/tool-result.js'
import { readResultName, readResultTool } from './read-result.js'
import { memoryResultStore, type ResultStore } from './result-store.js'
import { sliceWhole } from './whole-characters.js'

export interface OffloadResultsOptions {
  /** The longest text of a result that goes to the model as it is: 50,000 characters unless told. */
  readonly maxChars?: number
  /** How much of a longer one the model sees at once, half of it from the end: 4,000 characters unless told. */
  readonly previewChars?: number
  /** Where the whole text goes. Unless told, a `memoryResultStore` of this middleware: gone when the process ends. */
  readonly store?: ResultStore
  readonly newId?: IdSource
}

/**
 * Keeps large tool results out of the conversation. The whole text goes into a store; the model, and the client, get
 * its beginning and end, and a key to read the rest with: the agent gets a tool `read_result` for that.
 *
 * Media stay in the result. Results of `returnDirectly` tools stay whole, since no model sees them.
 *
 * @example
 * const offload = offloadResults({ maxChars: 20_000 })
 * const agent = defineAgent({ name: 'analyst', model, tools: [query], middlewares: [offload] })
 */
export function offloadResults(options: OffloadResultsOptions = {}): Middleware {
  const { maxChars = 50_000, store = memoryResultStore(), newId = randomIds } = options
  const { previewChars = Math.min(4_000, maxChars) } = options
  checkNumber('maxChars', maxChars, { min: 1, isInteger: true })
  checkNumber('previewChars', previewChars, { max: maxChars, isInteger: true })
  const readResult = readResultTool(store, maxChars)
  return {
    onStart: ({ tools }) => ({ tools: [...tools, readResult] }),
    async tool(call, next) {
      const result = await next(call)
      if (call.tool.returnDirectly === true || call.tool.name === readResultName) return result
      const content = toResultContent(result, call.tool.name)
      const text = contentToText(content)
      if (text.length <= maxChars) return result
      // Call ids alone can be guessed, and come again in other threads.
      const key = newId(encodeURIComponent(call.toolCallId))
      await store.put(key, text)
      return withText(content, previewOf(text, { key, previewChars }))
    },
  }
}

function previewOf(text: string, { key, previewChars }: { key: string; previewChars: number }): string {
  const half = Math.floor(previewChars / 2)
  return [
    `This result has ${text.length} characters, which is too much to show. It is stored under the key ${key}.`,
    `Read more of it with the tool ${readResultName}. Here are its beginning and its end.`,
    `<beginning>\n${sliceWhole(text, 0, previewChars - half)}\n</beginning>`,
    `<end>\n${sliceWhole(text, text.length - half)}\n</end>`,
  ].join('\n')
}

/** The same content with another text: in the place of the first text, with all media where they were. */
function withText(content: string | readonly ContentPart[], text: string): unknown {
  if (typeof content === 'string') return text
  const first = content.findIndex(({ type }) => type === 'text')
  return contentResult(
    content.flatMap((part, index): ContentPart[] => {
      if (part.type !== 'text') return [part]
      return index === first ? [{ type: 'text', text }] : []
    }),
  )
}
