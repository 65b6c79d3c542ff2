import { isRecord } from '../../core/json.js'
import type { JsonSchema, ModelRequest } from '../contract.js'
import type { AiSdkCallOptions, AiSdkLanguageModel } from './specification.js'

/** The call options that ask for an output, if the request does. */
export type OutputOptions = (
  request: Pick<ModelRequest, 'output' | 'settings'>,
) => Pick<AiSdkCallOptions, 'responseFormat' | 'providerOptions'>

// They make a schema fit themselves.
const lenientProviders = ['anthropic', 'google']

/**
 * Asks for output in strict mode, the default of OpenAI and its like, and without it where it would refuse the schema.
 * Warns then, once for a schema.
 */
export function createOutputOptions(
  { provider }: Pick<AiSdkLanguageModel, 'provider'>,
  onWarning: (message: string) => void,
): OutputOptions {
  const [name = ''] = provider.split('.')
  const isLenient = lenientProviders.includes(name)
  const known = new WeakMap<JsonSchema, StrictSchema>()
  const strictOf = (original: JsonSchema): StrictSchema => {
    const strict = toStrictSchema(original)
    known.set(original, strict)
    if (strict.problem !== undefined && !isLenient)
      onWarning(`The output is not asked for in strict mode, which has no such schemas: ${strict.problem}.`)
    return strict
  }
  return ({ output, settings }) => {
    if (!output) return {}
    const { schema, problem } = known.get(output.schema) ?? strictOf(output.schema)
    const responseFormat = { type: 'json', ...output, schema }
    if (problem === undefined || isLenient) return { responseFormat }
    const given = settings?.providerOptions ?? {}
    // Azure reads the options of OpenAI too.
    const loose = [name, 'openai'].map((key) => [key, { strictJsonSchema: false, ...given[key] }] as const)
    return { responseFormat, providerOptions: { ...given, ...Object.fromEntries(loose) } }
  }
}

interface StrictSchema {
  readonly schema: JsonSchema
  /** Why a strict mode would refuse it. */
  readonly problem: string | undefined
}

/**
 * Closes every object that does not say whether it is open: strict modes want `additionalProperties: false` at each
 * depth, and schema libraries leave it out. They also want every member required, and know few keywords.
 */
function toStrictSchema(schema: JsonSchema): StrictSchema {
  const problems: string[] = []
  if (schema.type !== 'object') problems.push('the answer is not an object')
  return { schema: closed(schema, '$', problems), problem: problems[0] }
}

const refused = [
  ...['allOf', 'oneOf', 'not', 'if', 'patternProperties', 'propertyNames', 'prefixItems', 'default'],
  ...['dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems', 'contains'],
]
const formats: ReadonlySet<string> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
])

function closed(node: JsonSchema, path: string, problems: string[]): JsonSchema {
  const keyword = refused.find((one) => one in node)
  if (keyword !== undefined) problems.push(`${path} has '${keyword}'`)
  if (Object.keys(node).length === 0) problems.push(`${path} may be anything`)
  if (typeof node.format === 'string' && !formats.has(node.format))
    problems.push(`${path} has the format '${node.format}'`)
  const copy: Record<string, unknown> = { ...node }
  for (const key of ['properties', '$defs', 'definitions'])
    if (isRecord(node[key])) {
      const at = key === 'properties' ? path : `${path}.${key}`
      copy[key] = Object.fromEntries(
        Object.entries(node[key]).map(([name, one]) => [
          name,
          closedIfSchema(one, `${at}.${name}`, problems),
        ]),
      )
    }
  for (const key of ['anyOf', 'oneOf', 'prefixItems'])
    if (Array.isArray(node[key]))
      copy[key] = node[key].map((one: unknown) => closedIfSchema(one, path, problems))
  if ('items' in node) copy.items = closedIfSchema(node.items, `${path}[]`, problems)
  return isObjectSchema(node) ? { ...copy, ...closingOf(node, path, problems) } : copy
}

function closedIfSchema(value: unknown, path: string, problems: string[]): unknown {
  return isRecord(value) ? closed(value, path, problems) : value
}

function isObjectSchema({ type, properties }: JsonSchema): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined
}

/** An object without listed members, or with others allowed, is open on purpose. */
function closingOf(node: JsonSchema, path: string, problems: string[]): JsonSchema {
  const { properties, required, additionalProperties } = node
  if (!isRecord(properties) || (additionalProperties !== undefined && additionalProperties !== false)) {
    if (additionalProperties !== false) problems.push(`${path} may have any members`)
    return {}
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  const optional = Object.keys(properties).find((name) => !names.includes(name))
  if (optional !== undefined) problems.push(`${path}.${optional} is optional`)
  return { additionalProperties: false }
}
