/**
 * Addresses of agents and tool calls in the tree of a run: names, and what makes them unique, as a path. Names are
 * escaped, so a part with a colon is never a name.
 */
const callPrefix = 'call:'
const lanePrefix = 'lane:'

/** The address of the run's own agent. */
export function rootAddress({ name }: { readonly name: string }): string {
  return encodeURIComponent(name)
}

export interface ChildPosition {
  readonly segment: string | readonly string[]
  readonly name: string
  readonly isCall: boolean
  readonly isLane: boolean
}

/** The address of a child. */
export function addressBelow(parent: string, { segment, name, isCall, isLane }: ChildPosition): string {
  const [first = '', ...more] = [segment].flat().map((part) => encodeURIComponent(part))
  const prefix = isCall ? callPrefix : isLane ? lanePrefix : ''
  return [parent, `${prefix}${first}`, ...more, encodeURIComponent(name)].join('/')
}

/** The address of a tool call. Agents that it runs stand below it. */
export function addressOfCall(parent: string, segment: string): string {
  return `${parent}/${callPrefix}${encodeURIComponent(segment)}`
}

/** The name of the agent at an address. */
export function nameAt(address: string): string {
  return decodeURIComponent(address.slice(address.lastIndexOf('/') + 1))
}

/** The address of the root of the run. */
export function rootOf(address: string): string {
  const end = address.indexOf('/')
  return end === -1 ? address : address.slice(0, end)
}

/** The path from one address down to another: empty when they are the same, undefined when it is not below. */
export function pathFrom(above: string, address: string): readonly string[] | undefined {
  if (address === above) return []
  return address.startsWith(`${above}/`) ? address.slice(above.length + 1).split('/') : undefined
}

/** Whether a path leads through a tool call: then messages there are not part of the conversation. */
export function isBehindCall(path: readonly string[]): boolean {
  return path.some((part) => part.startsWith(callPrefix))
}

export interface ParallelLane {
  /** The address of the agent that runs the lanes. */
  readonly fork: string
  readonly lane: string
}

/** The parallel lanes on the way down to an address, outermost first. */
export function lanesOf(address: string): ParallelLane[] {
  const lanes: ParallelLane[] = []
  for (let start = address.indexOf(`/${lanePrefix}`); start !== -1;) {
    const end = address.indexOf('/', start + 1)
    lanes.push({
      fork: address.slice(0, start),
      lane: address.slice(start + 1, end === -1 ? undefined : end),
    })
    start = address.indexOf(`/${lanePrefix}`, start + 1)
  }
  return lanes
}
