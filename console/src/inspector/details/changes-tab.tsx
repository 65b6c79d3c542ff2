import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { JsonTree } from '../../ui/json-tree.js'
import { changedPaths } from '../model/json.js'
import type { HookChange, RunEntry } from '../model/run-file.js'

interface ChangesTabProps {
  readonly changes: readonly HookChange[]
  readonly entries: readonly RunEntry[]
  readonly onSelect: (index: number) => void
}

/** What the hooks of the application have changed. */
export function ChangesTab({ changes, entries, onSelect }: ChangesTabProps): ReactNode {
  const texts = useTexts()
  if (changes.length === 0) return <p className="details-section muted small">{texts.insNoChanges}</p>
  return changes.map(({ hook, seq, before, after }, number) => {
    const index = seq === undefined ? -1 : entries.findIndex((entry) => entry.seq >= seq)
    return (
      <section key={number} className="details-section" aria-label={hook}>
        <h3>
          <code>{hook}</code>
          {index >= 0 && (
            <button className="details-link" onClick={() => onSelect(index)}>
              #{index + 1}
            </button>
          )}
        </h3>
        <div className="details-beside">
          <div>
            <p className="muted tiny">{texts.insBeforeHook}</p>
            <JsonTree value={before} />
          </div>
          <div>
            <p className="muted tiny">{texts.insAfterHook}</p>
            <JsonTree value={after} lit={changedPaths(before, after)} />
          </div>
        </div>
      </section>
    )
  })
}
