/**
 * Plugins of ADK, and what happens when time is over: a tool that hangs gets an error as its result and the model goes on;
 * a run that takes too long ends with what `runtimeTimeout` returns.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { BasePlugin, FunctionTool, LlmAgent, type BaseTool } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer, type RunInfo } from 'millrace/server'
import { z } from 'zod'

/** Counts the calls of tools, for all agents of the tree. */
class CallCounter extends BasePlugin {
  readonly calls = new Map<string, number>()

  override beforeToolCallback({ tool }: { tool: BaseTool }): Promise<undefined> {
    this.calls.set(tool.name, (this.calls.get(tool.name) ?? 0) + 1)
    return Promise.resolve(undefined)
  }
}

const never = new Promise<never>(() => undefined)
const search = new FunctionTool({
  name: 'search_archive',
  description: 'Searches the archive.',
  parameters: z.object({ text: z.string() }),
  execute: () => never,
})

const counter = new CallCounter('call-counter')
const archivist = new LlmAgent({ name: 'archivist', model: demoLlm({ paceMs: 0 }), tools: [search] })

async function ask(limits: { runTimeoutMs?: number; toolTimeoutMs?: number }): Promise<HttpAgent> {
  const server = createServer({
    // Limits of this agent. Those of the server hold for agents without their own.
    agents: [fromAdk(archivist, { plugins: [counter], limits })],
    hooks: {
      runtimeTimeout: ({ runId }: RunInfo) => [
        { type: 'TEXT_MESSAGE_CHUNK', messageId: `${runId}-late`, delta: 'The archive is slow today.' },
      ],
    },
  })
  const serving = await serve(server, { port: 0 })
  const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
  client.addMessage({ id: 'u1', role: 'user', content: 'Do a search_archive for "maps".' })
  await client.runAgent().catch(() => undefined)
  await serving.close()
  return client
}

const withToolLimit = await ask({ toolTimeoutMs: 200 })
const result = withToolLimit.messages.find(({ role }) => role === 'tool')
console.log('the tool:', result?.content)
assert.match(JSON.stringify(result), /200 ms/)
assert.equal(withToolLimit.messages.at(-1)?.role, 'assistant')

const withRunLimit = await ask({ runTimeoutMs: 1000 })
console.log('the run:', withRunLimit.messages.at(-1)?.content)
assert.equal(withRunLimit.messages.at(-1)?.content, 'The archive is slow today.')

assert.deepEqual([...counter.calls], [['search_archive', 2]])
