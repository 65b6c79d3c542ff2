import { useEffect, useState, type ReactNode } from 'react'
import type { Thread, ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { CopyButton } from '../ui/copy-button.js'
import { Icon } from '../ui/icon.js'
import { StateNode, type StateEdit } from './state-node.js'
import { toPointer } from './pointer.js'
import './state-panel.css'

interface StatePanelProps {
  readonly thread: Thread
  readonly state: unknown
  readonly status: ThreadSnapshot['status']
  readonly onClose: () => void
}

/** The state that the agent and the person share: a tree that shows each change, and can be changed. */
export function StatePanel({ thread, state, status, onClose }: StatePanelProps): ReactNode {
  const texts = useTexts()
  const before = usePrevious(state)
  const [problem, setProblem] = useState<string>()
  const patch = async (edit: StateEdit): Promise<void> => {
    const path = toPointer(edit.path)
    const operation = edit.op === 'remove' ? { op: edit.op, path } : { op: edit.op, path, value: edit.value }
    const { error } = await thread.patchState([operation])
    setProblem(error?.message)
  }
  const isEmpty = typeof state !== 'object' || state === null || Object.keys(state).length === 0
  return (
    <aside
      className="state-panel"
      aria-label={texts.sharedState}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header className="state-head">
        <h2 className="state-title">{texts.sharedState}</h2>
        <CopyButton text={JSON.stringify(state, undefined, 2)} label={texts.copyState} />
        <button type="button" className="button button-icon" aria-label={texts.close} onClick={onClose}>
          <Icon name="close" size={16} />
        </button>
      </header>
      {status === 'running' && <p className="state-note tiny muted">{texts.patchWaits}</p>}
      <div role="alert">{problem !== undefined && <p className="state-problem small">{problem}</p>}</div>
      <div className="state-tree">
        {isEmpty && <p className="muted small state-note">{texts.stateEmpty}</p>}
        <StateNode path={[]} value={state ?? {}} before={before ?? {}} onEdit={(edit) => void patch(edit)} />
      </div>
    </aside>
  )
}

/** The value before the latest change, or the value itself. */
function usePrevious<T>(value: T): T {
  const [pair, setPair] = useState({ before: value, now: value })
  useEffect(() => {
    setPair(({ now }) => (now === value ? { before: now, now } : { before: now, now: value }))
  }, [value])
  return pair.now === value ? pair.before : pair.now
}
