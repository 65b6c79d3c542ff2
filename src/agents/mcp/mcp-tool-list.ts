import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'

/** The tools of a server, asked for once. */
export interface McpToolList {
  /** Rejects with what the SDK throws; the next call asks again then. */
  get(): Promise<readonly McpTool[]>
  /** They may have changed: the next call asks again. */
  forget(): void
}

/** Makes a list that is filled at the first use. */
export function createToolList(client: Client, timeoutMs: number): McpToolList {
  let listed: Promise<readonly McpTool[]> | undefined
  return {
    get() {
      if (listed !== undefined) return listed
      const mine = listAll(client, timeoutMs)
      mine.catch(() => {
        if (listed === mine) listed = undefined
      })
      listed = mine
      return mine
    },
    forget() {
      listed = undefined
    },
  }
}

async function listAll(client: Client, timeout: number): Promise<readonly McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const tools: McpTool[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor }
    // Not `client.listTools`: that compiles all output schemas, and one that is broken would cost us all the tools.
    const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout })
    // Those that only run as tasks, an experiment of the protocol, cannot be called.
    tools.push(...page.tools.filter(({ execution }) => execution?.taskSupport !== 'required'))
    cursor = page.nextCursor
    if (cursor === undefined) return tools
    if (cursors.has(cursor)) throw new Error(`the list does not end, it comes back to '${cursor}'`)
    cursors.add(cursor)
  }
}
