import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { Dialog } from '../../ui/dialog.js'
import { nameOfSource } from '../source/source-name.js'
import { openSources } from '../source/use-run.js'
import type { RunRecord } from '../source/run-record.js'
import { FilePicker } from '../start/file-picker.js'
import { RecentRuns } from '../start/recent-runs.js'

interface CompareDialogProps {
  readonly record: RunRecord
  readonly onClose: () => void
  readonly onChoose: (source: string) => void
}

/** Asks for the run to look at beside this one. */
export function CompareDialog({ record, onClose, onChoose }: CompareDialogProps): ReactNode {
  const texts = useTexts()
  const [others] = useState(() => openSources().filter((source) => source !== record.source))
  const choose = (source: string): void => {
    onChoose(source)
    onClose()
  }
  return (
    <Dialog title={texts.insCompare} onClose={onClose}>
      <div className="compare-dialog">
        {others.map((source) => (
          <button key={source} className="button" onClick={() => choose(source)}>
            {nameOfSource(source)}
          </button>
        ))}
        <FilePicker onOpen={choose} />
        <RecentRuns except={record.source} onChoose={choose} />
      </div>
    </Dialog>
  )
}
