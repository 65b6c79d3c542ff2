import { CopilotKit } from '@copilotkit/react-core'
import { CopilotChat, CopilotChatConfigurationProvider } from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { createRoot } from 'react-dom/client'
import { dynamicCatalog, fixedCatalog } from './catalogs.jsx'
import { AgenticChat, Haiku, Plan, Weather } from './tools.jsx'
import { Booking, Failure, Meeting } from './interrupts.jsx'
import { Document, Recipe, Steps } from './state.jsx'

/** A feature page of the Dojo, with its hooks: `?runtime=…&agent=kit-shared_state&feature=shared_state&thread=…`. */
const { runtime, agent, feature, thread } = Object.fromEntries(new URLSearchParams(location.search))

const features = {
  agentic_chat: AgenticChat,
  agentic_chat_reasoning: AgenticChat,
  agentic_chat_multimodal: AgenticChat,
  backend_tool_rendering: Weather,
  tool_based_generative_ui: Haiku,
  human_in_the_loop: Plan,
  agentic_generative_ui: Steps,
  shared_state: Recipe,
  predictive_state_updates: Document,
  subgraphs: Booking,
  interrupt: Meeting,
  error_flow: Failure,
}
/** A page without hooks of its own. */
const Chat = () => null
const Feature = features[feature] ?? Chat

const a2ui = {
  a2ui_fixed_schema: { catalog: fixedCatalog },
  a2ui_dynamic_schema: { catalog: dynamicCatalog },
  a2ui_recovery: { catalog: dynamicCatalog, recovery: { showAfterMs: 0, showAfterAttempts: 1 } },
}[feature]

createRoot(document.getElementById('root')).render(
  <CopilotKit
    runtimeUrl={runtime}
    agent={agent}
    threadId={thread}
    useSingleEndpoint
    enableInspector={false}
    {...(a2ui && { a2ui })}
  >
    <CopilotChatConfigurationProvider agentId={agent} threadId={thread}>
      <Feature agentId={agent} />
      <CopilotChat
        agentId={agent}
        threadId={thread}
        attachments={{ enabled: feature === 'agentic_chat_multimodal' }}
      />
    </CopilotChatConfigurationProvider>
  </CopilotKit>,
)
