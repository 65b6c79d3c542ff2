import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import { JsonText } from '../ui/json-text.js'
import type { MessageOf } from './rows.js'
import './content-view.css'

type Content = MessageOf<'user'>['content']
type Part = Exclude<Content, string>[number]

/** What a tool has returned: text or JSON, pictures and files. */
export function ContentView({ content }: { readonly content: Content }): ReactNode {
  if (typeof content === 'string') return <JsonText text={content} />
  return (
    <>
      {content.map((part, index) =>
        part.type === 'text' ? (
          <JsonText key={index} text={part.text} />
        ) : (
          <MediaPart key={index} part={part} />
        ),
      )}
    </>
  )
}

/** A picture, drawn if it came with the message; otherwise what the file is. */
export function MediaPart({ part }: { readonly part: Exclude<Part, { readonly type: 'text' }> }): ReactNode {
  const texts = useTexts()
  const { source } = part
  const name = nameOf(part) ?? part.type
  if (part.type === 'image' && source.type === 'data' && /^image\/[\w.+-]+$/.test(source.mimeType))
    return (
      <img
        className="media-image"
        src={`data:${source.mimeType};base64,${source.value}`}
        alt={texts.imageNamed(name)}
      />
    )
  return (
    <span className="media-file small">
      <Icon name="attach" size={15} />
      {name}
    </span>
  )
}

export function textOf(content: Content | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? ''
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function nameOf({ metadata, source }: Exclude<Part, { readonly type: 'text' }>): string | undefined {
  const given: unknown = (metadata as { readonly filename?: unknown } | undefined)?.filename
  if (typeof given === 'string') return given
  return source.type === 'url' ? source.value : source.mimeType
}
