import { useMemo, useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { useChat } from '../chat-context.js'
import { SurfaceContext, type SurfaceHandle } from './surface-context.js'
import { ComponentView } from './component-view.js'
import { readProperty, toFields, toParts, toSurfaces, writePath, type SurfaceModel } from './surface-model.js'
import './surface.css'

/** Surfaces that an agent has sent as data, or how far it is with them. */
export function Surface({ content }: { readonly content: Readonly<Record<string, unknown>> }): ReactNode {
  const texts = useTexts()
  const surfaces = useMemo(() => toSurfaces(content.a2ui_operations), [content])
  if (content.status === 'building') return <p className="badge is-at-work">{texts.surfaceBuilding}</p>
  if (content.status === 'retrying') return <p className="badge badge-warn">{texts.surfaceRetrying}</p>
  if (content.status === 'failed')
    return (
      <p className="badge badge-bad" title={String(content.error)}>
        {texts.surfaceFailed}
      </p>
    )
  return surfaces.map((surface) => <OneSurface key={surface.surfaceId} surface={surface} />)
}

const root = 'root'

/** What the person enters stays in the page until a click sends it. */
function OneSurface({ surface }: { readonly surface: SurfaceModel }): ReactNode {
  const texts = useTexts()
  const { onSurfaceAction } = useChat()
  const [edited, setEdited] = useState<{ readonly surface: SurfaceModel; readonly data: unknown }>()
  const data = edited?.surface === surface ? edited.data : surface.data
  const handle: SurfaceHandle = {
    ...{ components: surface.components, data },
    write: (path, value) => setEdited({ surface, data: writePath(data, toParts(path), value) }),
    act: ({ componentId, event, scope }) => {
      const { name, context } = toFields(event)
      const entries = Object.entries(toFields(context)).map(([key, value]) => [
        key,
        readProperty(value, data, scope),
      ])
      onSurfaceAction({
        ...{ name: String(name), surfaceId: surface.surfaceId, sourceComponentId: componentId },
        context: Object.fromEntries(entries) as Record<string, unknown>,
        timestamp: new Date().toISOString(),
      })
    },
  }
  return (
    <section className="surface card" aria-label={texts.surface}>
      <SurfaceContext value={handle}>
        <ComponentView id={root} scope="/" />
      </SurfaceContext>
    </section>
  )
}
