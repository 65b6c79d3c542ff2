import type { Context } from '@ag-ui/core'
import { A2UI_SCHEMA_CONTEXT_DESCRIPTION, type A2UIValidationCatalog } from '@ag-ui/a2ui-toolkit'
import { isDeeperThan, isRecord, parseJson } from '../core/json.js'
import type { JsonSchema } from '../models/index.js'
import { basicCatalog } from './basic-catalog.js'
import type { A2uiCatalog } from './contract.js'

const maxDepth = 100

/** The catalog that a page has sent in its context. Undefined if it has sent none, or none that can be read. */
export function readCatalog(context: readonly Context[]): A2uiCatalog | undefined {
  const entry = context.findLast(({ description }) => description === A2UI_SCHEMA_CONTEXT_DESCRIPTION)
  const sent = entry && parseJson(entry.value)
  if (isDeeperThan(maxDepth, sent)) return undefined
  if (!isRecord(sent) || typeof sent.catalogId !== 'string' || sent.catalogId === '') return undefined
  if (!isRecord(sent.components) || !Object.values(sent.components).every(isRecord)) return undefined
  const components = sent.components as Record<string, JsonSchema>
  return {
    catalogId: sent.catalogId,
    components: isBasic(sent.catalogId) ? shortened(components) : components,
  }
}

function isBasic(catalogId: string): boolean {
  return catalogId === basicCatalog.catalogId
}

/** Pages describe the basic components in fifty kilobytes. */
function shortened(components: A2uiCatalog['components']): A2uiCatalog['components'] {
  const known = Object.entries(basicCatalog.components).filter(([name]) => Object.hasOwn(components, name))
  return { ...components, ...Object.fromEntries(known) }
}

/** The catalog with this id that is known here: the page's, or the basic one. */
export function findCatalog(catalogId: unknown, page: A2uiCatalog | undefined): A2uiCatalog | undefined {
  return [page, basicCatalog].find((known) => known?.catalogId === catalogId)
}

type Checked = A2UIValidationCatalog['components']

/** A catalog in the form that surfaces are checked with. Without a prototype: a model may name a component `toString`. */
export function toCheckedCatalog({ components }: A2uiCatalog): A2UIValidationCatalog {
  const checked = Object.create(null) as Checked
  for (const [name, schema] of Object.entries(components)) checked[name] = flatSchema(schema)
  return { components: checked }
}

/** Pages send `allOf`, with what all components have in common first. Only properties and required ones are checked. */
export function flatSchema(schema: JsonSchema): Checked[string] {
  const parts = [schema, ...(Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [])].filter(isRecord)
  const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {})) as Record<
    string,
    unknown
  >
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as unknown[]) : []))
  return { properties, required: required.filter((name) => typeof name === 'string') }
}
