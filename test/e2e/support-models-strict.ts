/** What OpenAI refuses in the strict schemas of a request, answered as OpenAI does. Undefined when it takes all of them. */
export function strictRefusal(body: Readonly<Record<string, unknown>>): Response | undefined {
  const complaint = strictSchemasIn(body).flatMap((schema) => complaintsAbout(schema))[0]
  if (complaint === undefined) return undefined
  const message = `Invalid schema for response_format 'response': ${complaint}`
  const error = { message, type: 'invalid_request_error', param: 'response_format', code: null }
  return Response.json({ error }, { status: 400 })
}

interface SentFormat {
  readonly strict?: boolean
  readonly schema?: unknown
  readonly parameters?: unknown
}

/** The schemas that are sent with `strict: true`: of the answer and of tools, in both APIs of OpenAI. */
function strictSchemasIn(body: Readonly<Record<string, unknown>>): unknown[] {
  const {
    response_format: chat,
    text: responses,
    tools = [],
  } = body as {
    readonly response_format?: { readonly json_schema?: SentFormat }
    readonly text?: { readonly format?: SentFormat }
    readonly tools?: readonly (SentFormat & { readonly function?: SentFormat })[]
  }
  const formats = [chat?.json_schema, responses?.format, ...tools.map((tool) => tool.function ?? tool)]
  return formats.flatMap((one) => (one?.strict === true ? [one.schema ?? one.parameters] : []))
}

const forbidden = ['allOf', 'oneOf', 'not', 'patternProperties', 'propertyNames', 'prefixItems', 'default']

function complaintsAbout(schema: unknown, at: readonly (string | number)[] = []): string[] {
  const root = (schema ?? {}) as { readonly type?: unknown }
  if (at.length === 0 && root.type !== 'object') return ['schema must be a JSON Schema of type "object".']
  const complaints: string[] = []
  const visit = (node: unknown, path: readonly (string | number)[], isMap: boolean): void => {
    if (typeof node !== 'object' || node === null) return
    const fields = node as Readonly<Record<string, unknown>>
    const context = `In context=(${path.map((step) => JSON.stringify(step)).join(', ')}),`
    if (!isMap && !Array.isArray(node))
      complaints.push(...nodeComplaints(fields).map((one) => `${context} ${one}`))
    for (const [key, member] of Object.entries(fields))
      visit(member, [...path, key], !isMap && ['properties', '$defs', 'definitions'].includes(key))
  }
  visit(schema, at, false)
  return complaints
}

function nodeComplaints(node: Readonly<Record<string, unknown>>): string[] {
  const { type, properties, required = [], additionalProperties, format } = node
  const complaints = forbidden.filter((key) => key in node).map((key) => `'${key}' is not permitted.`)
  if (Object.keys(node).length === 0) complaints.push("schema must have a 'type' key.")
  if (format === 'uri') complaints.push("'uri' is not a valid format.")
  if (type !== 'object') return complaints
  if (additionalProperties !== false)
    complaints.push("'additionalProperties' is required to be supplied and to be false.")
  const names = Object.keys(properties ?? {})
  const missing = names.find((name) => !(required as readonly string[]).includes(name))
  if (missing !== undefined)
    complaints.push(
      `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
    )
  return complaints
}
