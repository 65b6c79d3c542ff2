import { memo } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { CopyButton } from '../ui/copy-button.js'
import { Icon } from '../ui/icon.js'
import { BranchSwitch } from './branch-switch.js'
import { useChat } from './chat-context.js'
import { MediaPart, textOf } from './content-view.js'
import { EditMessage } from './edit-message.js'
import type { MessageOf } from './rows.js'
import { useEditing } from './editing.js'
import './user-message.css'

/** What the person has written. Editing it begins a new branch. */
export const UserMessage = memo(({ message }: { readonly message: MessageOf<'user'> }) => {
  const texts = useTexts()
  const { onEdit } = useChat()
  const isEdited = useEditing() === message.id
  const text = textOf(message.content)
  const media =
    typeof message.content === 'string' ? [] : message.content.filter((part) => part.type !== 'text')
  if (isEdited) return <EditMessage message={message} />
  return (
    <article className="user-message" aria-label={texts.you}>
      {media.length > 0 && (
        <div className="user-media">
          {media.map((part, index) => (
            <MediaPart key={index} part={part} />
          ))}
        </div>
      )}
      {text !== '' && <p className="user-bubble">{text}</p>}
      <div className="message-actions">
        <BranchSwitch messageId={message.id} />
        <CopyButton text={text} label={texts.copyMessage} />
        <button
          type="button"
          className="copy-button"
          aria-label={texts.editMessage}
          title={texts.editMessage}
          onClick={() => onEdit(message.id)}
        >
          <Icon name="edit" size={15} />
        </button>
      </div>
    </article>
  )
})
