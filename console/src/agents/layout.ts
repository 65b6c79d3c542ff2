import type { AgentNode, AgentReference } from '../session/contract.js'
import { layoutGraph } from './layout-graph.js'

/** A picture of an agent: boxes, frames around the nodes of graphs, and lines. Coordinates are pixels. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly frames: readonly Rect[]
  readonly lines: readonly Line[]
}

export interface Rect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** An agent, a reference to one, or the start or end of a graph. */
export interface Box extends Rect {
  /** The names from the root down: `team/weather`. */
  readonly path: string
  readonly node: AgentNode | AgentReference | GraphEnd
}

export interface GraphEnd {
  readonly end: 'start' | 'end'
}

export interface Line {
  /** Of an SVG path. */
  readonly d: string
  readonly kind: 'tree' | 'edge' | 'back'
  /** The box that it leads to. */
  readonly to: string
  readonly label?: { readonly text: string; readonly x: number; readonly y: number }
}

/** A part of a picture, placed at 0,0. Lines from the left arrive at `middle`. */
export interface Block extends Picture {
  readonly middle: number
}

const boxSize = { width: 172, height: 58 }
/** Nodes of graphs are many, and have little to say. */
const nodeSize = { width: 124, height: 50 }
const gap = { across: 44, down: 14 }

/** Draws the tree from left to right: what an agent is made of stands to its right. */
export function layoutAgent(agent: AgentNode): Picture {
  return layoutNode(agent, agent.name)
}

export function layoutNode(node: AgentNode | AgentReference, path: string): Block {
  const size = 'kind' in node && node.kind === 'node' ? nodeSize : boxSize
  const own = { path, node, x: 0, y: 0, ...size }
  const leaf = { ...size, boxes: [own], frames: [], lines: [], middle: size.height / 2 }
  if ('ref' in node || node.agents.length === 0) return leaf
  const inner =
    node.edges && node.edges.length > 0
      ? layoutGraph({ agents: node.agents, edges: node.edges }, path)
      : stack(node.agents.map((agent, index) => layoutNode(agent, pathOf(path, agent, index))))
  return besides(leaf, inner)
}

/** Two agents of one name have two paths. */
export function pathOf(above: string, node: AgentNode | AgentReference, index: number): string {
  return `${above}/${'ref' in node ? `→${node.ref}` : node.name}#${index}`
}

/** Blocks below each other. Lines from their left come from one point. */
function stack(blocks: readonly Block[]): Block {
  let y = 0
  const placed = blocks.map((block) => {
    const at = moved(block, 0, y)
    y += block.height + gap.down
    return at
  })
  const first = placed[0]?.middle ?? 0
  const last = placed.at(-1)?.middle ?? 0
  const all = joined(placed)
  return { ...all, height: y - gap.down, middle: (first + last) / 2 }
}

function besides(left: Block, inner: Block): Block {
  const x = left.width + gap.across
  // The root of the block stands beside the middle of what it is made of.
  const shift = Math.max(0, left.middle - inner.middle)
  const right = moved(inner, x, shift)
  const root = moved(left, 0, Math.max(0, right.middle - left.middle))
  const from = { x: left.width, y: root.middle }
  const lines = entriesOf(inner).map(({ path, y, x: entryX }): Line => {
    const to = { x: entryX + x, y: y + shift }
    return { d: curve(from, to), kind: 'tree', to: path }
  })
  const all = joined([root, right])
  return { ...all, lines: [...lines, ...all.lines], middle: root.middle }
}

/** Where lines from the left arrive: at a frame as a whole, else at each box of the first column. */
function entriesOf(
  block: Block,
): readonly { readonly path: string; readonly x: number; readonly y: number }[] {
  const [frame] = block.frames
  if (frame?.x === 0 && frame.width === block.width && frame.height === block.height)
    return [{ path: '', x: 0, y: block.middle }]
  return block.boxes
    .filter(({ x }) => x === 0)
    .map(({ path, y, height }) => ({ path, x: 0, y: y + height / 2 }))
}

interface Point {
  readonly x: number
  readonly y: number
}

export function curve(from: Point, to: Point): string {
  const half = (from.x + to.x) / 2
  return `M${from.x} ${from.y}C${half} ${from.y} ${half} ${to.y} ${to.x} ${to.y}`
}

export function moved(block: Block, x: number, y: number): Block & { readonly lines: readonly Line[] } {
  const move = <T extends Rect>(rect: T): T => ({ ...rect, x: rect.x + x, y: rect.y + y })
  return {
    ...block,
    width: block.width + x,
    height: block.height + y,
    middle: block.middle + y,
    boxes: block.boxes.map(move),
    frames: block.frames.map(move),
    lines: block.lines.map((line) => moveLine(line, x, y)),
  }
}

function moveLine(line: Line, x: number, y: number): Line {
  let isX = false
  const d = line.d.replace(/-?\d+(?:\.\d+)?/g, (number) => {
    isX = !isX
    return String(Number(number) + (isX ? x : y))
  })
  const { label } = line
  return { ...line, d, ...(label && { label: { ...label, x: label.x + x, y: label.y + y } }) }
}

export function joined(blocks: readonly Block[]): Picture {
  return {
    width: Math.max(...blocks.map(({ width }) => width)),
    height: Math.max(...blocks.map(({ height }) => height)),
    boxes: blocks.flatMap(({ boxes }) => boxes),
    frames: blocks.flatMap(({ frames }) => frames),
    lines: blocks.flatMap(({ lines }) => lines),
  }
}
