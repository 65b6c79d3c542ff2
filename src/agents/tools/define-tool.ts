import type { StandardSchemaV1 } from '@standard-schema/spec'
import { MillraceError } from '../../core/errors.js'
import type { JsonSchema } from '../../models/index.js'
import { describeIssues } from '../json-schema/issues.js'
import { isStandardSchema, toChecker, toJsonSchema, type Checker } from './schema.js'
import { checkGiven } from '../check-agent.js'
import type { Tool, ToolContext } from '../contract.js'

interface ToolBasics<Args> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  /** What it does and when to use it, for the model. */
  readonly description: string
  /** The result ends the agent: the model does not see it. */
  readonly returnDirectly?: boolean
  /** How long a call may take, in milliseconds. See `Tool.timeoutMs`. */
  readonly timeoutMs?: number
  /**
   * Executes a call, with checked arguments. May be sync, async, or a generator that yields progress and returns
   * the result. Its errors go back to the model, unless the agent's `onToolError` says otherwise.
   */
  execute(args: Args, ctx: ToolContext): unknown
}

/** A tool whose arguments a schema library checks and types. */
export interface SchemaToolDefinition<Input extends StandardSchemaV1> extends ToolBasics<
  StandardSchemaV1.InferOutput<Input>
> {
  readonly input: Input
  /** Sent to the model in place of `input`, for libraries that do not convert to JSON Schema. */
  readonly parameters?: JsonSchema
}

/** A tool whose arguments are checked against JSON Schema. Nothing checks `Args` itself. */
export interface JsonToolDefinition<Args> extends ToolBasics<Args> {
  readonly input?: undefined
  readonly parameters: JsonSchema
}

/** A tool without arguments. Any that a model sends are ignored. */
export interface PlainToolDefinition extends ToolBasics<Record<string, never>> {
  readonly input?: undefined
  readonly parameters?: undefined
}

/**
 * Makes a tool. Throws INVALID_AGENT when the definition is invalid. A call throws INVALID_TOOL_ARGUMENTS, in words a
 * model can act on, when the arguments do not fit.
 *
 * @example
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The weather in a city, now.',
 *   input: z.object({ city: z.string() }),
 *   execute: ({ city }, { signal }) => fetchWeather(city, { signal }),
 * })
 */
export function defineTool<Input extends StandardSchemaV1>(definition: SchemaToolDefinition<Input>): Tool
export function defineTool<Args = unknown>(definition: JsonToolDefinition<Args>): Tool
export function defineTool(definition: PlainToolDefinition): Tool
export function defineTool(
  definition: SchemaToolDefinition<StandardSchemaV1> | JsonToolDefinition<unknown> | PlainToolDefinition,
): Tool {
  checkBasics(definition)
  const { name, description, returnDirectly, timeoutMs } = definition
  const { parameters, check } = toParameters(definition)
  return {
    name,
    description,
    parameters,
    ...(returnDirectly === undefined ? {} : { returnDirectly }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    async call(args, ctx) {
      const checked = await check(args)
      if (!checked.ok) {
        const message = `The arguments of tool '${name}' do not fit:\n${describeIssues(checked.issues)}`
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', message, { details: { issues: checked.issues } })
      }
      // The overloads tie the schema to the argument of `execute`; here its type is unknown.
      return definition.execute(checked.value as never, ctx)
    },
  }
}

function checkBasics(definition: ToolBasics<never>): void {
  checkGiven('defineTool', definition, '{ name, description, execute }')
  const { name, description, timeoutMs } = definition
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw invalidTool(name, 'a name is 1 to 64 letters, digits, underscores and hyphens')
  if (typeof description !== 'string' || description.trim() === '')
    throw invalidTool(name, 'a description is missing; the model chooses by it')
  if (typeof definition.execute !== 'function') throw invalidTool(name, '`execute` must be a function')
  if (timeoutMs !== undefined && !(timeoutMs > 0)) throw invalidTool(name, '`timeoutMs` must be more than 0')
}

interface ToolInput {
  readonly name: string
  readonly input?: StandardSchemaV1 | undefined
  readonly parameters?: JsonSchema | undefined
}

function toParameters({ name, input, parameters }: ToolInput): { parameters: JsonSchema; check: Checker } {
  const what = `Tool '${name}'`
  if (input !== undefined && !isStandardSchema(input))
    throw invalidTool(name, '`input` must be a Standard Schema; plain JSON Schema goes into `parameters`')
  const schema = input ?? parameters
  if (schema === undefined)
    return { parameters: noParameters, check: () => Promise.resolve({ ok: true, value: {} }) }
  const shown = toJsonSchema(parameters ?? schema, what)
  if (shown.type !== 'object')
    throw invalidTool(
      name,
      `the arguments must be an object, with \`type: 'object'\` at the top of the JSON Schema`,
    )
  return { parameters: shown, check: toChecker(schema, what) }
}

const noParameters: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }

function invalidTool(name: unknown, why: string): MillraceError {
  return new MillraceError('INVALID_AGENT', `Tool '${String(name)}': ${why}.`)
}
