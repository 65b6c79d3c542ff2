import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { go, hrefOf, type Route } from '../router.js'
import { useRuns } from '../runs/use-runs.js'
import type { AgentNode } from '../session/contract.js'
import { useApi } from '../session/use-api.js'
import { Icon } from '../ui/icon.js'
import { Notice } from '../ui/notice.js'
import { AgentDetails } from './agent-details.js'
import { AgentPicture } from './agent-picture.js'
import { layoutAgent } from './layout.js'
import { useActiveSpans } from './use-active-spans.js'
import './agents-page.css'

/** What the agents are made of, what of them is at work, and their tools. */
export function AgentsPage({ route }: { readonly route: Route & { readonly page: 'agents' } }): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  const { runs } = useRuns()
  const agent = session.agents.find(({ name }) => name === route.agent) ?? session.agents[0]
  const atWork = new Set(runs?.filter(({ status }) => status === 'running').map((run) => run.agent))
  if (!agent) return <Notice title={texts.agents}>{texts.nothingFound}</Notice>
  return (
    <section className="agents" aria-labelledby="agents-title">
      <header className="page-head">
        <div>
          <h1 id="agents-title">{texts.agents}</h1>
          <p className="muted small">{texts.agentsAbout}</p>
        </div>
        <select
          className="field agents-picker"
          aria-label={texts.agent}
          value={agent.name}
          onChange={(event) => go({ page: 'agents', agent: event.target.value })}
        >
          {session.agents.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </header>
      <nav className="agents-list" aria-label={texts.agents}>
        {session.agents.map(({ name }) => (
          <a
            key={name}
            className="agents-link"
            href={hrefOf({ page: 'agents', agent: name })}
            aria-current={name === agent.name ? 'page' : undefined}
          >
            {name}
            {atWork.has(name) && <span className="agents-dot" role="img" aria-label={texts.agentRunning} />}
          </a>
        ))}
      </nav>
      <AgentView key={agent.name} agent={agent} runs={runs} />
    </section>
  )
}

interface AgentViewProps {
  readonly agent: AgentNode
  readonly runs: ReturnType<typeof useRuns>['runs']
}

function AgentView({ agent, runs }: AgentViewProps): ReactNode {
  const texts = useTexts()
  const [chosen, setChosen] = useState(agent.name)
  const spans = useActiveSpans(agent.name, runs)
  const found = layoutAgent(agent).boxes.find(({ path }) => path === chosen)?.node
  const node = found && 'kind' in found ? found : agent
  const live = runs?.filter((run) => run.agent === agent.name && run.status === 'running').length ?? 0
  return (
    <div className="agents-view">
      <div className="agents-about">
        <p>{agent.description}</p>
        <p className="agents-actions">
          {live > 0 && (
            <a className="badge badge-accent" href={hrefOf({ page: 'runs' })} role="status">
              {texts.runsLive(live)}
            </a>
          )}
          <a className="button button-primary" href={hrefOf({ page: 'chat', agent: agent.name })}>
            <Icon name="chat" />
            {texts.agentTalk}
          </a>
        </p>
      </div>
      <AgentPicture agent={agent} chosen={chosen} spans={spans} onChoose={setChosen} />
      <AgentDetails key={chosen} root={agent.name} node={node} />
    </div>
  )
}
