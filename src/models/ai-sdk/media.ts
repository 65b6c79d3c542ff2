import type { ContentPart } from '@ag-ui/core'
import type { SpecVersion, UrlPatterns } from './specification.js'

/** Decides which media a model takes, and in which format. */
export interface MediaRules {
  readonly version: SpecVersion
  /** The provider's name in file references, for example `openai`. */
  readonly provider: string
  /** Whether the model speaks chat completions, where tool results are text and images have no file ids. */
  readonly isChat: boolean
  readonly urls: UrlPatterns
}

export type MediaContentPart = Exclude<ContentPart, { type: 'text' }>

/** Media in a form that the model takes. */
export type Media = { readonly mediaType: string } & (
  | { readonly kind: 'data'; readonly data: string }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'reference'; readonly id: string }
)

// The provider resolves a wildcard. Documents without a type are nearly always PDF, and providers refuse wildcards there.
const defaultTypes: Readonly<Record<MediaContentPart['type'], string>> = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  document: 'application/pdf',
}

/** Undefined if the model cannot take the part, which is then left out. Never downloads. */
export function readMedia({ type, source }: MediaContentPart, rules: MediaRules): Media | undefined {
  const mediaType = source.mimeType ?? defaultTypes[type]
  switch (source.type) {
    case 'data':
      return { kind: 'data', data: source.value, mediaType }
    case 'url':
      return readUrl(source.value, mediaType, rules.urls)
    case 'file':
      if ((source.provider ?? rules.provider) !== rules.provider) return undefined
      return readFileId(source.value, mediaType, rules)
  }
}

function readUrl(text: string, mediaType: string, urls: UrlPatterns): Media | undefined {
  const inline = readDataUrl(text)
  if (inline) return { kind: 'data', data: inline.data, mediaType: inline.mediaType || mediaType }
  if (!URL.canParse(text) || !isSupportedUrl(text, mediaType, urls)) return undefined
  return { kind: 'url', url: new URL(text), mediaType }
}

/** Reads a URL of base64 data. By positions: the text may have megabytes, and a regular expression goes back in it. */
function readDataUrl(text: string): { readonly mediaType: string; readonly data: string } | undefined {
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1
  if (comma === -1 || !text.slice(0, comma).endsWith(';base64')) return undefined
  const [mediaType = ''] = text.slice('data:'.length, comma).split(';', 1)
  return { mediaType, data: text.slice(comma + 1) }
}

// v4 has file references. Before it, Google writes them as URLs, and OpenAI recognises its own by their prefix.
function readFileId(id: string, mediaType: string, { version, provider, isChat, urls }: MediaRules) {
  if (version === 'v4') return { kind: 'reference', id, mediaType } as const
  if (provider !== 'openai' || !id.startsWith('file-')) return readUrl(id, mediaType, urls)
  return isChat && mediaType !== 'application/pdf'
    ? undefined
    : ({ kind: 'reference', id, mediaType } as const)
}

function isSupportedUrl(url: string, mediaType: string, urls: UrlPatterns): boolean {
  // The specification compares in lower case.
  const lowerUrl = url.toLowerCase()
  return Object.entries(urls).some(
    ([type, patterns]) =>
      matchesMediaType(type, mediaType.toLowerCase()) && patterns.some((pattern) => pattern.test(lowerUrl)),
  )
}

function matchesMediaType(pattern: string, mediaType: string): boolean {
  if (pattern === '*' || pattern === '*/*') return true
  return pattern.endsWith('*') ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType
}

/** The data of a `file` part in a prompt, and in a tool result of v4. */
export function toFileData(media: Media, { version, provider }: MediaRules): unknown {
  switch (media.kind) {
    case 'data':
      return version === 'v4' ? { type: 'data', data: media.data } : media.data
    case 'url':
      return version === 'v4' ? { type: 'url', url: media.url } : media.url
    case 'reference':
      return version === 'v4' ? { type: 'reference', reference: { [provider]: media.id } } : media.id
  }
}
