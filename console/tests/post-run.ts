import { assertValidStream } from '../../src/testing/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'

interface PostOptions {
  readonly text?: string
  readonly threadId?: string
  readonly token?: string
}

/** Starts a run as another client does. `done` resolves with its linted events. */
export async function postRun(
  url: string,
  agent: string,
  { text = 'Hello', threadId = crypto.randomUUID(), token }: PostOptions = {},
): Promise<{ readonly threadId: string; readonly done: Promise<readonly AgUiEvent[]> }> {
  const input = {
    ...{ protocolVersion: '1.0', threadId, runId: crypto.randomUUID() },
    messages: [{ id: crypto.randomUUID(), role: 'user', content: text }],
  }
  const response = await fetch(`${url}/agents/${agent}/run`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(input),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  const done = response.text().then((body) => {
    const events = body
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)) as AgUiEvent)
    assertValidStream(events, { input })
    return events
  })
  return { threadId, done }
}
