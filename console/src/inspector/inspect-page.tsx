import type { DragEvent, ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { go, type Route } from '../router.js'
import { Notice } from '../ui/notice.js'
import { RunView } from './run-view.js'
import { useRun } from './source/use-run.js'
import { useOpenFile } from './start/file-picker.js'
import { StartPage } from './start/start-page.js'
import { usePosition } from './use-position.js'

type InspectRoute = Route & { readonly page: 'inspect' }

/** The wire of a run beside what the client holds, at any event. */
export function InspectPage({ route }: { readonly route: InspectRoute }): ReactNode {
  const { open, error } = useOpenFile((source) => go({ page: 'inspect', source }))
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    open(event.dataTransfer.files[0])
  }
  return (
    <div className="inspect-page" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {route.source === '' ? (
        <StartPage error={error} />
      ) : (
        <SourcePage key={route.source} route={route} error={error} />
      )}
    </div>
  )
}

function SourcePage({ route, error }: { readonly route: InspectRoute; readonly error: string }): ReactNode {
  const texts = useTexts()
  const { source, beside } = route
  const loaded = useRun(source)
  const [position, move] = usePosition(route)
  switch (loaded.kind) {
    case 'loading':
      return <Notice>{texts.loading}</Notice>
    case 'failed':
      return (
        <Notice title={texts[loaded.failure.key]} action={{ label: texts.retry, run: loaded.retry }}>
          {loaded.failure.detail}
        </Notice>
      )
    case 'absent':
      return source.startsWith('url:') ? (
        <StartPage initialUrl={source.slice('url:'.length).replace(/#[^#]*$/, '')} error={error} />
      ) : (
        <StartPage missingFile={source.replace(/^\w+:/, '')} error={error} />
      )
    case 'run':
      return (
        <RunView
          record={loaded.record}
          position={position}
          onMove={move}
          beside={beside}
          onBeside={(other) =>
            go({
              page: 'inspect',
              source,
              ...eventOf(position),
              ...(other === undefined ? {} : { beside: other }),
            })
          }
        />
      )
  }
}

function eventOf(position: number | undefined): { readonly event?: number } {
  return position === undefined ? {} : { event: position }
}
