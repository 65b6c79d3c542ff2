import type { ContentPart } from '@ag-ui/core'
import type { ContentBlock } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'

type MediaPart = Exclude<ContentPart, { type: 'text' }>
type Source = MediaPart['source']

/**
 * AG-UI's parts as LangChain's standard content blocks: give them to a message as `contentBlocks`, so that the clients of
 * all providers know them. A text document becomes a text, which every model can read.
 */
export function blocksOf(parts: readonly ContentPart[]): ContentBlock.Standard[] {
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return textDocument(part) ?? mediaBlock(part)
  })
}

function mediaBlock({ type, source, metadata }: MediaPart): ContentBlock.Standard {
  const block = {
    type: type === 'document' ? 'file' : type,
    ...located(source),
    ...(source.mimeType === undefined ? {} : { mimeType: source.mimeType }),
    ...(isRecord(metadata) ? { metadata } : {}),
  }
  return block as ContentBlock.Multimodal.Standard
}

function located(source: Source): { data: string } | { url: string } | { fileId: string } {
  if (source.type === 'data') return { data: source.value }
  // Google's handles are addresses.
  return source.type === 'url' || isUrl(source.value) ? { url: source.value } : { fileId: source.value }
}

function textDocument({ type, source, metadata }: MediaPart): ContentBlock.Text | undefined {
  if (type !== 'document' || source.type !== 'data' || !source.mimeType.startsWith('text/')) return undefined
  const text = decoded(source.value)
  if (text === undefined) return undefined
  const document = { mimeType: source.mimeType, ...(isRecord(metadata) ? { metadata } : {}) }
  return { type: 'text', text, document }
}

/** Undefined when the bytes are no text, or the base64 is of another style: then it stays as it came. */
function decoded(data: string): string | undefined {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** What people see of a content: its texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: unknown) => (typeof block === 'string' ? block : blockText(block))).join('')
}

function blockText(block: unknown): string {
  if (!isRecord(block) || typeof block.text !== 'string') return ''
  return ['text', 'text_delta', 'output_text', 'input_text', 'text-plain'].includes(String(block.type))
    ? block.text
    : ''
}

/** A content of LangChain as AG-UI has it. Blocks that AG-UI has no part for are left out. */
export function partsOf(content: unknown): string | ContentPart[] {
  if (!Array.isArray(content)) return textOf(content)
  return content.flatMap((block: unknown): ContentPart[] => {
    if (typeof block === 'string') return [{ type: 'text', text: block }]
    if (!isRecord(block)) return []
    const part = documentPart(block) ?? mediaPart(block)
    if (part) return [part]
    const text = blockText(block)
    return text === '' && block.type !== 'text' ? [] : [{ type: 'text', text }]
  })
}

function documentPart({ type, text, document }: Record<string, unknown>): ContentPart | undefined {
  if (type !== 'text' || typeof text !== 'string' || !isRecord(document)) return undefined
  const value = Buffer.from(text).toString('base64')
  const source: Source = { type: 'data', value, ...dataMime(document, mime(document)) }
  return { type: 'document', source, ...(isRecord(document.metadata) ? { metadata: document.metadata } : {}) }
}

const partTypes: Readonly<Record<string, MediaPart['type']>> = {
  image: 'image',
  image_url: 'image',
  input_image: 'image',
  audio: 'audio',
  input_audio: 'audio',
  video: 'video',
  file: 'document',
  document: 'document',
  media: 'document',
}

function mediaPart(block: Record<string, unknown>): ContentPart | undefined {
  const type = partTypes[String(block.type)]
  const source = type && sourceOf(block)
  if (!source) return undefined
  return { type, source, ...(isRecord(block.metadata) ? { metadata: block.metadata } : {}) }
}

/** The standard's blocks, those of its first version, and those of the providers. */
function sourceOf(block: Record<string, unknown>): Source | undefined {
  const inner = [block.source, block.image_url, block.input_audio, block.file].find(isRecord)
  if (inner) return sourceOf(inner)
  const type = mime(block)
  if (typeof block.image_url === 'string') return urlSource(block.image_url, type)
  if (typeof block.data === 'string') return { type: 'data', value: block.data, ...dataMime(block, type) }
  if (typeof block.url === 'string') return urlSource(block.url, type)
  if (typeof block.file_data === 'string') return urlSource(block.file_data, type)
  const handle = block.fileId ?? block.file_id ?? block.fileUri ?? (block.source_type === 'id' && block.id)
  return typeof handle === 'string' ? { type: 'file', value: handle, ...type } : undefined
}

interface Mime {
  mimeType?: string
}

function mime(block: Record<string, unknown>): Mime {
  const value = block.mimeType ?? block.mime_type ?? block.media_type
  return typeof value === 'string' ? { mimeType: value } : {}
}

function dataMime({ format }: Record<string, unknown>, known: Mime): { mimeType: string } {
  const guess = typeof format === 'string' ? `audio/${format}` : 'application/octet-stream'
  return { mimeType: known.mimeType ?? guess }
}

function urlSource(url: string, known: Mime): Source {
  const [, mimeType, value] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (mimeType !== undefined && value !== undefined) return { type: 'data', value, mimeType }
  return { type: 'url', value: url, ...known }
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}
