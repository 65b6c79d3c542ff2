import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { go } from '../router.js'
import type { AgentNode } from '../session/contract.js'
import { useApi } from '../session/use-api.js'
import { Icon } from '../ui/icon.js'

interface ChatHeadProps {
  readonly agent: AgentNode
  readonly isPanelOpen: boolean
  readonly hasState: boolean
  readonly onPanel: () => void
}

/** The choice of the agent, what it is for, and the button of the state. */
export function ChatHead({ agent, isPanelOpen, hasState, onPanel }: ChatHeadProps): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  return (
    <header className="chat-head">
      <label className="chat-agent">
        <span className="visually-hidden">{texts.agent}</span>
        <select
          className="chat-picker"
          value={agent.name}
          onChange={(event) => go({ page: 'chat', agent: event.target.value })}
        >
          {session.agents.map(({ name, description }) => (
            <option key={name} value={name} title={description}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p className="muted small chat-about" title={agent.description}>
        {agent.description}
      </p>
      <button
        type="button"
        className="button button-icon chat-panel-button"
        aria-label={texts.sharedState}
        aria-pressed={isPanelOpen}
        title={texts.sharedState}
        onClick={onPanel}
      >
        <Icon name="panel" />
        {hasState && <span className="chat-panel-dot" />}
      </button>
    </header>
  )
}
