import { expect, it } from 'vitest'
import { HttpAgent } from '@ag-ui/client'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { ask, historyOf, listed, serving, user } from './support-server.js'

it.each(['cancelled', 'failed'])(
  'a client that said yes can talk on when the run was %s after the tool was done',
  async (how) => {
    let sent = 0
    let speaking: () => void = () => undefined
    const isSpeaking = new Promise<void>((resolve) => {
      speaking = resolve
    })
    const mail = defineTool({
      name: 'mail',
      description: 'Sends a mail.',
      async execute(_args, { interrupt }) {
        await interrupt({ message: 'Send it?' })
        sent++
        return 'sent'
      },
    })
    const hang = (): Promise<void> => {
      speaking()
      return new Promise(() => undefined)
    }
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool')
        return ['Now', how === 'failed' ? { error: { status: 400 } } : { wait: hang }]
      return last?.content === 'mail' ? [{ toolCall: { id: 'c1', name: 'mail' } }] : 'Hello.'
    })
    const agent = defineAgent({ name: 'mailer', model, tools: [mail] })
    const { url } = await serving({ agents: [agent], store: createMemoryStore() })
    const client = new HttpAgent({
      ...{ url: `${url}/run`, threadId: 'thread-1', initialMessages: [user('u1', 'mail')] },
    })
    await client.runAgent()
    const [question] = client.pendingInterrupts
    const resume = [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: true }]
    const answered = client.runAgent({ resume }).catch(() => undefined)
    if (how === 'cancelled') {
      await isSpeaking
      await ask(`${url}/cancel`, { body: { threadId: 'thread-1' } })
    }
    await answered
    expect(await listed(url)).toMatchObject({ status: 'idle', lastRun: { status: how } })
    client.addMessage(user('u2', 'hello'))
    // After an error this client wants its answer to be given once more. It is not taken again.
    await client.runAgent(how === 'failed' ? { resume } : {})
    expect(client.pendingInterrupts).toEqual([])
    expect((await historyOf(url)).at(-1)).toMatchObject({ role: 'assistant', content: 'Hello.' })
    expect(sent).toBe(1)
  },
)
