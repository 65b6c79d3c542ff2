import type { ContentPart } from '@ag-ui/core'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import { MillraceError } from '../../core/errors.js'
import { contentResult } from '../tools/tool-result.js'

/**
 * What a tool call gives: text as a string, structured content as it is, anything with media or of several kinds in
 * parts. Throws TOOL_ERROR, with the server's own words, when the server says that the call failed.
 */
export function fromCallResult({ content, structuredContent, isError }: CallToolResult): unknown {
  if (isError === true)
    throw new MillraceError(
      'TOOL_ERROR',
      textOf(content.map(toPart)) || 'The tool failed without saying why.',
    )
  if (structuredContent === undefined) return fromParts(content.map(toPart))
  // For older clients, servers repeat the structure as text.
  const json = JSON.stringify(structuredContent)
  const others = content.filter((block) => !isJsonOf(block, json))
  return others.length === 0
    ? structuredContent
    : fromParts([...others.map(toPart), { type: 'text', text: json }])
}

function fromParts(parts: readonly ContentPart[]): unknown {
  return parts.every(({ type }) => type === 'text') ? textOf(parts) : contentResult(parts)
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function isJsonOf(block: ContentBlock, json: string): boolean {
  if (block.type !== 'text') return false
  try {
    return JSON.stringify(JSON.parse(block.text)) === json
  } catch {
    // Not JSON, so not a copy.
    return false
  }
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, source: { type: 'data', value: block.data, mimeType: block.mimeType } }
    case 'resource_link':
      // Only the server can read it; a model can at least tell of it.
      return { type: 'text', text: `${block.title ?? block.name}: ${block.uri}` }
    case 'resource':
      return toResourcePart(block.resource)
  }
}

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource']

function toResourcePart(resource: Resource): ContentPart {
  if ('text' in resource) return { type: 'text', text: resource.text }
  const { blob, mimeType = 'application/octet-stream' } = resource
  return { type: mediaOf(mimeType), source: { type: 'data', value: blob, mimeType } }
}

function mediaOf(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}
