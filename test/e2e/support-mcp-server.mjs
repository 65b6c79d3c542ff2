// An MCP server for tests, as a process of its own: `node support-mcp-server.mjs <way>`.
import { appendFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { EmptyResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const [, , way, port = '0'] = process.argv

/** Leaves a trace that outlives the process. */
function note(line) {
  if (process.env.MCP_TEST_NOTES) appendFileSync(process.env.MCP_TEST_NOTES, `${line}\n`)
}

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] })

function toolServer(forgetSessions = () => undefined) {
  let cancelled = 0
  const server = new McpServer({ name: 'test', version: '1' })
  const tool = (name, config, handler) => server.registerTool(name, config, handler)

  tool('echo', { description: 'Says it again.', inputSchema: { text: z.string() } }, ({ text: said }) => {
    note(`echo ${said}`)
    return text(said)
  })
  tool('pid', { annotations: { readOnlyHint: true } }, () => text(process.pid))
  tool('env', { inputSchema: { name: z.string() } }, ({ name }) => text(process.env[name] ?? ''))
  tool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  )
  tool('picture', {}, () => ({
    content: [
      { type: 'text', text: 'A dot.' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
  }))
  tool('fail', {}, () => ({ ...text('no such city'), isError: true }))
  tool(
    'count',
    { inputSchema: { to: z.number() } },
    async ({ to }, { sendNotification, sendRequest, _meta }) => {
      for (let progress = 1; progress <= to; progress++) {
        const params = {
          progressToken: _meta.progressToken,
          progress,
          total: to,
          message: `step ${progress}`,
        }
        await sendNotification({ method: 'notifications/progress', params })
        // The SDK drops progress that comes together with the result, so wait until it has arrived.
        await sendRequest({ method: 'ping' }, EmptyResultSchema)
      }
      return text('counted')
    },
  )
  tool('hang', {}, ({ signal }) => {
    note('hang')
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        cancelled += 1
        resolve(text('stopped'))
      })
    })
  })
  tool('cancelled', {}, () => text(cancelled))
  tool('die', {}, () => {
    note('die')
    process.exit(1)
  })
  tool('forget', {}, () => {
    forgetSessions()
    return text('forgotten')
  })
  tool('grow', {}, () => {
    tool('grown.tool', {}, () => text('new'))
    return text('grown')
  })
  return server
}

function pagedServer() {
  const server = new Server({ name: 'paged', version: '1' }, { capabilities: { tools: {} } })
  const pages = {
    first: ['one', 'second'],
    second: ['two', 'third'],
    third: ['three'],
    loop: ['four', 'loop'],
  }
  const start = process.env.MCP_TEST_FIRST_PAGE ?? 'first'
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const [name, nextCursor] = pages[params?.cursor ?? start]
    const inputSchema = { type: 'object' }
    const task = { name: `${name}-task`, inputSchema, execution: { taskSupport: 'required' } }
    return { tools: [{ name, inputSchema }, task], nextCursor }
  })
  return server
}

/** One MCP server per session, as the protocol wants it; forgotten with the process. */
function serveHttp() {
  const sessions = new Map()
  const server = createServer((request, response) => {
    if (
      process.env.MCP_TEST_TOKEN &&
      request.headers.authorization !== `Bearer ${process.env.MCP_TEST_TOKEN}`
    )
      return response.writeHead(401).end(`refused: ${request.headers.authorization}`)
    if (request.method === 'DELETE') note('session ended')
    const id = request.headers['mcp-session-id']
    const known = sessions.get(id)
    if (id !== undefined && known === undefined) return response.writeHead(404).end('no such session')
    void (known ?? openSession()).then((transport) => transport.handleRequest(request, response))
  })

  async function openSession() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, Promise.resolve(transport)),
    })
    await toolServer(() => sessions.clear()).connect(transport)
    return transport
  }

  server.listen(Number(port), '127.0.0.1', () => console.log(server.address().port))
}

note(`start ${process.pid}`)
switch (way) {
  case 'stdio':
    await toolServer().connect(new StdioServerTransport())
    break
  case 'paged':
    await pagedServer().connect(new StdioServerTransport())
    break
  case 'no-tools':
    await new Server({ name: 'bare', version: '1' }, { capabilities: {} }).connect(new StdioServerTransport())
    break
  case 'http':
    serveHttp()
    break
  case 'silent':
    process.stdin.resume()
    break
  case 'broken':
    console.error(`the key ${process.env.API_KEY} is not valid`)
    process.exit(1)
}
