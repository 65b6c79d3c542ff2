/** What the server says of itself and of the caller. */
export interface Session {
  readonly user: string
  readonly app: string
  readonly isOperator: boolean
  readonly version: string
  /** The way from the page's folder to the server's routes: `..` */
  readonly root: string
  /** Whether the page may connect to servers elsewhere. */
  readonly foreign: boolean
  readonly agents: readonly AgentNode[]
}

/** An agent and what it is made of. */
export interface AgentNode {
  readonly name: string
  readonly description: string
  readonly kind: string
  readonly model?: string
  readonly examples: readonly string[]
  readonly tools: readonly ToolNode[]
  readonly agents: readonly (AgentNode | AgentReference)[]
  /** Of graphs. */
  readonly edges?: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
}

/** An agent that stands elsewhere in the tree. */
export interface AgentReference {
  readonly ref: string
}

export interface ToolNode {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly parameters?: unknown
  /** Whether the console may call it. */
  readonly canCall: boolean
}

export interface RunSummary {
  readonly runId: string
  readonly threadId: string
  readonly agent: string
  readonly user: string
  readonly title?: string
  readonly status: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly events: number
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly error?: { readonly code: string; readonly message: string }
}
