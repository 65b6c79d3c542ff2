import { expect, it, onTestFinished } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'
import { createServer } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'

/** The front ends are not installed where this file is only checked. */
const conversions = '../node_modules/@assistant-ui/react-ag-ui/dist/runtime/adapter/conversions.js'

const attachment = (name: string, contentType: string, part: object) => ({
  ...{ id: name, name, contentType, type: 'file', status: { type: 'complete' } },
  content: [part],
})

it('files that assistant-ui converts itself reach the model', async () => {
  const { toAgUiMessages } = (await import(conversions)) as {
    readonly toAgUiMessages: (messages: readonly object[]) => readonly object[]
  }
  const seen: ModelRequest[] = []
  const model = scriptedModel((request) => {
    seen.push(request)
    return 'I see.'
  })
  const agents = [defineAgent({ name: 'viewer', model })] as const
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const server = await serve(createServer({ agents, log }), { port: 0, signals: false })
  onTestFinished(() => server.close({ graceMs: 0 }))
  const messages = toAgUiMessages([
    {
      ...{ id: 'u1', role: 'user', content: [{ type: 'text', text: 'Look.' }] },
      attachments: [
        attachment('a.png', 'image/png', { type: 'image', image: 'data:image/png;base64,aW1hZ2U=' }),
        attachment('b.mp3', 'audio/mpeg', { type: 'file', data: 'c291bmQ=', mimeType: 'audio/mpeg' }),
        attachment('c.pdf', 'application/pdf', {
          ...{ type: 'file', mimeType: 'application/pdf', filename: 'c.pdf' },
          data: 'data:application/pdf;base64,JVBERg==',
        }),
      ],
    },
  ])
  const response = await fetch(`${server.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 't', runId: 'r', messages, tools: [], context: [], state: {} }),
  })
  expect(await response.text()).toContain('RUN_FINISHED')
  expect(seen[0]?.messages[0]?.content).toMatchObject([
    { type: 'text', text: 'Look.' },
    { type: 'image', source: { type: 'data', value: 'aW1hZ2U=', mimeType: 'image/png' } },
    { type: 'audio', source: { type: 'data', value: 'c291bmQ=', mimeType: 'audio/mpeg' } },
    { type: 'document', source: { type: 'data', value: 'JVBERg==', mimeType: 'application/pdf' } },
  ])
})

function ignore(): void {
  // The test looks at the model, not at the log.
}
