import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { Markdown } from '../../ui/markdown.js'
import type { ViewProps } from './component-view.js'
import { useProperty } from './surface-context.js'

export function TextView({ component, scope }: ViewProps): ReactNode {
  const text = useProperty(scope).text(component.text)
  const { variant } = component
  if (variant === 'caption') return <p className="muted tiny">{text}</p>
  if (typeof variant === 'string' && /^h[1-5]$/.test(variant))
    return <p className={`surface-heading surface-${variant}`}>{text}</p>
  return <Markdown text={text} />
}

/** The page asks no other host, so a picture elsewhere is named. */
export function ImageView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const url = text(component.url)
  const about = text(component.description)
  if (!/^(data:image\/|blob:)/.test(url))
    return <ElsewhereLink url={url} label={about === '' ? url : about} />
  return <img className={`surface-image surface-image-${String(component.variant)}`} src={url} alt={about} />
}

const symbols: Readonly<Record<string, string>> = {
  ...{ check: '✓', close: '✕', add: '+', delete: '🗑', edit: '✎', search: '🔍', star: '★', favorite: '♥' },
  ...{ info: 'ℹ', warning: '⚠', error: '⚠', arrowForward: '→', arrowBack: '←', home: '⌂', person: '👤' },
  ...{ calendarToday: '📅', locationOn: '📍', mail: '✉', phone: '☎', settings: '⚙', send: '➤' },
}

export function IconView({ component, scope }: ViewProps): ReactNode {
  const name = useProperty(scope).text(component.name)
  return (
    <span role="img" aria-label={name}>
      {symbols[name] ?? '•'}
    </span>
  )
}

export function VideoView({ component, scope }: ViewProps): ReactNode {
  const url = useProperty(scope).text(component.url)
  return <ElsewhereLink url={url} label={url} />
}

export function AudioView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const about = text(component.description)
  return <ElsewhereLink url={text(component.url)} label={about === '' ? text(component.url) : about} />
}

function ElsewhereLink({ url, label }: { readonly url: string; readonly label: string }): ReactNode {
  const texts = useTexts()
  if (!/^https?:\/\//.test(url)) return <span className="media-file small">{label}</span>
  return (
    <a
      className="media-file small"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      title={texts.opensElsewhere}
    >
      {label}
    </a>
  )
}
