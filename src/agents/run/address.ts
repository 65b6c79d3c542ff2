/**
 * Where agents stand in the tree of a run: their names, and what tells them apart, as a path. Names are escaped, so a
 * part with a colon is never one.
 */
const callPrefix = 'call:'
const lanePrefix = 'lane:'

export interface Step {
  readonly segment: string | readonly string[]
  readonly name: string
  readonly isCall: boolean
  readonly isLane: boolean
}

/** The address of a child. */
export function addressBelow(parent: string, { segment, name, isCall, isLane }: Step): string {
  const [first = '', ...more] = [segment].flat().map((part) => encodeURIComponent(part))
  const prefix = isCall ? callPrefix : isLane ? lanePrefix : ''
  return [parent, `${prefix}${first}`, ...more, encodeURIComponent(name)].join('/')
}

/** Where a tool call stands. Agents it runs stand below it. */
export function addressOfCall(parent: string, segment: string): string {
  return `${parent}/${callPrefix}${encodeURIComponent(segment)}`
}

/** The name of the agent that stands there. */
export function nameAt(address: string): string {
  return decodeURIComponent(address.slice(address.lastIndexOf('/') + 1))
}

/** The rest of an address below another: empty when they are one. Undefined when it is not below. */
export function pathFrom(above: string, address: string): readonly string[] | undefined {
  if (address === above) return []
  return address.startsWith(`${above}/`) ? address.slice(above.length + 1).split('/') : undefined
}

/** Whether the path leads through a tool call: then what is said there is not part of the conversation. */
export function isBehindCall(path: readonly string[]): boolean {
  return path.some((part) => part.startsWith(callPrefix))
}

export interface LanePlace {
  /** Where its lanes part. */
  readonly fork: string
  readonly lane: string
}

/** The lanes on the way down, outermost first. */
export function lanesOf(address: string): LanePlace[] {
  const lanes: LanePlace[] = []
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
