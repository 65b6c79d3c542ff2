import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf } from '../router.js'
import { Icon } from '../ui/icon.js'
import { useBranchesOf } from './branches.js'
import { useChat } from './chat-context.js'
import './branch-switch.css'

/** Under a message where the conversation has parted: leads to the branch before and after this one. */
export function BranchSwitch({ messageId }: { readonly messageId: string }): ReactNode {
  const texts = useTexts()
  const { agent } = useChat()
  const branches = useBranchesOf(messageId)
  if (!branches) return null
  const { threadIds, at } = branches
  const link = (index: number, label: string, mark: ReactNode): ReactNode => {
    const threadId = threadIds[index]
    return threadId === undefined ? (
      <span className="branch-link" aria-hidden="true">
        {mark}
      </span>
    ) : (
      <a
        className="branch-link"
        href={hrefOf({ page: 'chat', agent: agent.name, threadId })}
        aria-label={label}
      >
        {mark}
      </a>
    )
  }
  return (
    <nav className="branch-switch" aria-label={texts.branches}>
      {link(at - 1, texts.branchBefore, <Icon name="chevron" size={14} />)}
      <span className="tiny muted">{texts.countOf(at + 1, threadIds.length)}</span>
      {link(at + 1, texts.branchAfter, <Icon name="chevron" size={14} />)}
    </nav>
  )
}
