import { outlineTree, type Agent, type OutlineNode, type OutlineReference } from '../../agents/index.js'
import type { Clock } from '../../core/clock.js'
import type { ConsoleOptions } from '../contract.js'
import { jsonResponse, type UserRoute } from '../routes/route.js'

/** `GET /session`: who the user is, what the page may do, and the agents with all that they are made of. */
export function createSessionRoute({ path, foreign, toolCalls }: Required<ConsoleOptions>): UserRoute {
  // Relative to the page: the server may stand below a path that it does not know.
  const root = path.slice(1).replace(/[^/]+/g, '..')
  return {
    method: 'GET',
    path: '/session',
    async handle({ agents, clock }, { user, isOperator }) {
      const [version, ...outlines] = await Promise.all([
        packageVersion(),
        ...Array.from(agents.values(), (agent) => outlineInTime(agent, clock)),
      ])
      const canCall = toolCalls && isOperator
      const drawn = outlines.map((outline) => toAgentNode(outline, canCall))
      return jsonResponse({ ...user, isOperator, version, root, foreign, toolCalls: canCall, agents: drawn })
    },
  }
}

/** A toolset may ask a server that does not answer. */
const outlineMs = 3000

/** The outline of an agent, or its name alone when that takes too long. */
export async function outlineInTime(agent: Agent, clock: Clock): Promise<OutlineNode> {
  const late = new AbortController()
  const { name, description, examples = [] } = agent
  const bare: OutlineNode = { name, description, examples, kind: 'custom', tools: [], agents: [] }
  return new Promise((resolve) => {
    const cancel = clock.schedule(outlineMs, () => {
      late.abort()
      resolve(bare)
    })
    const outlined = outlineTree(agent, { signal: late.signal })
    void outlined.then(resolve).finally(cancel)
  })
}

function toAgentNode(node: OutlineNode | OutlineReference, canCall: boolean): object {
  if ('ref' in node) return node
  const { tools, agents, ...own } = node
  return {
    ...own,
    tools: tools.map(({ name, description, parameters, call }) => ({
      ...{ name, description, parameters },
      canCall: canCall && call !== undefined,
    })),
    agents: agents.map((inner) => toAgentNode(inner, canCall)),
  }
}

let version: Promise<string> | undefined

/** The version of the package, where there is a file system to read it from. */
function packageVersion(): Promise<string> {
  version ??= readVersion().catch(() => '')
  return version
}

async function readVersion(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8')
  return String((JSON.parse(text) as { readonly version?: unknown }).version)
}
