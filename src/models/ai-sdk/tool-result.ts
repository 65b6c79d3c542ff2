import { contentToText, type ContentPart, type ToolMessage } from '@ag-ui/core'
import { readMedia, toFileData, type Media, type MediaPart, type MediaRules } from './media.js'
import type { ToolResultOutput } from './prompt-message.js'

/** One of the parts that the specification has for tool results, which differ between its versions. */
type WrittenPart = Readonly<Record<string, unknown>>

/** Writes down what a tool answered. `onSkipped` gets each part the model cannot take in a tool result. */
export function toToolResultOutput(
  { content, error }: ToolMessage,
  rules: MediaRules,
  onSkipped: (part: MediaPart) => void,
): ToolResultOutput {
  if (error !== undefined) return { type: 'error-text', value: contentToText(content) || error }
  if (typeof content === 'string') return { type: 'text', value: content }
  const written: WrittenPart[] = []
  for (const part of content) {
    const result = toResultPart(part, rules)
    if (result !== undefined) written.push(result)
    else if (part.type !== 'text') onSkipped(part)
  }
  // Providers without media in tool results write the whole list down as JSON. Plain text stays plain.
  if (written.every(({ type }) => type === 'text')) return { type: 'text', value: contentToText(content) }
  return { type: 'content', value: written }
}

function toResultPart(part: ContentPart, rules: MediaRules): WrittenPart | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const media = rules.isChat ? undefined : readMedia(part, rules)
  return media && byVersion[rules.version](media, rules)
}

const byVersion = {
  v2: (media: Media) =>
    media.kind === 'data' ? { type: 'media', data: media.data, mediaType: media.mediaType } : undefined,
  v3: (media: Media) => {
    const { mediaType } = media
    const isImage = mediaType.startsWith('image/')
    switch (media.kind) {
      case 'data':
        return { type: isImage ? 'image-data' : 'file-data', data: media.data, mediaType }
      case 'url':
        return { type: isImage ? 'image-url' : 'file-url', url: media.url.href, mediaType }
      case 'reference':
        return { type: isImage ? 'image-file-id' : 'file-id', fileId: media.id }
    }
  },
  v4: (media: Media, rules: MediaRules) => ({
    type: 'file',
    data: toFileData(media, rules),
    mediaType: media.mediaType,
  }),
}
