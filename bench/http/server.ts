import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { targets, type TargetName } from './targets.js'

/** The program of a server process. Its argument is the name of a target. */
export const serverFile = fileURLToPath(import.meta.url)

/** Sent by a server process when it listens, and on each request for it. */
export interface ServerReport {
  readonly port: number
  /** CPU time so far, in microseconds. */
  readonly cpu: number
  /** Bytes, after a garbage collection. */
  readonly rss: number
  /** Bytes on the heap and in buffers, after a garbage collection. */
  readonly heap: number
}

/** A request to a server process. Memory is measured only if wanted, since that needs a garbage collection. */
export type Question = 'cpu' | 'memory'

async function main(name: TargetName): Promise<void> {
  const port = await targets[name]()
  const report = (): ServerReport => {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    return { port, cpu: user + system, rss, heap: heapUsed + external }
  }
  const answer = async (question: Question): Promise<void> => {
    // Some objects are released only after a first collection.
    for (let n = 0; question === 'memory' && n < 3; n++) {
      globalThis.gc?.()
      await nextTurn()
    }
    process.send?.(report())
  }
  process.on('message', (question: Question) => void answer(question))
  process.on('disconnect', () => process.exit(0))
  process.send?.(report())
}

if (process.argv[1] === serverFile) await main(process.argv[2] as TargetName)
