import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { go } from '../../router.js'
import { FilePicker } from './file-picker.js'
import { RecentRuns } from './recent-runs.js'
import { UrlForm } from './url-form.js'
import './start-page.css'

interface StartPageProps {
  /** The address of a run that this page does not hold any more. */
  readonly initialUrl?: string
  /** The name of a file that this page does not hold any more. */
  readonly missingFile?: string
  readonly error: string
}

/** Where a run to look at comes from: this server, a file, or any AG-UI endpoint. */
export function StartPage({ initialUrl, missingFile, error }: StartPageProps): ReactNode {
  const texts = useTexts()
  const open = (source: string): void => go({ page: 'inspect', source })
  return (
    <div className="start-page">
      <header className="start-page-head">
        <h1>{texts.inspect}</h1>
        <p className="muted small">{texts.insIntro}</p>
        {missingFile !== undefined && <p className="badge badge-warn">{texts.insFileGone(missingFile)}</p>}
        {error !== '' && (
          <p className="details-fault" role="alert">
            {error}
          </p>
        )}
      </header>
      <section className="card start-card">
        <h2>{texts.insFromUrl}</h2>
        <UrlForm {...(initialUrl === undefined ? {} : { initialUrl })} />
      </section>
      <section className="card start-card">
        <h2>{texts.insFromFile}</h2>
        <p className="muted small">{texts.insDropHere}</p>
        <FilePicker onOpen={open} />
      </section>
      <section className="card start-card">
        <h2>{texts.insFromServer}</h2>
        <RecentRuns onChoose={open} />
      </section>
    </div>
  )
}
