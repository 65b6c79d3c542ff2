import type { ContentPart } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'

/** The text of a message's content, which is a text or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: unknown) => blockText(block) ?? '').join('')
}

/** The text of a block that is one. */
export function blockText(block: unknown): string | undefined {
  if (typeof block === 'string') return block
  if (!isRecord(block)) return undefined
  const { type, text } = block
  const isText = type === 'text' || type === 'text_delta' || type === 'output_text'
  return isText && typeof text === 'string' ? text : undefined
}

/** What a tool gave as the content of its result: a text, or parts when there is more than text in it. */
export function resultContent(content: unknown, toText: (value: unknown) => string): string | ContentPart[] {
  if (!Array.isArray(content)) return toText(content ?? '')
  const blocks: readonly unknown[] = content
  if (blocks.length > 0 && blocks.every((block) => blockText(block) !== undefined)) return textOf(blocks)
  const parts = blocks.map(toPart)
  if (!parts.some((part) => part !== undefined && part.type !== 'text')) return toText(content)
  return parts.map((part, index) => part ?? { type: 'text' as const, text: toText(blocks[index]) })
}

/** What is not text in the answer of a model: an image, for example. */
export function mediaPart(block: unknown): Exclude<ContentPart, { type: 'text' }> | undefined {
  const part = isRecord(block) ? toPart(block) : undefined
  return part?.type === 'text' ? undefined : part
}

const media = new Set<unknown>(['image', 'audio', 'video'])

function toPart(block: unknown): ContentPart | undefined {
  const text = blockText(block)
  if (text !== undefined) return { type: 'text', text }
  if (!isRecord(block)) return undefined
  if (block.type === 'image_url') {
    const url = isRecord(block.image_url) ? block.image_url.url : block.image_url
    return typeof url === 'string' ? { type: 'image', source: sourceOf(url) } : undefined
  }
  // As Gemini's client gives what a model has made.
  if (isRecord(block.inlineData)) return toPart({ ...block.inlineData, type: kindOf(block.inlineData) })
  const type = block.type === 'file' ? 'document' : media.has(block.type) ? block.type : undefined
  const source = type === undefined ? undefined : blockSource(block)
  return source && { type: type as 'image' | 'audio' | 'video' | 'document', source }
}

function kindOf({ mimeType }: Record<string, unknown>): unknown {
  const [kind] = typeof mimeType === 'string' ? mimeType.split('/') : []
  return media.has(kind) ? kind : 'file'
}

type Source = { type: 'url'; value: string } | { type: 'data'; value: string; mimeType: string }

/** Blocks of LangChain 1 (`data`, `mimeType`) and of those before (`source_type`, `mime_type`). */
function blockSource({
  url,
  data,
  mimeType,
  mime_type: oldType,
}: Record<string, unknown>): Source | undefined {
  const type = mimeType ?? oldType
  if (typeof url === 'string') return sourceOf(url)
  if (typeof data !== 'string' || typeof type !== 'string') return undefined
  return { type: 'data', value: data, mimeType: type }
}

function sourceOf(url: string): Source {
  const [, mimeType, value] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (mimeType === undefined || value === undefined) return { type: 'url', value: url }
  return { type: 'data', value, mimeType }
}
