import { choicesOf, toSchema, type JsonSchema } from '../ui/json-schema.js'

/** What a card offers, as its response schema says. */
export type AnswerShape =
  /** A yes or no in a member, maybe with arguments to edit, a reason and more fields. */
  | {
      readonly type: 'approval'
      readonly key: string
      readonly argumentsKey?: string
      readonly reasonKey?: string
      /** The schema without these members. */
      readonly rest: JsonSchema
    }
  /** One of several decisions: LangGraph's review of tool calls. */
  | { readonly type: 'decision'; readonly allowed: readonly string[] }
  | { readonly type: 'form'; readonly schema: JsonSchema }
  /** Any text. */
  | { readonly type: 'text' }

const approvalKeys = ['approved', 'confirmed', 'accepted', 'approve', 'confirm', 'accept']
const argumentsKeys = [
  'arguments',
  'args',
  'editedArguments',
  'edited_arguments',
  'editedArgs',
  'input',
  'payload',
]
const reasonKeys = ['reason', 'comment', 'feedback', 'note', 'message']

export function shapeOf(responseSchema: unknown): AnswerShape {
  const schema = toSchema(responseSchema)
  const { properties = {} } = schema
  const decisions = choicesOf(properties.type ?? {}).filter((name) => typeof name === 'string')
  if (decisions.includes('approve') || decisions.includes('reject'))
    return { type: 'decision', allowed: decisions }
  const key = approvalKeys.find((name) => isFlag(properties[name]))
  if (key !== undefined) return toApproval(schema, key)
  if (Object.keys(schema).length === 0) return { type: 'text' }
  return { type: 'form', schema }
}

function toApproval(schema: JsonSchema, key: string): AnswerShape {
  const { properties = {} } = schema
  const argumentsKey = argumentsKeys.find((name) => name in properties)
  const reasonKey = reasonKeys.find((name) => properties[name]?.type === 'string')
  const taken = [key, argumentsKey, reasonKey]
  const others = Object.entries(properties).filter(([name]) => !taken.includes(name))
  return {
    ...{ type: 'approval', key, rest: { ...schema, properties: Object.fromEntries(others) } },
    ...(argumentsKey === undefined ? {} : { argumentsKey }),
    ...(reasonKey === undefined ? {} : { reasonKey }),
  }
}

function isFlag(schema: JsonSchema | undefined): boolean {
  return schema?.type === 'boolean' || (schema?.anyOf?.some(({ type }) => type === 'boolean') ?? false)
}
