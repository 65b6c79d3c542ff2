import type { AgentOutline, OutlineOptions, Tool } from '../contract.js'
import type { ChatConfig } from './chat-agent.js'

/** What a chat agent is made of. A source that does not answer is left out: it may be a server that is down. */
export async function outlineChat(
  { model, tools, middlewares }: ChatConfig,
  { signal }: OutlineOptions,
): Promise<AgentOutline> {
  const entries = [...tools, ...middlewares.flatMap((middleware) => middleware.tools ?? [])]
  const lists = await Promise.all(
    entries.map(async (entry): Promise<readonly Tool[]> => {
      if ('call' in entry) return [entry]
      return entry.tools({ signal }).catch(() => [])
    }),
  )
  const all = lists.flat()
  return {
    kind: 'chat',
    ...(typeof model === 'function' ? {} : { model: `${model.provider}/${model.modelId}` }),
    tools: all,
    agents: all.flatMap(({ agents = [] }) => agents),
  }
}
