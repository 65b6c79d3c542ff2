import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { currentBuild } from './support-build.js'

/** A server in a process of its own. */
export interface ServingChild {
  readonly url: string
  /** Lets the model go on that waits for it. */
  goOn(): void
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/** Gives a function that starts a server on a database. */
export function servingChildren(): (path: string, graceMs?: number) => Promise<ServingChild> {
  const start = startingChildren('serve.mjs')
  return (path, graceMs = 10_000) => start(path, String(graceMs))
}

/** Gives a function that starts a script of `fixtures-server`. */
export function startingChildren(name: string): (...args: readonly string[]) => Promise<ServingChild> {
  const script = join(import.meta.dirname, 'fixtures-server', name)
  return async function start(...args) {
    const child = spawn(process.execPath, [script, currentBuild(), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await ended
    })
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      ended.then(({ code }) => Promise.reject(new Error(`The server ended with ${String(code)}.`))),
    ])) as [string]
    return {
      url: line,
      goOn: () => void child.stdin.write('\n'),
      signal: (name) => void child.kill(name),
      ended,
    }
  }
}
