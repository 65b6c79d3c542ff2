import type { Thread } from 'millrace/client'

type Part = Exclude<Parameters<Thread['send']>[0], string>[number]

/** A file that goes with the next message. */
export interface Attachment {
  readonly id: string
  readonly name: string
  readonly part: Part
  /** Of a picture. */
  readonly preview?: string
}

/** Base64 makes four characters of three bytes, and the server takes 8 MiB of them for one file. */
export const maxFileBytes = 6 * 1024 * 1024
/** The whole request may have 10 MiB. */
const maxTotalBytes = 7 * 1024 * 1024
const maxFiles = 32

export type AttachmentProblem =
  | { readonly type: 'file-too-large'; readonly name: string; readonly bytes: number }
  | { readonly type: 'all-too-large' | 'too-many' | 'unreadable'; readonly name: string }

/** Reads files that the person has chosen. Those that the server would refuse are named instead. */
export async function readAttachments(
  files: readonly File[],
  before: readonly Attachment[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problems: readonly AttachmentProblem[] }> {
  const attachments: Attachment[] = []
  const problems: AttachmentProblem[] = []
  let total = before.reduce((sum, { part }) => sum + bytesOf(part), 0)
  for (const file of files) {
    const { name, size } = file
    if (size > maxFileBytes) problems.push({ type: 'file-too-large', name, bytes: size })
    else if (total + size > maxTotalBytes) problems.push({ type: 'all-too-large', name })
    else if (before.length + attachments.length >= maxFiles) problems.push({ type: 'too-many', name })
    else
      try {
        attachments.push(await readAttachment(file))
        total += size
      } catch {
        problems.push({ type: 'unreadable', name })
      }
  }
  return { attachments, problems }
}

async function readAttachment(file: File): Promise<Attachment> {
  const url = await toDataUrl(file)
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type
  const source = { type: 'data' as const, value: url.slice(url.indexOf(',') + 1), mimeType }
  const kind = /^(image|audio|video)\//.exec(mimeType)?.[1] as 'image' | 'audio' | 'video' | undefined
  const part: Part = { type: kind ?? 'document', source, metadata: { filename: file.name } }
  return {
    ...{ id: crypto.randomUUID(), name: file.name, part },
    ...(kind === 'image' ? { preview: url } : {}),
  }
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '')
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'))
    reader.readAsDataURL(file)
  })
}

function bytesOf(part: Part): number {
  return part.type !== 'text' && part.source.type === 'data' ? (part.source.value.length * 3) / 4 : 0
}
