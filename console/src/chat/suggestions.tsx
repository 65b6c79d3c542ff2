import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { AgentNode } from '../session/contract.js'
import './suggestions.css'

interface SuggestionsProps {
  readonly agent: AgentNode
  readonly onChoose: (text: string) => void
}

/** What an empty thread shows: who the agent is, and what to try. */
export function Suggestions({ agent, onChoose }: SuggestionsProps): ReactNode {
  const texts = useTexts()
  return (
    <section className="suggestions" aria-label={texts.tryThis}>
      <h1 className="suggestions-name">{agent.name}</h1>
      <p className="muted">{agent.description}</p>
      {agent.examples.length > 0 && (
        <>
          <h2 className="small muted suggestions-title">{texts.tryThis}</h2>
          <div className="suggestions-list">
            {agent.examples.map((example) => (
              <button key={example} className="card suggestion" onClick={() => onChoose(example)}>
                {example}
              </button>
            ))}
          </div>
        </>
      )}
    </section>
  )
}
