import type { AgentNode, AgentReference } from '../session/contract.js'
import {
  curve,
  joined,
  layoutNode,
  moved,
  pathOf,
  type Block,
  type Box,
  type GraphEnd,
  type Line,
} from './layout.js'

type Edge = NonNullable<AgentNode['edges']>[number]

export interface Graph {
  readonly agents: readonly (AgentNode | AgentReference)[]
  readonly edges: readonly Edge[]
}

interface Vertex {
  readonly name: string
  readonly block: Block
  /** The column, from 0. */
  layer: number
  x: number
  y: number
}

const gap = { across: 44, down: 18 }
const padding = 20
const endSize = 30
/** Room below the vertices for each edge that leads back. */
const backRoom = 22

/** Nodes in columns: each stands right of those that lead to it. Edges that lead back run below. */
export function layoutGraph(graph: Graph, path: string): Block {
  const vertices = verticesOf(graph, path)
  const edges = graph.edges.filter(({ from, to }) => vertices.has(from) && vertices.has(to))
  const back = findBackEdges([...vertices.keys()], edges)
  assignLayers(
    vertices,
    edges.filter((edge) => !back.has(edge)),
  )
  const bottom = place([...vertices.values()])
  const blocks = [...vertices.values()].map(({ block, x, y }) => moved(block, x, y))
  const all = joined(blocks)
  const backs = [...back]
  const lines = edges.flatMap((edge) => {
    const [from, to] = [vertices.get(edge.from), vertices.get(edge.to)]
    if (!from || !to) return []
    return [
      edgeLine(edge, {
        from,
        to,
        below: back.has(edge) ? bottom + backRoom * (backs.indexOf(edge) + 0.6) : undefined,
      }),
    ]
  })
  const size = { width: all.width + padding, height: bottom + padding + backRoom * backs.length }
  const first = blocks[0]
  return {
    ...{ ...size, boxes: all.boxes, lines: [...lines, ...all.lines] },
    frames: [{ x: 0, y: 0, ...size }, ...all.frames],
    middle: first?.middle ?? size.height / 2,
  }
}

function verticesOf({ agents, edges }: Graph, path: string): Map<string, Vertex> {
  const named = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const ends = (['start', 'end'] as const).map((end): [string, Block] => [`__${end}__`, endBlock(end, path)])
  const [start, end] = ends
  const nodes = agents.map((agent, index): [string, Block] => [
    'ref' in agent ? agent.ref : agent.name,
    layoutNode(agent, pathOf(path, agent, index)),
  ])
  // The end comes before the nodes: it stands above those of its column, out of the way of edges that lead back.
  const entries = [start, end, ...nodes].flatMap((entry) => (entry ? [entry] : []))
  return new Map(
    entries
      .filter(([name]) => !/^__(start|end)__$/.test(name) || named.has(name))
      .map(([name, block]) => [name, { name, block, layer: 0, x: 0, y: 0 }]),
  )
}

function endBlock(end: GraphEnd['end'], path: string): Block {
  const box: Box = { path: `${path}/__${end}__`, node: { end }, x: 0, y: 0, width: endSize, height: endSize }
  return { width: endSize, height: endSize, middle: endSize / 2, boxes: [box], frames: [], lines: [] }
}

/** Edges that close a circle, found by going along them from the first vertex. */
function findBackEdges(names: readonly string[], edges: readonly Edge[]): Set<Edge> {
  const back = new Set<Edge>()
  const state = new Map<string, 'open' | 'done'>()
  const visit = (name: string): void => {
    state.set(name, 'open')
    for (const edge of edges.filter(({ from }) => from === name)) {
      if (state.get(edge.to) === 'open') back.add(edge)
      else if (!state.has(edge.to)) visit(edge.to)
    }
    state.set(name, 'done')
  }
  for (const name of names) if (!state.has(name)) visit(name)
  return back
}

/** The longest way to a vertex is its column. There is no circle left, so this ends. */
function assignLayers(vertices: ReadonlyMap<string, Vertex>, edges: readonly Edge[]): void {
  for (let pass = 0; pass < vertices.size; pass++)
    for (const { from, to } of edges) {
      const [source, target] = [vertices.get(from), vertices.get(to)]
      if (source && target) target.layer = Math.max(target.layer, source.layer + 1)
    }
  const last = Math.max(...[...vertices.values()].map(({ layer }) => layer))
  const end = vertices.get('__end__')
  if (end) end.layer = Math.max(end.layer, last)
}

/** Sets the coordinates, each column centred. Returns where the lowest ends. */
function place(vertices: readonly Vertex[]): number {
  const columns = new Map<number, Vertex[]>()
  for (const vertex of vertices) columns.set(vertex.layer, [...(columns.get(vertex.layer) ?? []), vertex])
  const heightOf = (column: readonly Vertex[]): number =>
    column.reduce((sum, { block }) => sum + block.height + gap.down, -gap.down)
  const height = Math.max(...[...columns.values()].map(heightOf))
  let x = padding
  for (const layer of [...columns.keys()].sort((one, other) => one - other)) {
    const column = columns.get(layer) ?? []
    let y = padding + (height - heightOf(column)) / 2
    for (const vertex of column) {
      vertex.x = x
      vertex.y = y
      y += vertex.block.height + gap.down
    }
    x += Math.max(...column.map(({ block }) => block.width)) + gap.across
  }
  return padding + height
}

interface EdgeWay {
  readonly from: Vertex
  readonly to: Vertex
  /** How low an edge runs that leads back. */
  readonly below: number | undefined
}

function edgeLine(edge: Edge, { from, to, below }: EdgeWay): Line {
  const path = to.block.boxes[0]?.path ?? ''
  const text = edge.label
  if (below === undefined) {
    const start = { x: from.x + from.block.width, y: from.y + from.block.middle }
    const end = { x: to.x, y: to.y + to.block.middle }
    const label =
      text === undefined ? {} : { label: { text, x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 - 6 } }
    return { d: curve(start, end), kind: 'edge', to: path, ...label }
  }
  const start = { x: from.x + from.block.width / 2, y: from.y + from.block.height }
  const end = { x: to.x + to.block.width / 2, y: to.y + to.block.height }
  const d = `M${start.x} ${start.y}C${start.x} ${below} ${end.x} ${below} ${end.x} ${end.y}`
  const label = text === undefined ? {} : { label: { text, x: (start.x + end.x) / 2, y: below - 4 } }
  return { d, kind: 'back', to: path, ...label }
}
