import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { ToolNode } from '../session/contract.js'
import { useApi } from '../session/use-api.js'
import { JsonText } from '../ui/json-text.js'
import { initialValue, membersOf, toSchema } from '../ui/json-schema.js'
import { SchemaForm } from '../ui/schema-form.js'

interface ToolFormProps {
  readonly agent: string
  readonly tool: ToolNode
}

type Outcome =
  | { readonly type: 'waiting' }
  | { readonly type: 'result'; readonly text: string }
  | { readonly type: 'failed'; readonly message: string }

interface ToolAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: string; readonly message: string }
}

/** A form made from the tool's schema. It calls the tool on the server, outside of any thread. */
export function ToolForm({ agent, tool }: ToolFormProps): ReactNode {
  const texts = useTexts()
  const api = useApi()
  const schema = toSchema(tool.parameters)
  const [value, setValue] = useState(() => initialValue(schema))
  const [outcome, setOutcome] = useState<Outcome>()
  const call = async (): Promise<Outcome> => {
    const path = `tools/${encodeURIComponent(agent)}/${encodeURIComponent(tool.name)}`
    const { result, error } = await api.post<ToolAnswer>(path, { arguments: value ?? {} })
    return error ? { type: 'failed', message: error.message } : { type: 'result', text: textOf(result) }
  }
  const isWaiting = outcome?.type === 'waiting'
  return (
    <form
      className="tool-form"
      onSubmit={(event) => {
        event.preventDefault()
        setOutcome({ type: 'waiting' })
        call().then(setOutcome, (error: unknown) =>
          setOutcome({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
        )
      }}
    >
      {membersOf(schema).length > 0 && (
        <SchemaForm schema={schema} value={value} onChange={setValue} label={tool.name} />
      )}
      <button className="button button-primary" disabled={isWaiting}>
        {isWaiting ? texts.toolCalling : texts.toolCall}
      </button>
      <div role="status">
        {outcome?.type === 'result' && <JsonText text={outcome.text} label={texts.toolResult} />}
        {outcome?.type === 'failed' && (
          <p className="tool-failed small">
            {texts.toolFailed}: {outcome.message}
          </p>
        )}
      </div>
    </form>
  )
}

/** A text stays as it is; everything else is JSON. */
function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result, undefined, 2)
}
