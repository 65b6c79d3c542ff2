import { fork } from 'node:child_process'
import { once } from 'node:events'
import { serverFile, type Question, type ServerReport } from './server.js'
import type { TargetName } from './targets.js'

/** A server in a child process. */
export interface Child {
  readonly target: TargetName
  readonly port: number
  /** CPU time so far, in microseconds. */
  cpu(): Promise<number>
  memory(): Promise<Pick<ServerReport, 'rss' | 'heap'>>
  close(): Promise<void>
}

/** Starts a target. Options for Node are passed on, so `node --cpu-prof dist/run.js http` shows where the time goes. */
export async function startTarget(target: TargetName): Promise<Child> {
  const child = fork(serverFile, [target], {
    env: { ...process.env, NODE_ENV: 'production' },
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const next = async (): Promise<ServerReport> => {
    const [report] = (await once(child, 'message')) as [ServerReport]
    return report
  }
  const ask = (question: Question): Promise<ServerReport> => {
    child.send(question)
    return next()
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const failed = ended.then(() => Promise.reject(new Error(`the server '${target}' did not start`)))
  const { port } = await Promise.race([next(), failed])
  failed.catch(() => undefined)
  return {
    target,
    port,
    cpu: async () => (await ask('cpu')).cpu,
    memory: () => ask('memory'),
    async close() {
      child.disconnect()
      await ended
    },
  }
}
