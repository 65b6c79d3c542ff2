import type { ContentPart } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { agentTool, contentResult, defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { Logger } from '../../src/server/index.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const image: ContentPart = { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }

interface Warning {
  readonly sentence: string
  readonly message?: string
}

function recordingLog() {
  const warnings: Warning[] = []
  const ignore = (): void => undefined
  const log: Logger = {
    ...{ debug: ignore, info: ignore, error: ignore },
    warn: (facts, sentence) => void warnings.push({ sentence, ...facts }),
  }
  return { log, warnings }
}

describe('the version in a request', () => {
  const serveTalker = async () => {
    const { log, warnings } = recordingLog()
    const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
    const served = await serveAgents({ agents: [agent], log })
    const run = (protocolVersion: unknown) =>
      served.stream('/run', { body: inputOf({ protocolVersion, messages: [user('u1', 'Hello.')] }) })
    const connect = (protocolVersion: unknown) =>
      served.stream('/connect', { body: { threadId: 'thread-1', protocolVersion } })
    return { served, warnings, run, connect }
  }

  it.each(['1.0.0', '1', 'draft', ''])(
    'that nobody understands, "%s", is served with a warning',
    async (version) => {
      const { warnings, run, connect } = await serveTalker()
      const { events } = await run(version)
      expect(events[0]).toMatchObject({ type: 'RUN_STARTED', protocolVersion: '1.0' })
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
      expect(warnings).toMatchObject([{ runId: 'run-1', warnings: [{ field: 'protocolVersion' }] }])
      await connect(version)
      expect(warnings[1]).toMatchObject({ thread: 'thread-1', warnings: [{ field: 'protocolVersion' }] })
    },
  )

  it.each(['2.0', '2', '0.9'])(
    'of another major, "%s", is refused by every route that streams',
    async (version) => {
      const { served, run } = await serveTalker()
      await run('1.0')
      for (const route of ['POST /run', 'POST /', 'POST /connect']) {
        const body = inputOf({ protocolVersion: version, messages: [user('u2', 'Hello?')] })
        const { status, text } = await served.ask(route, { body })
        expect({ route, status, text }).toMatchObject({
          status: 400,
          text: expect.stringContaining('UNSUPPORTED_PROTOCOL') as string,
        })
      }
    },
  )
})

/** An agent that takes two photos and asks a helper, then says so. */
function photographer() {
  const photo = defineTool({
    name: 'photo',
    description: 'Takes one.',
    execute: () => contentResult([image]),
  })
  const helper = defineAgent({ name: 'helper', description: 'Helps.', model: scriptedModel(() => 'Helped.') })
  const calls = [{}, {}, { request: 'Help.' }].map((args) => ({
    toolCall: { name: 'request' in args ? 'helper' : 'photo', args },
  }))
  const model = scriptedModel((_, index) => (index % 2 === 0 ? calls : 'Done.'))
  return defineAgent({ name: 'photographer', model, tools: [photo, agentTool(helper)] })
}

it.each([
  ['1.0', [image]],
  ['1.7', [image]],
  ['draft', [image]],
  [undefined, ''],
])(
  'a client that declares version %s gets what it can read, whoever made the thread',
  async (version, content) => {
    const served = await serveAgents({ agents: [photographer()] })
    await served.stream('/run', { body: inputOf({ messages: [user('u1', 'Go.')] }) })
    const { events } = await served.stream('/connect', {
      body: { threadId: 'thread-1', protocolVersion: version },
    })
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT')
    const [result] = (snapshot?.messages ?? []).filter(({ role }) => role === 'tool')
    expect(result?.content).toEqual(content)
  },
)

describe.each(clientVersions)('with the client $version', ({ version, Client }) => {
  it('what a downgrade loses is logged, once for each kind in a run', async () => {
    const { log, warnings } = recordingLog()
    const served = await serveAgents({ agents: [photographer()], log })
    const talk = served.talk({ Client })
    const lost = () => warnings.map(({ message }) => message)
    const expected =
      version === '1.0' ? [] : ['media', 'subagent'].map((kind) => `${kind} dropped for a client before 1.0`)

    const events = await talk.say('One.')
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(3)
    expect(lost().sort()).toEqual(expected)
    for (const warning of warnings)
      expect(warning).toMatchObject({ thread: 'thread-1', agent: 'photographer' })
    await talk.say('Two.')
    expect(lost()).toHaveLength(expected.length * 2)
  })
})
