import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { AgentNode } from '../session/contract.js'
import { kindText } from './kinds.js'
import { ToolView } from './tool-view.js'
import './agent-details.css'

interface AgentDetailsProps {
  /** The agent of the page. The one shown may stand inside it. */
  readonly root: string
  readonly node: AgentNode
}

/** What is known of one agent, and its tools. */
export function AgentDetails({ root, node }: AgentDetailsProps): ReactNode {
  const texts = useTexts()
  return (
    <section className="details" aria-labelledby="details-title">
      <header className="details-head">
        <h2 id="details-title">{node.name}</h2>
        <span className="badge">{kindText(node.kind, texts)}</span>
        {node.model !== undefined && (
          <span className="badge mono" title={texts.agentModel}>
            {node.model}
          </span>
        )}
      </header>
      {node.name !== root && node.description !== '' && <p className="muted small">{node.description}</p>}
      <h3 className="details-label">{texts.agentTools}</h3>
      {node.tools.length === 0 && <p className="muted small">{texts.agentNoTools}</p>}
      {node.tools.map((tool) => (
        <ToolView key={tool.name} agent={node.name} tool={tool} />
      ))}
    </section>
  )
}
