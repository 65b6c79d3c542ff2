import type { ContentPart } from '@ag-ui/core'
import type { ContentBlock } from '@langchain/core/messages'
import { isRecord } from '../../core/json.js'

export type GraphMediaPart = Exclude<ContentPart, { type: 'text' }>
type MediaSource = GraphMediaPart['source']

/**
 * AG-UI's parts as LangChain's standard content blocks: pass them to a message as `contentBlocks`, so that the clients
 * of all providers understand them. A text document becomes text, which every model can read.
 */
export function toContentBlocks(parts: readonly ContentPart[]): ContentBlock.Standard[] {
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    return textDocumentBlock(part) ?? mediaBlock(part)
  })
}

function mediaBlock({ type, source, metadata }: GraphMediaPart): ContentBlock.Standard {
  const block = {
    type: type === 'document' ? 'file' : type,
    ...blockSource(source),
    ...(source.mimeType === undefined ? {} : { mimeType: source.mimeType }),
    ...(isRecord(metadata) ? { metadata } : {}),
  }
  return block as ContentBlock.Multimodal.Standard
}

function blockSource(source: MediaSource): { data: string } | { url: string } | { fileId: string } {
  if (source.type === 'data') return { data: source.value }
  // Google's file handles are URLs.
  return source.type === 'url' || isUrl(source.value) ? { url: source.value } : { fileId: source.value }
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}

function textDocumentBlock({ type, source, metadata }: GraphMediaPart): ContentBlock.Text | undefined {
  if (type !== 'document' || source.type !== 'data' || !source.mimeType.startsWith('text/')) return undefined
  const text = decodeBase64Text(source.value)
  if (text === undefined) return undefined
  const document = { mimeType: source.mimeType, ...(isRecord(metadata) ? { metadata } : {}) }
  return { type: 'text', text, document }
}

/** Undefined if the bytes are not UTF-8, or if encoding them again results in other base64. */
function decodeBase64Text(data: string): string | undefined {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The text of a LangChain message's content. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block: unknown) => blockText(block) ?? '').join('')
}

const textTypes = new Set<unknown>(['text', 'text_delta', 'output_text', 'input_text', 'text-plain'])

/** The text of a content block. Undefined for a block of another kind. */
export function blockText(block: unknown): string | undefined {
  if (typeof block === 'string') return block
  if (!isRecord(block) || typeof block.text !== 'string') return undefined
  return textTypes.has(block.type) ? block.text : undefined
}

/** The content of a LangChain message as AG-UI content. Blocks that AG-UI has no part for are left out. */
export function toContentParts(content: unknown): string | ContentPart[] {
  if (!Array.isArray(content)) return contentText(content)
  return content.flatMap((block: unknown): ContentPart[] => {
    const part = toDocumentPart(block) ?? blockToMediaPart(block)
    if (part) return [part]
    const text = blockText(block)
    return text === undefined ? [] : [{ type: 'text', text }]
  })
}

function toDocumentPart(block: unknown): ContentPart | undefined {
  if (!isRecord(block) || !isRecord(block.document)) return undefined
  const { type, text, document } = block
  if (type !== 'text' || typeof text !== 'string') return undefined
  const value = Buffer.from(text).toString('base64')
  const source: MediaSource = { type: 'data', value, ...dataMimeType(document) }
  return { type: 'document', source, ...(isRecord(document.metadata) ? { metadata: document.metadata } : {}) }
}

const partTypes = new Map<unknown, GraphMediaPart['type']>([
  ['image', 'image'],
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['audio', 'audio'],
  ['input_audio', 'audio'],
  ['video', 'video'],
  ['file', 'document'],
  ['document', 'document'],
  ['media', 'document'],
])

/** The AG-UI part for an image, audio, video or file block. Undefined for a block of another kind. */
export function blockToMediaPart(block: unknown): GraphMediaPart | undefined {
  if (!isRecord(block)) return undefined
  // Gemini's client puts generated media here.
  if (isRecord(block.inlineData))
    return blockToMediaPart({ ...block.inlineData, type: inlineDataKind(block.inlineData) })
  const type = partTypes.get(block.type)
  const source = type && readSource(block)
  if (!source) return undefined
  return { type, source, ...(isRecord(block.metadata) ? { metadata: block.metadata } : {}) }
}

function inlineDataKind({ mimeType }: Record<string, unknown>): string {
  const [kind = ''] = typeof mimeType === 'string' ? mimeType.split('/') : []
  return partTypes.has(kind) ? kind : 'file'
}

/** Reads the standard blocks of LangChain, those of its first version, and those of the providers. */
function readSource(block: Record<string, unknown>): MediaSource | undefined {
  const inner = [block.source, block.image_url, block.input_audio, block.file].find(isRecord)
  if (inner) return readSource(inner)
  const type = mimeTypeOf(block)
  if (typeof block.image_url === 'string') return urlSource(block.image_url, type)
  if (typeof block.data === 'string') return { type: 'data', value: block.data, ...dataMimeType(block) }
  if (typeof block.url === 'string') return urlSource(block.url, type)
  if (typeof block.file_data === 'string') return urlSource(block.file_data, type)
  const handle = block.fileId ?? block.file_id ?? block.fileUri ?? (block.source_type === 'id' && block.id)
  return typeof handle === 'string' ? { type: 'file', value: handle, ...type } : undefined
}

function mimeTypeOf(block: Record<string, unknown>): { mimeType?: string } {
  const value = block.mimeType ?? block.mime_type ?? block.media_type
  return typeof value === 'string' ? { mimeType: value } : {}
}

function dataMimeType(block: Record<string, unknown>): { mimeType: string } {
  const guess = typeof block.format === 'string' ? `audio/${block.format}` : 'application/octet-stream'
  return { mimeType: mimeTypeOf(block).mimeType ?? guess }
}

function urlSource(url: string, known: { mimeType?: string }): MediaSource {
  const [, mimeType, value] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (mimeType !== undefined && value !== undefined) return { type: 'data', value, mimeType }
  return { type: 'url', value: url, ...known }
}
