import { startTarget } from '../http/child.js'
import { median } from '../http/stats.js'
import { createBurst } from '../http/workloads.js'

const warmUps = 10
const rounds = 15
/** The most CPU that an event may cost over HTTP, relative to ADK's Runner with the least translation. */
const maxRatio = 1.3

/** ADK's Runner behind `node:http` with the least translation, and the same agent behind Millrace, in turns. */
export async function benchAdkOverHttp(): Promise<string[]> {
  const children = [await startTarget('adkRunner'), await startTarget('adk')]
  const used = new Map<string, number[]>(children.map(({ target }) => [target, []]))
  try {
    const bursts = await Promise.all(
      children.map((child) => createBurst(child, { rounds: warmUps + rounds })),
    )
    for (let round = -warmUps; round < rounds; round++) {
      // There and back, so that neither always follows the other.
      for (const burst of round % 2 === 0 ? bursts : bursts.toReversed()) {
        const { cpuPerEvent } = await burst.round()
        if (round >= 0) used.get(burst.name)?.push(cpuPerEvent)
      }
    }
  } finally {
    await Promise.all(children.map((child) => child.close()))
  }
  const [bare, ours] = [median(used.get('adkRunner') ?? []), median(used.get('adk') ?? [])]
  const ratio = ours / bare
  console.log('adk: over HTTP, 50 streams at once of 1,000 deltas each, CPU of the server')
  console.log(`  Runner, least translation ${bare.toFixed(2).padStart(7)} µs an event`)
  console.log(`  millrace, in memory       ${ours.toFixed(2).padStart(7)} µs an event (${ratio.toFixed(2)}x)`)
  if (ratio <= maxRatio) return []
  return [
    `adk: an event over HTTP costs ${ratio.toFixed(2)}x the Runner with the least translation, not ${maxRatio}x`,
  ]
}
