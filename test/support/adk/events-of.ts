import { InMemoryRunner, StreamingMode, type Event } from '@google/adk'

type Root = NonNullable<ConstructorParameters<typeof InMemoryRunner>[0]['agent']>

/** The Runner's events for the first message of a conversation: `hello`. */
export async function eventsOf(agent: Root, mode = StreamingMode.SSE): Promise<Event[]> {
  const runner = new InMemoryRunner({ agent, appName: 'app' })
  const key = { userId: 'user', sessionId: 'session' }
  await runner.sessionService.createSession({ appName: 'app', ...key })
  const newMessage = { role: 'user', parts: [{ text: 'hello' }] }
  const events: Event[] = []
  for await (const event of runner.runAsync({ ...key, newMessage, runConfig: { streamingMode: mode } })) {
    events.push(event)
  }
  return events
}
