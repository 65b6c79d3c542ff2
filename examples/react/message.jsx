/** One message of the thread. Results of tools are shown with their calls. */
export function Message({ message, results }) {
  const { role, content, toolCalls = [] } = message
  if (role === 'user') return <p className="user">{textOf(content)}</p>
  if (role === 'reasoning') return <Reasoning text={textOf(content)} />
  if (role !== 'assistant') return null
  return (
    <div className="assistant" data-testid="assistant">
      {textOf(content) && <p>{textOf(content)}</p>}
      {toolCalls.map((call) => (
        <ToolCall key={call.id} call={call} result={results.get(call.id)} />
      ))}
    </div>
  )
}

function Reasoning({ text }) {
  return (
    <details className="reasoning">
      <summary>Thought</summary>
      {text}
    </details>
  )
}

function ToolCall({ call: { function: tool }, result }) {
  return (
    <section className="tool" data-tool={tool.name}>
      <header>
        <strong>{tool.name.replaceAll('_', ' ')}</strong>
        <span className={result ? 'done' : 'working'}>{result ? 'done' : 'working'}</span>
      </header>
      <Facts json={tool.arguments} />
      {result && <Facts json={textOf(result.content)} />}
    </section>
  )
}

/** The members of an object as a list; anything else, and JSON that is still being written, as a text. */
function Facts({ json }) {
  const value = parse(json)
  if (typeof value !== 'object' || value === null) return <p>{typeof value === 'string' ? value : json}</p>
  return (
    <dl>
      {Object.entries(value).map(([name, fact]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof fact === 'string' ? fact : JSON.stringify(fact)}</dd>
        </div>
      ))}
    </dl>
  )
}

function parse(json) {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Messages are a text, or parts of which some are texts. */
function textOf(content) {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => part.text ?? '').join('')
}
