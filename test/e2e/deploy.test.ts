import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../src/server/index.js'
import { createMetrics } from '../../src/server/observe/metrics.js'
import { ask, inputOf, temporaryFolder, user } from './support-server.js'
import { openStream } from './support-stream.js'
import { assertValidStream } from '../../src/testing/index.js'

const root = join(import.meta.dirname, '..', '..')
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The instructions of the last stage of the Dockerfile, as `[name, rest]`. */
const image = textOf('deploy/Dockerfile')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line))
  .map((line): readonly [string, string] => {
    const [name = ''] = line.split(' ', 1)
    return [name, line.slice(name.length + 1)]
  })
const last = image.slice(image.findLastIndex(([name]) => name === 'FROM'))
const valueOf = (wanted: string): string => last.find(([name]) => name === wanted)?.[1] ?? ''
const commandIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[]
const imageEnv = Object.fromEntries(
  valueOf('ENV')
    .split(' ')
    .map((entry) => entry.split('=')),
) as Readonly<Record<string, string>>

/** Lays the files out as the image has them. */
function imageFolder(): string {
  if (!existsSync(join(root, 'dist'))) throw new Error('There is no dist. Run `npm run build` first.')
  const folder = temporaryFolder()
  for (const [, rest] of last.filter(([name]) => name === 'COPY')) {
    const sources = rest.replace('--from=build ', '').split(' ').slice(0, -1)
    for (const source of sources) {
      const from = join(root, source.replace(/^\/app\//, ''))
      const to = join(folder, source.split('/').at(-1) ?? '')
      if (/\.\w+$/.test(source)) copyFileSync(from, to)
      else symlinkSync(from, to)
    }
  }
  return folder
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

function start(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>): ChildProcess {
  const [, ...args] = command
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code] = (await once(child, 'close')) as [unknown]
  return code
}

describe('the container image', () => {
  it('is of a Node that is supported, for a user that is not root', () => {
    const [major] = /(?<=^node:)\d+(?=-slim$)/.exec(valueOf('FROM')) ?? []
    expect(Number(major)).toBeGreaterThanOrEqual(20)
    expect(valueOf('USER')).toBe('node')
    expect(valueOf('EXPOSE')).toBe(imageEnv.PORT)
    expect(valueOf('VOLUME')).toBe(imageEnv.DATA_DIR)
  })

  it('serves with its command, passes its health check, and ends in order', async () => {
    const folder = imageFolder()
    const port = String(await freePort())
    const env = {
      ...imageEnv,
      HOST: '127.0.0.1',
      PORT: port,
      DATA_DIR: join(folder, 'data'),
      API_TOKENS: 'ann=one,bob=two',
    }
    const check = () => exitOf(start(commandIn(valueOf('HEALTHCHECK')), folder, env))
    expect(await check()).toBe(1)
    const server = start(commandIn(valueOf('CMD')), folder, { ...env, MILLRACE_MODEL: 'demo' })
    const ended = exitOf(server)
    let said = ''
    for (const stream of [server.stdout, server.stderr])
      stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (!said.includes('Serving at') && server.exitCode === null)
      await Promise.race([once(server.stdout ?? server, 'data'), ended])
    expect(await check()).toBe(0)
    const url = `http://127.0.0.1:${port}`
    expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200 })
    expect(await ask(`${url}/thread/list`)).toMatchObject({ status: 401 })
    expect(await ask(`${url}/thread/list`, { headers: { authorization: 'Bearer three' } })).toMatchObject({
      status: 401,
    })
    const body = inputOf({ messages: [user('u1', 'Hello.')] })
    const headers = { authorization: 'Bearer one' }
    const stream = await openStream(`${url}/run`, { body, headers })
    await stream.whole()
    assertValidStream(stream.events, { input: body })
    expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    const others = { authorization: 'Bearer two' }
    expect(await ask(`${url}/thread/list`, { headers: others })).toMatchObject({ body: { threads: [] } })
    server.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(said).toContain('"action":"identify"')
    expect(said).not.toContain('Hello.')
  })

  it('does not start without users', async () => {
    const server = start(commandIn(valueOf('CMD')), imageFolder(), { ...imageEnv, API_TOKENS: '' })
    expect(await exitOf(server)).toBe(1)
  })
})

/** The number after a word, as in `TimeoutStopSec=40`. */
function numberAfter(text: string, word: string): number {
  return Number(/\d+/.exec(text.slice(text.indexOf(word) + word.length))?.[0])
}

describe('what stands around the server', () => {
  it('gives runs the time to end: systemd and Kubernetes wait longer than the grace', () => {
    const unit = textOf('deploy/millrace.service')
    expect(numberAfter(unit, 'TimeoutStopSec=') * 1000).toBeGreaterThan(numberAfter(unit, 'GRACE_MS=') + 5000)
    const pod = textOf('deploy/kubernetes.yaml')
    const sleepMs = numberAfter(pod, "command: ['sleep',") * 1000
    const graceMs = numberAfter(pod, 'GRACE_MS')
    expect(numberAfter(pod, 'terminationGracePeriodSeconds:') * 1000).toBeGreaterThan(
      sleepMs + graceMs + 5000,
    )
  })

  it('names files and routes that there are', () => {
    const [, script = ''] =
      /^ExecStart=\/usr\/bin\/node (\S+)$/m.exec(textOf('deploy/millrace.service')) ?? []
    expect(existsSync(join(root, script))).toBe(true)
    const routes = [...textOf('deploy/kubernetes.yaml').matchAll(/path: (\/\w+)/g)].map(([, path]) => path)
    expect(routes).toEqual(['/readyz', '/healthz'])
  })

  it('fits the limits of the server: nginx waits longer than a heartbeat, and takes the largest body', () => {
    const conf = textOf('deploy/nginx.conf')
    expect(numberAfter(conf, 'proxy_read_timeout') * 1000).toBeGreaterThan(2 * defaultLimits.heartbeatMs)
    expect(numberAfter(conf, 'client_max_body_size') * 1024 * 1024).toBe(defaultLimits.bodyBytes)
  })
})

describe('docs/guides/running.md', () => {
  const page = textOf('docs/guides/running.md')
  const files = ['Dockerfile', 'millrace.service', 'kubernetes.yaml', 'nginx.conf', 'server.mjs']
  const all = files.map((file) => textOf(`deploy/${file}`)).join('\n')

  it('names the files that there are', () => {
    for (const file of files) expect(page).toContain(`deploy/${file}`)
  })

  it('has no line of configuration that is not in one of them', () => {
    const known = new Set(all.split('\n').map((line) => line.trim()))
    const blocks = [...page.matchAll(/^```(?:nginx|ini|yaml|dockerfile)\n(.*?)^```/gms)].map(
      ([, text]) => text,
    )
    expect(blocks.length).toBeGreaterThan(2)
    const lines = blocks.flatMap((block) => (block ?? '').split('\n').map((line) => line.trim()))
    expect(lines.filter((line) => line !== '' && !known.has(line))).toEqual([])
  })

  it('names limits that there are', () => {
    const named = [...page.matchAll(/`limits\.(\w+)`/g)].map(([, name]) => name ?? '')
    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => !(name in defaultLimits))).toEqual([])
  })

  it('names metrics that there are', () => {
    const named = [...page.matchAll(/`(millrace_\w+)`/g)].map(([, name]) => name ?? '')
    const metrics = createMetrics().render()
    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([])
  })
})
