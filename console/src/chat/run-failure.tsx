import type { ReactNode } from 'react'
import type { MillraceError } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import type { Texts } from '../i18n/en.js'
import { useChat } from './chat-context.js'
import type { Message } from './rows.js'

interface RunFailureProps {
  readonly error: MillraceError
  readonly messages: readonly Message[]
}

/** Why the run or the request failed, and what to do. */
export function RunFailure({ error, messages }: RunFailureProps): ReactNode {
  const texts = useTexts()
  const { thread } = useChat()
  const code = error.wireCode
  const advice = adviceOf(error, texts)
  const canTryAgain = messages.some(({ role }) => role === 'user') && !unfit.has(error.code)
  return (
    <section className="run-failure" role="alert">
      <h3>
        {texts.runFailed} <code className="tiny">{code}</code>
      </h3>
      <p className="small">{error.message}</p>
      {advice !== undefined && <p className="small muted">{advice}</p>}
      {canTryAgain && (
        <button type="button" className="button" onClick={() => void thread.regenerate()}>
          {texts.retry}
        </button>
      )}
    </section>
  )
}

/** The same again would fail again. */
const unfit: ReadonlySet<string> = new Set([
  ...['PAYLOAD_TOO_LARGE', 'THREAD_FULL', 'INVALID_RESUME', 'INVALID_INPUT', 'UNAUTHENTICATED', 'FORBIDDEN'],
  ...['INVALID_PATCH', 'STATE_TOO_LARGE'],
])

function adviceOf({ code }: MillraceError, texts: Texts): string | undefined {
  switch (code as string) {
    case 'PAYLOAD_TOO_LARGE':
      return texts.adviceTooLarge
    case 'THREAD_FULL':
      return texts.adviceThreadFull
    case 'RUN_LOST':
    case 'SERVER_CLOSING':
      return texts.adviceServerGone
    case 'MODEL_ERROR':
      return texts.adviceModel
    case 'EXECUTION_TIMEOUT':
      return texts.adviceTimeout
    case 'UNAUTHENTICATED':
      return texts.adviceSignIn
    default:
      return undefined
  }
}
