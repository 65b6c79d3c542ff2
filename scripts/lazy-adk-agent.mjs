import { lazyAgent } from './lazy-agent.mjs'

/** The ADK agent; undefined if ADK, which is optional, is not installed. */
export function lazyAdkAgent() {
  const about = {
    name: 'adk',
    description:
      'An agent of Google ADK: tools of its own and of the client, and one that asks a person first.',
    examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
  }
  return lazyAgent(about, {
    packages: ['@google/adk'],
    kind: 'adk',
    create: async () => (await import('./demo-adk.mjs')).createAdkAgent(),
  })
}
