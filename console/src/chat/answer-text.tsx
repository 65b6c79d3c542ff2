import { memo } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { CopyButton } from '../ui/copy-button.js'
import { Icon } from '../ui/icon.js'
import { Markdown } from '../ui/markdown.js'
import { BranchSwitch } from './branch-switch.js'
import { useChat } from './chat-context.js'
import { textOf } from './content-view.js'
import { markOf } from './marks.js'
import type { MessageOf } from './rows.js'
import './answer-text.css'

/** What the agent says, with what one can do about it. */
export const AnswerText = memo(({ message }: { readonly message: MessageOf<'assistant'> }) => {
  const texts = useTexts()
  const { thread } = useChat()
  const text = textOf(message.content)
  const mark = markOf(message)
  return (
    <article className="answer" data-mark={mark} aria-label={message.name ?? texts.agent}>
      <Markdown text={text} />
      {mark === 'rejected' && <p className="badge badge-warn">{texts.takenBack}</p>}
      {mark === 'cutOff' && <p className="badge badge-warn">{texts.cutOff}</p>}
      <div className="message-actions">
        <CopyButton text={text} label={texts.copyMessage} />
        {message.subagentRunId === undefined && (
          <button
            type="button"
            className="copy-button"
            aria-label={texts.regenerate}
            title={texts.regenerate}
            onClick={() => void thread.regenerate(message.id)}
          >
            <Icon name="again" size={15} />
          </button>
        )}
        <BranchSwitch messageId={message.id} />
      </div>
    </article>
  )
})
