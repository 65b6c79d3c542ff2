import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { McpServer } from '../../src/agents/mcp/mcp-server.js'
import { mcpTools, type McpToolsOptions, type McpToolSource } from '../../src/agents/mcp/mcp-tools.js'
import type { Tool } from '../../src/agents/tool.js'
import { runToEnd, toolContext } from '../support/tool-context.js'

const script = join(import.meta.dirname, 'support-mcp-server.mjs')

const sources = new Set<McpToolSource>()
const children = new Set<ChildProcess>()
const folders = new Set<string>()

afterEach(async () => {
  await Promise.all([...sources].map((source) => source.close()))
  for (const child of children) await killed(child)
  for (const folder of folders) rmSync(folder, { recursive: true })
  for (const used of [sources, children, folders]) used.clear()
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
export function notebook(): { readonly env: Record<string, string>; lines(): string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-mcp-'))
  folders.add(folder)
  const path = join(folder, 'notes')
  return {
    env: { MCP_TEST_NOTES: path },
    lines: () => readFileSync(path, 'utf8').trimEnd().split('\n'),
  }
}

/** Starts the test server over HTTP, on a free port or a given one. */
export async function startHttp(env: Record<string, string> = {}, port = '0') {
  const child = spawn(process.execPath, [script, 'http', port], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
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
