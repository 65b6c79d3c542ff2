import { contentToText, type ContentPart } from '@ag-ui/core'
import { randomIds, type IdSource } from '../../core/ids.js'
import type { Middleware } from '../chat/middleware.js'
import { checkNumber } from '../check-number.js'
import type { Tool } from '../contract.js'
import { defineTool } from '../tools/define-tool.js'
import { contentResult, toResultContent } from '../tools/tool-result.js'
import { sliceWhole, wholeIndex } from './slice-text.js'

export interface OffloadResultsOptions {
  /** The longest text of a result that goes to the model unchanged. Default 50,000 characters. */
  readonly maxChars?: number
  /** The characters of a longer result that the model sees at once, half of them from its end. Default 4,000. */
  readonly previewChars?: number
  /** Keeps the whole texts. Default: in memory, so that they are lost when the process ends. */
  readonly store?: ResultStore
  readonly newId?: IdSource
}

/** Keeps large tool results. Keys cannot be guessed and have no slashes; each is put once. */
export interface ResultStore {
  put(key: string, text: string): Promise<void>
  /** Undefined if the key is unknown or its text was dropped. */
  get(key: string): Promise<string | undefined>
}

/**
 * Keeps large tool results out of the conversation. The whole text goes into a store; the model, and the client, get
 * its beginning and end, and a key with which the agent's tool `read_result` reads the rest.
 *
 * Media stay in the result. Results of `returnDirectly` tools stay whole, since no model reads them.
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
      if (call.tool.returnDirectly === true || call.tool.name === toolName) return result
      const content = toResultContent(result, call.tool.name)
      const text = contentToText(content)
      if (text.length <= maxChars) return result
      // Call ids alone can be guessed, and repeat in other threads.
      const key = newId(encodeURIComponent(call.toolCallId))
      await store.put(key, text)
      return replaceText(content, previewText(text, { key, previewChars }))
    },
  }
}

const toolName = 'read_result'

function previewText(text: string, { key, previewChars }: { key: string; previewChars: number }): string {
  const half = Math.floor(previewChars / 2)
  return [
    `This result has ${text.length} characters, which is too much to show. It is stored under the key ${key}.`,
    `Read more of it with the tool ${toolName}. Here are its beginning and its end.`,
    `<beginning>\n${sliceWhole(text, 0, previewChars - half)}\n</beginning>`,
    `<end>\n${sliceWhole(text, text.length - half)}\n</end>`,
  ].join('\n')
}

/** Puts the text in the position of the first text, and keeps all media in theirs. */
function replaceText(content: string | readonly ContentPart[], text: string): unknown {
  if (typeof content === 'string') return text
  const first = content.findIndex(({ type }) => type === 'text')
  return contentResult(
    content.flatMap((part, index): ContentPart[] => {
      if (part.type !== 'text') return [part]
      return index === first ? [{ type: 'text', text }] : []
    }),
  )
}

interface ReadResultArgs {
  readonly key: string
  readonly offset?: number
  readonly limit?: number
}

/** Reads stored results, at most `maxChars` characters at a time. */
function readResultTool(store: ResultStore, maxChars: number): Tool {
  const pageChars = Math.min(10_000, maxChars)
  return defineTool<ReadResultArgs>({
    name: toolName,
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
          description: `How many characters to read: ${pageChars} unless given, ${maxChars} at most.`,
        },
      },
      required: ['key'],
      additionalProperties: false,
    },
    async execute({ key, offset = 0, limit = pageChars }) {
      const text = await store.get(key)
      if (text === undefined)
        return `There is no result with the key ${key}. It may have been dropped; call the tool again.`
      return readRange(text, offset, Math.min(limit, maxChars))
    },
  })
}

function readRange(text: string, offset: number, limit: number): string {
  const end = wholeIndex(text, Math.min(offset + limit, text.length))
  if (offset >= text.length) return `The result ends at character ${text.length}.`
  const rest = end < text.length ? `go on with offset ${end}` : 'this is the end'
  return `${sliceWhole(text, offset, end)}\n[characters ${offset} to ${end} of ${text.length}; ${rest}]`
}

export interface MemoryResultStoreOptions {
  /** The characters it holds in all. Default 20,000,000, which is 40 MB at most. */
  readonly maxChars?: number
}

/** Keeps results until the process ends, or until they are too many: the oldest go first, the newest always stays. */
export function memoryResultStore({ maxChars = 20_000_000 }: MemoryResultStoreOptions = {}): ResultStore {
  checkNumber('maxChars', maxChars)
  const texts = new Map<string, string>()
  let size = 0

  function drop(key: string): void {
    size -= texts.get(key)?.length ?? 0
    texts.delete(key)
  }

  return {
    put(key, text) {
      drop(key)
      // A map iterates in insertion order.
      for (const oldest of texts.keys()) {
        if (size + text.length <= maxChars) break
        drop(oldest)
      }
      texts.set(key, text)
      size += text.length
      return Promise.resolve()
    },
    get: (key) => Promise.resolve(texts.get(key)),
  }
}
