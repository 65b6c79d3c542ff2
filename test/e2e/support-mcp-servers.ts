import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { McpServer } from '../../src/agents/mcp/mcp-server.js'
import { mcpTools, type McpToolsOptions, type McpToolSource } from '../../src/agents/mcp/mcp-tools.js'
import type { Tool } from '../../src/agents/contract.js'
import { runToEnd, toolContext } from '../support/tool-context.js'
import { afterEachTest } from '../support/after-each-test.js'

const script = join(import.meta.dirname, 'support-mcp-server.mjs')

const sources = new Set<McpToolSource>()
const servers = new Set<HttpServer>()
const folders = new Set<string>()

afterEachTest(async () => {
  await Promise.all([...sources].map((source) => source.close()))
  await Promise.all([...servers].map((server) => server.kill()))
  for (const folder of folders) rmSync(folder, { recursive: true })
  for (const used of [sources, servers, folders]) used.clear()
})

/** Tools that are closed when the test ends. */
export function toolsOf(server: McpServer, options?: McpToolsOptions): McpToolSource {
  const source = mcpTools(server, options)
  sources.add(source)
  return source
}

/** How to start the test server over stdio. */
export function command(way: string, env: Record<string, string> = {}): McpServer {
  return { command: process.execPath, args: [script, way], env }
}

/** A file that a server writes down its doings in, one a line. */
export function notebook(): { readonly env: Record<string, string>; readonly lines: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-mcp-'))
  folders.add(folder)
  const path = join(folder, 'notes')
  return {
    env: { MCP_TEST_NOTES: path },
    lines: () => readFileSync(path, 'utf8').trimEnd().split('\n'),
  }
}

/** The address of a server that all tests of a file can use: each gets a session of its own. */
export function sharedHttp(): () => Promise<string> {
  let running: Promise<HttpServer> | undefined
  afterAll(async () => (await running)?.kill())
  return async () => (await (running ??= spawnHttp())).url
}

/** Starts a server over HTTP for one test, on a free port or a given one. */
export async function startHttp(env: Record<string, string> = {}, port = '0'): Promise<HttpServer> {
  const server = await spawnHttp(env, port)
  servers.add(server)
  return server
}

interface HttpServer {
  readonly url: string
  readonly port: string
  readonly kill: () => Promise<void>
}

async function spawnHttp(env: Record<string, string> = {}, port = '0'): Promise<HttpServer> {
  const child = spawn(process.execPath, [script, 'http', port], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const found = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('exit', () => reject(new Error('the test server did not start')))
  })
  return { url: `http://127.0.0.1:${found}/mcp`, port: found, kill: () => killed(child) }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

/** The tools by name. */
export async function listed(source: McpToolSource): Promise<Map<string, Tool>> {
  const tools = await source.tools({ signal: new AbortController().signal })
  return new Map(tools.map((tool) => [tool.name, tool]))
}

/** Lists the tools and calls one. */
export async function call(source: McpToolSource, name: string, args: unknown = {}): Promise<unknown> {
  const tool = (await listed(source)).get(name)
  return (await runToEnd(tool?.call(args, toolContext()))).result
}

/** A fetch that notes down what it is asked for, as `POST {"method": ...}`. */
export function spyingFetch(): { readonly fetch: typeof fetch; readonly requests: string[] } {
  const requests: string[] = []
  return {
    requests,
    fetch: (input, init) => {
      requests.push(`${init?.method ?? ''} ${typeof init?.body === 'string' ? init.body : ''}`)
      return fetch(input, init)
    },
  }
}

/** What a promise was rejected with. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

/** For what another process will have done soon. */
export const bounded = { timeout: 10_000, interval: 20 }
