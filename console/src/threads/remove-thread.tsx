import { useState, type ReactNode } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { useApi } from '../session/use-api.js'
import { Dialog } from '../ui/dialog.js'
import { threadsChanged } from './threads-changed.js'

interface RemoveThreadProps {
  readonly agent: string
  readonly thread: ThreadInfo
  readonly onClose: (isRemoved: boolean) => void
}

/** Asks before a thread is deleted. */
export function RemoveThread({ agent, thread, onClose }: RemoveThreadProps): ReactNode {
  const texts = useTexts()
  const { client } = useApi()
  const [problem, setProblem] = useState<string>()
  const remove = async (): Promise<void> => {
    try {
      await client.threads.delete(agent, thread.threadId)
      threadsChanged.notify()
      onClose(true)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <Dialog title={texts.removeSure(thread.title || thread.threadId)} onClose={() => onClose(false)}>
      {problem !== undefined && (
        <p className="small thread-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" className="button" autoFocus onClick={() => onClose(false)}>
          {texts.cancel}
        </button>
        <button type="button" className="button button-danger" onClick={() => void remove()}>
          {texts.remove}
        </button>
      </div>
    </Dialog>
  )
}
