import { fileURLToPath } from 'node:url'
import { abuses, type AbuseName } from './abuses.js'
import type { Attack } from './attack.js'

/** The program of an attacker. Its arguments are the name of an abuse, the port, the seconds it lasts and its address. */
export const attackerFile = fileURLToPath(import.meta.url)

/** How the server has answered, by status; `cut` for connections without an answer. */
export type Answers = Readonly<Record<string, number>>

async function main(
  name: AbuseName,
  target: Pick<Attack, 'port' | 'address'>,
  seconds: number,
): Promise<void> {
  const answers: Record<string, number> = {}
  const attack: Attack = {
    ...target,
    endsAt: performance.now() + seconds * 1000,
    answered: (status) => void (answers[status] = (answers[status] ?? 0) + 1),
  }
  // What is still open does not keep it: an attacker never cleans up.
  await Promise.race([abuses[name](attack), new Promise((resolve) => setTimeout(resolve, seconds * 1000))])
  process.send?.(answers, () => process.exit(0))
}

/** A socket between two requests, when the rest of a refused body finds nobody. No request has the error. */
function ignoreBrokenSockets(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error
}

if (process.argv[1] === attackerFile) {
  process.on('uncaughtException', ignoreBrokenSockets)
  process.on('disconnect', () => process.exit(0))
  const [name, port, seconds, address = ''] = process.argv.slice(2)
  await main(name as AbuseName, { port: Number(port), address }, Number(seconds))
}
