import { isRecord } from '../../core/is-record.js'
import type { GraphEvent, GraphInterruption } from '../graph-event.js'

/**
 * Reads the chunks of `graph.stream` with `streamMode: ['values']` and `subgraphs: true`: the states of the graph
 * itself, and the questions. A question of a graph inside comes once from every graph around it, the innermost first:
 * what counts is the one of the outermost, since a node may catch it; the first one tells where it was asked.
 */
export function createChunkReader(): (chunk: unknown) => GraphEvent | undefined {
  const places = new Map<unknown, readonly string[]>()

  function readInterrupts(ns: readonly string[], entries: readonly unknown[]): GraphEvent | undefined {
    const interrupts = entries.map((entry) => toInterruption(entry, ns))
    if (ns.length === 0)
      return {
        type: 'interrupts',
        interrupts: interrupts.map((one) => ({ ...one, ns: places.get(one.id) ?? ns })),
      }
    for (const { id } of interrupts) if (id !== undefined && !places.has(id)) places.set(id, ns)
    return undefined
  }

  return (chunk) => {
    if (!Array.isArray(chunk) || !Array.isArray(chunk[0])) return { type: 'unknown', name: 'stream' }
    const [ns, mode, payload] = chunk as [string[], unknown, unknown]
    if (mode !== 'values') return { type: 'unknown', name: `stream:${String(mode)}` }
    if (isRecord(payload) && Array.isArray(payload[interruptKey]))
      return readInterrupts(ns, payload[interruptKey])
    if (ns.length > 0) return undefined
    // A graph of functions has a value of any kind.
    return isRecord(payload)
      ? { type: 'values', values: payload }
      : { type: 'unknown', name: 'stream:values' }
  }
}

const interruptKey = '__interrupt__'

function toInterruption(entry: unknown, ns: readonly string[]): GraphInterruption {
  const { id, value, response_schema: responseSchema } = isRecord(entry) ? entry : { value: entry }
  return {
    id: typeof id === 'string' ? id : undefined,
    value,
    ns,
    ...(responseSchema === undefined ? {} : { responseSchema }),
  }
}
