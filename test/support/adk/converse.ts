import {
  BaseTool,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  type BaseAgent,
  type BasePlugin,
  type Event,
  type LlmAgentConfig,
  type RunAsyncToolRequest,
  type Workflow,
} from '@google/adk'
import type { Content, Part } from '../../../src/adk/adk-types.js'
import { createRunTree, type RunTree, type RunTreeOptions } from '../../../src/adk/tree/run-tree.js'
import { ScriptedLlm, type LlmStep } from './scripted-llm.js'

setLogLevel(LogLevel.ERROR)

/** A client tool: nobody runs it here, its result comes with the next run. */
export class ClientTool extends BaseTool {
  constructor(name: string) {
    super({ name, description: name, isLongRunning: true })
  }

  override _getDeclaration() {
    return { name: this.name, description: this.description }
  }

  override runAsync({ toolContext }: RunAsyncToolRequest): Promise<unknown> {
    toolContext.invocationContext.endInvocation = true
    return Promise.resolve(null)
  }
}

/** An agent with a scripted model. */
export function scripted(name: string, steps: readonly LlmStep[], config: Partial<LlmAgentConfig> = {}) {
  const llm = new ScriptedLlm(steps)
  return { agent: new LlmAgent({ name, model: llm, ...config }), llm }
}

export function resultOf(id: string, name: string, response: Record<string, unknown>): Part {
  return { functionResponse: { id, name, response } }
}

export interface ConversationTurn {
  readonly events: readonly Event[]
  readonly tree: RunTree
}

export interface ConversationOptions {
  readonly plugins?: readonly BasePlugin[]
  readonly resumable?: boolean
}

/** A conversation with the real Runner, each turn with a tree of its own, over one session. */
export function converse(
  root: BaseAgent | Workflow,
  { plugins = [], resumable = false }: ConversationOptions = {},
) {
  const sessionService = new InMemorySessionService()
  const key = { appName: 'test', userId: 'u', sessionId: 's' }
  const session = sessionService.createSession(key)
  return {
    history: async () => (await sessionService.getSession(key))?.events ?? [],
    async turn(
      message: string | readonly Part[],
      options: RunTreeOptions = { resumeAt: [] },
    ): Promise<ConversationTurn> {
      await session
      const tree = createRunTree(root, options)
      const runner = new Runner({
        appName: 'test',
        agent: tree.root,
        sessionService,
        plugins: [...plugins],
        ...(resumable ? { resumabilityConfig: { isResumable: true } } : {}),
      })
      const events: Event[] = []
      try {
        for await (const event of runner.runAsync({ ...key, newMessage: contentOf(message) }))
          events.push(event)
      } finally {
        await tree.close()
      }
      return { events, tree }
    },
  }
}

function contentOf(message: string | readonly Part[]): Content {
  return { role: 'user', parts: typeof message === 'string' ? [{ text: message }] : [...message] }
}

/** The complete texts of a turn, as `author: text`. */
export function textLines({ events }: Pick<ConversationTurn, 'events'>): string[] {
  return events.flatMap(({ author, content, partial }) => {
    const text = content?.parts?.map((part) => part.text ?? '').join('')
    return text && !partial ? [`${author}: ${text}`] : []
  })
}

/** The results in a request, as text. */
export function resultsIn(contents: readonly Content[] | undefined): string[] {
  const parts = (contents ?? []).flatMap((content) => content.parts ?? [])
  return parts.flatMap(({ functionResponse }) =>
    functionResponse ? [JSON.stringify(functionResponse.response)] : [],
  )
}

/** A promise that a test resolves by hand. */
export function gate(): { readonly opened: Promise<unknown>; readonly open: () => void } {
  const controller = new AbortController()
  const opened = new Promise((resolve) => {
    controller.signal.addEventListener('abort', resolve)
  })
  return {
    opened,
    open: () => {
      controller.abort()
    },
  }
}
