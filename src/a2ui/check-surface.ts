import { validateA2UIComponents } from '@ag-ui/a2ui-toolkit'
import { isDeeperThan, isRecord } from '../core/json.js'
import { jsonSize } from '../core/json-size.js'
import type { A2uiCatalog, SurfaceProblem } from './contract.js'
import { propertyProblems } from './check-properties.js'
import { toCheckedCatalog } from './page-catalog.js'

/** How large a surface may be, in bytes of its JSON. */
const maxBytes = 512 * 1024

const maxDepth = 50

/** How many problems are told: the first ones are enough to write the surface again. */
const maxProblems = 20

export interface CheckedSurface {
  readonly components: unknown
  readonly data?: unknown
  /** Undefined: nobody here knows its components, and only their structure is checked. */
  readonly catalog: A2uiCatalog | undefined
  /** Whether every path in a component must lead to a value. */
  readonly hasAllData: boolean
}

/** What is wrong with a surface; an empty list when it can be drawn. */
export function surfaceProblems({
  components,
  data,
  catalog,
  hasAllData,
}: CheckedSurface): readonly SurfaceProblem[] {
  if (jsonSize([components, data], maxBytes) > maxBytes)
    return [problem('too_large', `The surface has more than ${maxBytes} bytes. Write a smaller one`)]
  if (isDeeperThan(maxDepth, [components, data]))
    return [problem('too_deep', 'The surface is nested too deeply. Refer to components by id')]
  const list = Array.isArray(components) ? (components as Record<string, unknown>[]) : []
  const { errors } = validateA2UIComponents({
    components: list,
    data: isRecord(data) ? data : {},
    validateBindings: hasAllData,
    ...(catalog ? { catalog: toCheckedCatalog(catalog) } : {}),
  })
  // What is not sound cannot be drawn in thought.
  const problems =
    errors.length > 0 || !catalog ? errors : propertyProblems({ components: list, data, catalog })
  return problems.slice(0, maxProblems)
}

/** Problems as one line each. */
export function describeProblems(problems: readonly SurfaceProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('\n')
}

function problem(code: string, message: string): SurfaceProblem {
  return { code, path: 'components', message }
}
