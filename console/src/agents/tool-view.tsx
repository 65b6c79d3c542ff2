import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { ToolNode } from '../session/contract.js'
import { Icon } from '../ui/icon.js'
import { JsonText } from '../ui/json-text.js'
import { membersOf, toSchema, type JsonSchema } from '../ui/json-schema.js'
import { ToolForm } from './tool-form.js'
import './tool-view.css'

interface ToolViewProps {
  readonly agent: string
  readonly tool: ToolNode
}

/** A tool: what it does, what it takes, and a form to call it. */
export function ToolView({ agent, tool }: ToolViewProps): ReactNode {
  const texts = useTexts()
  const [showsSchema, setShowsSchema] = useState(false)
  const schema = toSchema(tool.parameters)
  const hasArguments = membersOf(schema).length > 0
  return (
    <details className="tool card">
      <summary className="tool-head">
        <Icon name="tool" size={16} />
        <span className="mono tool-name">{tool.name}</span>
        <span className="muted small tool-about">{tool.description}</span>
        <Icon name="chevron" size={16} />
      </summary>
      <div className="tool-body">
        {!hasArguments && <p className="muted small">{texts.toolNoArguments}</p>}
        {hasArguments && !tool.canCall && <Arguments schema={schema} />}
        {tool.canCall ? (
          <ToolForm agent={agent} tool={tool} />
        ) : (
          <p className="muted tiny">{texts.toolCannotCall}</p>
        )}
        {tool.parameters !== undefined && (
          <button
            className="tool-schema tiny"
            aria-expanded={showsSchema}
            onClick={() => setShowsSchema(!showsSchema)}
          >
            {texts.toolSchema}
          </button>
        )}
        {showsSchema && <JsonText text={JSON.stringify(tool.parameters)} label={texts.toolSchema} />}
      </div>
    </details>
  )
}

function Arguments({ schema }: { readonly schema: JsonSchema }): ReactNode {
  const texts = useTexts()
  return (
    <dl className="tool-arguments small">
      {membersOf(schema).map(([name, member]) => (
        <div key={name} className="tool-argument">
          <dt className="mono">{name}</dt>
          <dd>
            <span className="mono muted">{typeName(member)}</span>
            {schema.required?.includes(name) && <span className="tiny muted"> · {texts.toolRequired}</span>}
            {member.description !== undefined && <span> {member.description}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function typeName({ type, enum: options }: JsonSchema): string {
  if (options) return options.map((option) => JSON.stringify(option)).join(' | ')
  return typeof type === 'string' ? type : (type?.join(' | ') ?? '…')
}
