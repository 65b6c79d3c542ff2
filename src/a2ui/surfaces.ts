import type { ActivityMessage } from '@ag-ui/core'
import type { RunContext } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { isRejected, type AgentEvent, type EventOf } from '../protocol/index.js'
import { describeProblems, surfaceProblems } from './check-surface.js'
import type { A2uiCatalog } from './contract.js'
import { bySurface, dataOf, readSurfaceResult, toOperations, type SurfaceContent } from './operations.js'
import { findCatalog, readCatalog } from './page-catalog.js'
import { readProgress } from './progress.js'

/** The kind of activity that pages draw as a surface. */
const activityType = 'a2ui-surface'

/** A surface and the activity that shows it. */
interface DrawnSurface {
  readonly messageId: string
  readonly content: SurfaceContent
}

type ToolResult = EventOf<'TOOL_CALL_RESULT'>

type Call = Pick<ToolResult, 'toolCallId' | 'subagentRunId'>

interface Failure {
  readonly error: string
  readonly attempts?: readonly unknown[]
}

interface Problem {
  readonly text: string
  /** Default: the text. */
  readonly logMessage?: string
}

/** The surfaces of a thread, as one run shows and changes them. */
export class Surfaces {
  readonly #ctx: RunContext
  /** By tool call: the activity that says that a surface is being written. */
  readonly #unfinished = new Map<string, string>()
  #drawn: Map<string, DrawnSurface> | undefined
  #page: { readonly catalog: A2uiCatalog | undefined } | undefined

  constructor(ctx: RunContext) {
    this.#ctx = ctx
  }

  /** The progress of a tool that writes a surface, as pages show it. Undefined for any other event. */
  showProgress(event: AgentEvent): AgentEvent | undefined {
    const progress = event.type === 'CUSTOM' ? readProgress(event) : undefined
    if (event.type !== 'CUSTOM' || !progress) return undefined
    const { toolCallId, ...content } = progress
    const messageId = this.#activityId(toolCallId)
    this.#unfinished.set(toolCallId, messageId)
    return activity(messageId, content, event)
  }

  /** Draws what a tool has returned. A surface that cannot be drawn is shown as failed, and reported. */
  drawResult(event: ToolResult): readonly AgentEvent[] {
    const result = isRejected(event) ? undefined : readSurfaceResult(event.content)
    if (result === undefined) return this.#fail(event, { error: 'The tool has failed.' })
    if (result.type === 'failed') return this.#fail(event, result)
    const surfaces = bySurface(result.operations, (surfaceId) => this.#known.get(surfaceId)?.content)
    const problem =
      typeof surfaces === 'string' ? { text: surfaces } : this.#problemOf([...surfaces.values()])
    if (typeof surfaces !== 'string' && !problem) return this.#draw([...surfaces.values()], event)
    const { text: error = '', logMessage = error } = problem ?? {}
    const reported = new MillraceError('TOOL_ERROR', error, { logMessage })
    this.#ctx.services.report('a tool has returned a surface that cannot be drawn', reported)
    this.#unfinished.set(event.toolCallId, this.#activityId(event.toolCallId))
    return this.#fail(event, { error })
  }

  #draw(surfaces: readonly SurfaceContent[], event: ToolResult): readonly AgentEvent[] {
    const { toolCallId } = event
    const own = this.#activityId(toolCallId)
    const isAnnounced = this.#unfinished.delete(toolCallId)
    return surfaces.map((content, index) => {
      const { surfaceId } = content
      // A surface that is only changed stays where it is, unless its change was announced elsewhere.
      const isMoved = isAnnounced || !this.#isChange(content)
      const before = isMoved ? undefined : this.#known.get(surfaceId)?.messageId
      const messageId = before ?? (index === 0 ? own : `${own}-${surfaceId}`)
      this.#known.set(surfaceId, { messageId, content })
      return activity(messageId, { a2ui_operations: toOperations(content) }, event)
    })
  }

  #isChange({ surfaceId, created }: SurfaceContent): boolean {
    return this.#known.get(surfaceId)?.content.created === created
  }

  #fail(call: Call, { error, attempts = [] }: Failure): readonly AgentEvent[] {
    const messageId = this.#unfinished.get(call.toolCallId)
    this.#unfinished.delete(call.toolCallId)
    return messageId === undefined ? [] : [activity(messageId, { status: 'failed', error, attempts }, call)]
  }

  #problemOf(surfaces: readonly SurfaceContent[]): Problem | undefined {
    if (surfaces.length === 0) return { text: 'There is no operation.' }
    for (const surface of surfaces) {
      const { surfaceId, created, components, isDeleted } = surface
      if (isDeleted) continue
      if (!created)
        return { text: `The surface '${surfaceId}' does not exist: \`createSurface\` comes first.` }
      const { catalogId } = created.createSurface as Readonly<Record<string, unknown>>
      if (typeof catalogId !== 'string') return { text: `The surface '${surfaceId}' has no \`catalogId\`.` }
      const problems = surfaceProblems({
        components: [...components.values()],
        data: dataOf(surface),
        catalog: findCatalog(catalogId, this.#catalog),
        hasAllData: false,
      })
      if (problems.length === 0) continue
      // The log does not get what components say.
      const logMessage = problems.map(({ code, path }) => `${code} at ${path}`).join(', ')
      return { text: `The surface '${surfaceId}': ${describeProblems(problems)}`, logMessage }
    }
    return undefined
  }

  get #catalog(): A2uiCatalog | undefined {
    this.#page ??= { catalog: readCatalog(this.#ctx.client.context) }
    return this.#page.catalog
  }

  /** The surfaces of the thread by their ids. Read when the first is drawn: most runs draw none. */
  get #known(): Map<string, DrawnSurface> {
    if (this.#drawn) return this.#drawn
    const drawn = new Map<string, DrawnSurface>()
    for (const message of this.#ctx.messages) {
      const operations: unknown = isSurface(message) ? message.content.a2ui_operations : undefined
      if (!Array.isArray(operations)) continue
      const surfaces = bySurface(operations, () => undefined)
      if (typeof surfaces === 'string') continue
      for (const content of surfaces.values())
        drawn.set(content.surfaceId, { messageId: message.id, content })
    }
    return (this.#drawn = drawn)
  }

  /** The id that AG-UI's own middleware gives it, so that both show one surface. A call id may come twice in a thread. */
  #activityId(toolCallId: string): string {
    const announced = this.#unfinished.get(toolCallId)
    if (announced !== undefined) return announced
    const id = `${activityType}-${toolCallId}`
    const isTaken = this.#ctx.messages.some((message) => message.id === id)
    return isTaken ? `${id}-${this.#ctx.runId}` : id
  }
}

function isSurface(message: RunContext['messages'][number]): message is ActivityMessage {
  return message.role === 'activity' && message.activityType === activityType
}

function activity(
  messageId: string,
  content: object,
  { subagentRunId }: { subagentRunId?: unknown },
): AgentEvent {
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId,
    activityType,
    content: { ...content },
    replace: true,
    ...(typeof subagentRunId === 'string' ? { subagentRunId } : {}),
  }
}
