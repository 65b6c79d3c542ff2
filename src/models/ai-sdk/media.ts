import type { ContentPart } from '@ag-ui/core'
import type { SpecVersion, UrlPatterns } from './language-model.js'

/** What decides whether a model takes a piece of media, and how it is written down for it. */
export interface MediaRules {
  readonly version: SpecVersion
  /** The name under which the provider keeps its files, for example `openai`. */
  readonly provider: string
  /** Whether it speaks the chat completions format, where tool results are text and images have no file ids. */
  readonly isChat: boolean
  readonly urls: UrlPatterns
}

export type MediaPart = Exclude<ContentPart, { type: 'text' }>

/** Media in a form that the model takes. */
export type Media = { readonly mediaType: string } & (
  | { readonly kind: 'data'; readonly data: string }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'reference'; readonly id: string }
)

// A wildcard leaves it to the provider. Documents without a type are nearly always PDF, and providers refuse guesses.
const usualTypes: Readonly<Record<MediaPart['type'], string>> = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  document: 'application/pdf',
}

/** Reads a content part. Undefined when the model cannot take it: then the part is left out. Never downloads. */
export function readMedia({ type, source }: MediaPart, rules: MediaRules): Media | undefined {
  const mediaType = source.mimeType ?? usualTypes[type]
  switch (source.type) {
    case 'data':
      return { kind: 'data', data: source.value, mediaType }
    case 'url':
      return readUrl(source.value, mediaType, rules.urls)
    case 'file':
      if ((source.provider ?? rules.provider) !== rules.provider) return undefined
      return readHandle(source.value, mediaType, rules)
  }
}

function readUrl(text: string, mediaType: string, urls: UrlPatterns): Media | undefined {
  const [, inlineType, data] = /^data:([^;,]+)?[^,]*;base64,(.*)$/s.exec(text) ?? []
  if (data !== undefined) return { kind: 'data', data, mediaType: inlineType ?? mediaType }
  if (!URL.canParse(text) || !isTaken(text, mediaType, urls)) return undefined
  return { kind: 'url', url: new URL(text), mediaType }
}

// Version 4 has a place for file handles. Before it, Google writes them as addresses, and OpenAI tells its own from
// base64 data by their first letters.
function readHandle(id: string, mediaType: string, { version, provider, isChat, urls }: MediaRules) {
  if (version === 'v4') return { kind: 'reference', id, mediaType } as const
  if (provider !== 'openai' || !id.startsWith('file-')) return readUrl(id, mediaType, urls)
  return isChat && mediaType !== 'application/pdf'
    ? undefined
    : ({ kind: 'reference', id, mediaType } as const)
}

function isTaken(url: string, mediaType: string, urls: UrlPatterns): boolean {
  // The specification compares in lower case.
  const address = url.toLowerCase()
  return Object.entries(urls).some(
    ([pattern, addresses]) =>
      covers(pattern, mediaType.toLowerCase()) && addresses.some((known) => known.test(address)),
  )
}

function covers(pattern: string, mediaType: string): boolean {
  if (pattern === '*' || pattern === '*/*') return true
  return pattern.endsWith('*') ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType
}

/** The data of media as a `file` part holds it, in a prompt and in a tool result of version 4. */
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
