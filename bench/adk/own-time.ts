import { Session as Inspector, type Profiler } from 'node:inspector/promises'

const intervalMicros = 100
/** A longer gap between two samples is time of other processes. */
const maxGapMicros = 3 * intervalMicros

/** The CPU time that code of a folder of Millrace takes in some work, with the built-in functions it calls, in microseconds. */
export async function ownTime(folder: string, work: () => Promise<void>): Promise<number> {
  const inspector = new Inspector()
  inspector.connect()
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.setSamplingInterval', { interval: intervalMicros })
  await inspector.post('Profiler.start')
  await work()
  const { profile } = await inspector.post('Profiler.stop')
  inspector.disconnect()
  return sumSamples(profile, new URL(folder, import.meta.resolve('millrace')).href)
}

function sumSamples({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, folder: string): number {
  const own = new Set<number>()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const visit = (id: number, isOwnCaller: boolean): void => {
    const node = byId.get(id)
    if (!node) return
    const { url } = node.callFrame
    // A function without a file is built in, and belongs to its caller.
    const isOwn = url === '' ? isOwnCaller : url.startsWith(folder)
    if (isOwn) own.add(id)
    for (const child of node.children ?? []) visit(child, isOwn)
  }
  const [root] = nodes
  if (root) visit(root.id, false)
  return samples.reduce(
    (sum, id, index) => (own.has(id) ? sum + Math.min(timeDeltas[index] ?? 0, maxGapMicros) : sum),
    0,
  )
}
