import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A running CopilotKit runtime. */
export interface RuntimeProcess {
  readonly url: string
  /** What it has printed. */
  readonly printed: () => string
  readonly isAlive: () => boolean
  readonly stop: () => Promise<void>
}

/** Starts the CopilotKit runtime in front of a server, in a process of its own. */
export async function startCopilotKit(server: string, agents: readonly string[]): Promise<RuntimeProcess> {
  const script = join(import.meta.dirname, '..', 'copilotkit-runtime.mjs')
  const child = spawn(process.execPath, [script, server, ...agents], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, COPILOTKIT_TELEMETRY_DISABLED: 'true', DO_NOT_TRACK: '1' },
  })
  let text = ''
  const ended = once(child, 'close')
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const [, address] = /^(http:\S+)$/m.exec(text) ?? []
        if (address !== undefined) resolve(address)
      })
    child.on('close', () => reject(new Error(`The CopilotKit runtime did not start: ${text}`)))
  })
  return {
    url,
    printed: () => text,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill()
      await ended
    },
  }
}
