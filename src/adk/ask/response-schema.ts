import { isRecord } from '../../core/is-record.js'
import type { CredentialRequest } from './redact.js'

type JsonSchema = Record<string, unknown>

/** Their values are data, not schemas. */
const data = new Set(['default', 'const', 'enum', 'example', 'examples'])

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** What the answer to a confirmation looks like. */
export function confirmationSchema(hasPayload: boolean): JsonSchema {
  const properties = { confirmed: { type: 'boolean' }, ...(hasPayload ? { payload: {} } : {}) }
  return { type: 'object', properties, required: ['confirmed'] }
}

/** The schema of a question as JSON Schema. Models and ADK write types in capitals; unknown ones allow anything. */
export function inputSchema(schema: unknown): JsonSchema | undefined {
  const read = readable(schema)
  return isRecord(read) ? read : undefined
}

function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    if (data.has(key)) return [[key, member]]
    if (key !== 'type' || isRecord(member)) return [[key, readable(member)]]
    const names = (Array.isArray(member) ? member : [member]).map((name) => String(name).toLowerCase())
    if (!names.every((name) => types.has(name))) return []
    return [[key, Array.isArray(member) ? names : names[0]]]
  })
  return Object.fromEntries(entries)
}

/** What has to come back for a credential. */
export function credentialSchema({ type, scheme }: CredentialRequest): JsonSchema {
  switch (type) {
    case 'apiKey':
      return texts(['apiKey'])
    case 'oauth2':
    case 'openIdConnect': {
      const { properties } = texts(['authResponseUri', 'authCode'])
      return {
        type: 'object',
        properties,
        anyOf: [{ required: ['authResponseUri'] }, { required: ['authCode'] }],
      }
    }
    case 'http':
      return texts(scheme?.toLowerCase() === 'basic' ? ['username', 'password'] : ['token'])
    default:
      return { type: 'object' }
  }
}

function texts(names: readonly string[]): JsonSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names }
}
