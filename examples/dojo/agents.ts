import type { Agent } from 'millrace'
import { adkAgents } from './adk.js'
import { kitAgents } from './kit.js'
import { langGraphAgents } from './langgraph.js'

/** The agents of all pages, `<runtime>-<page>`: `adk-shared_state`. */
export const agents: readonly [Agent, ...Agent[]] = [...kitAgents, ...adkAgents, ...langGraphAgents]
