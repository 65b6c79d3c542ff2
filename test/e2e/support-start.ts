import { HttpAgent } from '@ag-ui/client'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { staleParts } from '../../scripts/ensure-built.mjs'

const root = join(import.meta.dirname, '..', '..')

export interface StartOptions {
  readonly folder: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A started `npm start`. */
export interface Started {
  readonly url: string
  /** What it has printed. */
  readonly printed: string
  /** Asks it to end, and gives its exit code. */
  stop(): Promise<number | null>
}

/** Starts the demo server on a free port, with lines for curl. Resolves when it has said all it says. */
export async function startDemo(options: StartOptions): Promise<Started> {
  const { child, exit, output } = launch({
    ...options,
    args: ['--port', '0', '--curl', ...(options.args ?? [])],
  })
  await new Promise<void>((resolve) => {
    child.stdout.on('data', () => output().includes('--help tells') && resolve())
    child.stdout.on('end', resolve)
  })
  const [, url] = /^ {2}(http:\S+)$/m.exec(output()) ?? []
  if (url === undefined) throw new Error(`The server did not start: ${output()}`)
  return {
    url,
    printed: output(),
    async stop() {
      child.kill('SIGTERM')
      return exit
    },
  }
}

/** Runs `npm start` when it is expected to end by itself, or when it has printed `stopAt`. */
export async function runStart({ stopAt, ...options }: StartOptions & { readonly stopAt?: string }) {
  const { child, exit, output } = launch(options)
  if (stopAt !== undefined) child.stdout.on('data', () => output().includes(stopAt) && child.kill('SIGTERM'))
  return { code: await exit, output: output() }
}

function launch({ folder, args = [], env = {} }: StartOptions) {
  // It would build, and tests that run side by side would be in each other's way.
  if (staleParts().length > 0)
    throw new Error('The build is older than the sources. Run `npm run build` first.')
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Without the keys that this machine may have.
    env: { PATH: process.env.PATH, MILLRACE_DIR: folder, ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return { child, exit, output: () => text }
}

/** A line for curl, taken apart: what a shell would make of it. */
export interface CurlLine {
  readonly url: string
  readonly body: string
}

let count = 0

/** The lines that post something to an agent, in order. `$(date +%s)` gives ids that differ. */
export function postsIn(printed: string, agent: string): CurlLine[] {
  const pattern = /^curl -N (\S+) -H 'content-type: application\/json' -d '(.*)'$/gm
  return [...printed.matchAll(pattern)].flatMap(([, url = '', body = '']) => {
    const shell = body.replaceAll(`'$(date +%s)'`, () => `at-${++count}`)
    return url.endsWith(`/agents/${agent}/run`) ? [{ url, body: shell }] : []
  })
}

/** Posts as curl does. The stream is linted. */
export async function post({ url, body }: CurlLine): Promise<AgUiEvent[]> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as AgUiEvent)
  assertValidStream(events, { input: JSON.parse(body) as unknown })
  return events
}

/** A client of AG-UI, whose streams are linted. */
export function talkTo(url: string, threadId: string, headers: Record<string, string> = {}) {
  const client = new HttpAgent({ url, threadId, headers })
  const events: AgUiEvent[] = []
  let count = 0
  const go = async (fields: Parameters<HttpAgent['runAgent']>[0]) => {
    const messages = [...client.messages]
    const state = client.state as unknown
    const runId = `client-run-${++count}`
    const seen: AgUiEvent[] = []
    await client.runAgent(
      { runId, ...fields },
      { onEvent: ({ event }) => void seen.push(event as AgUiEvent) },
    )
    const input = { protocolVersion: '1.0', threadId, runId, messages, state }
    assertValidStream(seen, { input: { ...input, ...fields } })
    events.push(...seen)
  }
  const say = (content: string) => {
    client.addMessage({ id: `said-${++count}`, role: 'user', content })
    return go({})
  }
  return { client, events, go, say }
}
