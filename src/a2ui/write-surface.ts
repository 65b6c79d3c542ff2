import type { Context, Message } from '@ag-ui/core'
import {
  GENERATE_A2UI_ARG_DESCRIPTIONS,
  GENERATE_A2UI_TOOL_DESCRIPTION,
  GENERATE_A2UI_TOOL_NAME,
  RENDER_A2UI_TOOL_DEF,
  augmentPromptWithValidationErrors,
  buildA2UIEnvelope,
  prepareA2UIRequest,
  wrapErrorEnvelope,
  type A2UIValidationError,
} from '@ag-ui/a2ui-toolkit'
import { contextForModels } from '../bridge/model-context.js'
import { isRecord, parseJson } from '../core/json.js'
import type { JsonSchema } from '../models/index.js'
import { basicCatalog } from './basic-catalog.js'
import { surfaceProblems } from './check-surface.js'
import type { A2uiCatalog, A2uiOptions, A2uiProgress, SurfaceProblem } from './contract.js'
import { readCatalog } from './page-catalog.js'

/** The tool as the agent's model sees it. */
export const generateTool: {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
} = {
  name: GENERATE_A2UI_TOOL_NAME,
  description: GENERATE_A2UI_TOOL_DESCRIPTION,
  parameters: {
    type: 'object',
    properties: {
      intent: {
        type: 'string',
        enum: ['create', 'update'],
        description: GENERATE_A2UI_ARG_DESCRIPTIONS.intent,
      },
      target_surface_id: {
        type: 'string',
        description: GENERATE_A2UI_ARG_DESCRIPTIONS.target_surface_id,
      },
      changes: { type: 'string', description: GENERATE_A2UI_ARG_DESCRIPTIONS.changes },
    },
  },
}

/** The tool by which the model that writes surfaces answers. */
export const renderTool: {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
} = RENDER_A2UI_TOOL_DEF.function

/** The same for Gemini, which leaves out the members of objects that a schema does not name: lists come as JSON text. */
export const renderTextTool: typeof renderTool = {
  ...renderTool,
  parameters: {
    type: 'object',
    properties: {
      surfaceId: { type: 'string', description: 'Unique surface identifier.' },
      components: { type: 'string', description: 'The array of components, as JSON text.' },
      data: { type: 'string', description: 'The data model: an object, as JSON text.' },
    },
    required: ['surfaceId', 'components'],
  },
}

/** A call of the tool, for one runtime. */
export interface SurfaceRequest {
  /** The arguments that the agent's model has sent. */
  readonly args: unknown
  /** The conversation before the call. Results of tools in it hold the surfaces that can be updated. */
  readonly messages: readonly Message[]
  /** What the client has sent as context: the catalog of the page is in it. */
  readonly context: readonly Context[]
  /**
   * Asks a model for a call of `renderTool`. Returns the arguments, as an object or a JSON text; undefined if it made no call.
   * `onText` takes the number of characters that have come, as they come.
   */
  readonly write: (prompt: string, onText: (characters: number) => void) => Promise<unknown>
  readonly show: (progress: A2uiProgress) => void
}

/**
 * Has a model write a surface: checks what it writes against the catalog, tells it what is wrong, and lets it try again.
 * Returns the result of the tool, as JSON text: operations, or an error for the agent's model.
 */
export async function writeSurface(options: A2uiOptions, request: SurfaceRequest): Promise<string> {
  const { maxAttempts = 3 } = options
  const catalog = options.catalog ?? readCatalog(request.context) ?? basicCatalog
  const task = prepare(options, request, catalog)
  if (task.error !== undefined) return wrapErrorEnvelope(task.error)
  const attempts: Attempt[] = []
  let errors: readonly SurfaceProblem[] = []
  // A surface that is changed stays as it is until the new one is there.
  const show = task.isUpdate ? ignore : request.show
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    show(attempt === 1 ? { status: 'building' } : { status: 'retrying', attempt, maxAttempts, errors })
    const prompt = augmentPromptWithValidationErrors(task.prompt, errors as A2UIValidationError[])
    const written = await request.write(prompt, attempt === 1 ? countTokens(show) : ignore)
    const args = readArguments(written)
    errors = problemsOf(args, catalog)
    attempts.push({ attempt, ok: errors.length === 0, errors })
    if (errors.length === 0) return task.finish(args ?? {})
  }
  // The code and its members are those by which AG-UI's middleware knows a surface that has failed.
  const error = `No valid surface after ${maxAttempts} attempts. Tell the user in words.`
  return JSON.stringify({ error, code: 'a2ui_recovery_exhausted', attempts })
}

interface Attempt {
  readonly attempt: number
  readonly ok: boolean
  readonly errors: readonly SurfaceProblem[]
}

interface Task {
  readonly error?: string | undefined
  readonly prompt: string
  readonly isUpdate: boolean
  readonly finish: (args: Record<string, unknown>) => string
}

function prepare(
  { instructions }: A2uiOptions,
  { args, messages, context }: SurfaceRequest,
  catalog: A2uiCatalog,
): Task {
  const { intent, target_surface_id: target, changes } = isRecord(args) ? args : {}
  const targetSurfaceId = typeof target === 'string' && target !== '' ? target : undefined
  if (intent === 'update' && targetSurfaceId === undefined) {
    const error = "intent 'update' needs `target_surface_id`: the surface to change."
    return { error, prompt: '', isUpdate: true, finish: () => '' }
  }
  const shared = targetSurfaceId === undefined ? {} : { targetSurfaceId }
  const prepared = prepareA2UIRequest({
    ...shared,
    intent: intent === 'update' ? 'update' : 'create',
    ...(typeof changes === 'string' ? { changes } : {}),
    messages: [...messages],
    state: {
      'ag-ui': { context: contextForModels({ context, tools: [] }), a2ui_schema: JSON.stringify(catalog) },
    },
    ...(instructions === undefined ? {} : { guidelines: { compositionGuide: instructions } }),
  })
  const { prompt, isUpdate, prior, error } = prepared
  return {
    error,
    prompt,
    isUpdate,
    finish: (written) =>
      buildA2UIEnvelope({
        ...shared,
        args: written,
        isUpdate,
        ...(prior ? { prior } : {}),
        defaultCatalogId: catalog.catalogId,
      }),
  }
}

/** Arguments may be JSON text, and so may their members. */
function readArguments(written: unknown): Record<string, unknown> | undefined {
  const args = typeof written === 'string' ? parseJson(written) : written
  if (!isRecord(args)) return undefined
  const { components, data } = args
  return {
    ...args,
    ...(typeof components === 'string' ? { components: parseJson(components) } : {}),
    ...(typeof data === 'string' ? { data: data === '' ? {} : parseJson(data) } : {}),
  }
}

function problemsOf(
  args: Record<string, unknown> | undefined,
  catalog: A2uiCatalog,
): readonly SurfaceProblem[] {
  if (!args) {
    const message = `Answer with one call of ${renderTool.name}, with arguments that are valid JSON`
    return [{ code: 'empty_components', path: 'components', message }]
  }
  return surfaceProblems({ components: args.components, data: args.data, catalog, hasAllData: true })
}

const ignore = (): void => undefined

/** Shows about how many tokens have come, once in a while: a page that shows each would do nothing else. */
function countTokens(show: SurfaceRequest['show']): (characters: number) => void {
  const step = 100
  let characters = 0
  let next = step
  return (more) => {
    characters += more
    const tokens = Math.round(characters / 4)
    if (tokens < next) return
    next = tokens + step
    show({ status: 'building', progressTokens: tokens })
  }
}
