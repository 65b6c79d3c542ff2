import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  ErrorPrimitive,
  ExportedMessageRepository,
  MessagePrimitive,
  ThreadPrimitive,
} from '@assistant-ui/react'
import {
  fromAgUiMessages,
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSubmitInterruptResponses,
} from '@assistant-ui/react-ag-ui'
import { MillraceHttpAgent } from 'millrace/ag-ui'
import { useEffect, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import './page.css'

/** assistant-ui has no way to connect. It resumes a thread with a run that says nothing: that one connects. */
class Agent extends MillraceHttpAgent {
  async runAgent(input, subscriber) {
    if (input.messages.length > 0 || input.resume) return super.runAgent(input, subscriber)
    const result = await this.connectAgent(input, subscriber)
    this.onConnected?.()
    return result
  }
}

/** The server keeps the thread: there is nothing to load or to save here. */
const history = {
  load: async () => ({ messages: [], unstable_resume: true }),
  append: async () => undefined,
}

/** What assistant-ui lacks after that: open interrupts belong into the last message, and an empty thread has none. */
function afterConnecting({ messages, pendingInterrupts: interrupts }) {
  const asking = {
    status: { type: 'requires-action', reason: 'interrupt' },
    metadata: { custom: { agui: { interrupts } } },
  }
  const shown = fromAgUiMessages(messages)
  return shown.map((message, index) => (index === shown.length - 1 ? { ...message, ...asking } : message))
}

function Chat({ threadId }) {
  const agent = useMemo(() => new Agent({ url: '/agents/concierge/run', threadId }), [threadId])
  const runtime = useAgUiRuntime({ agent, adapters: { history } })
  agent.onConnected = () => {
    if (agent.messages.length === 0 || agent.pendingInterrupts.length > 0)
      runtime.thread.import(ExportedMessageRepository.fromArray(afterConnecting(agent)))
  }
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root className="thread">
        <ThreadPrimitive.Viewport className="messages">
          <ThreadPrimitive.Empty>
            <h1>What can I do for you?</h1>
          </ThreadPrimitive.Empty>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        </ThreadPrimitive.Viewport>
        <Approvals />
        <ComposerPrimitive.Root className="composer">
          <ComposerPrimitive.Input placeholder="What is the weather in Oslo?" />
          <ThreadPrimitive.If running={false}>
            <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          </ThreadPrimitive.If>
          <ThreadPrimitive.If running>
            <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          </ThreadPrimitive.If>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

/** What the agent asks before it acts. It stays open over reloads and restarts. */
function Approvals() {
  const submit = useAgUiSubmitInterruptResponses()
  const answer = (interruptId, approved) =>
    void submit([{ interruptId, status: 'resolved', payload: { approved } }])
  return useAgUiInterrupts().map(({ id, message }) => (
    <section key={id} className="approval" data-testid="approval">
      <p>{message}</p>
      <button className="plain" onClick={() => answer(id, false)}>
        No
      </button>
      <button onClick={() => answer(id, true)}>Yes, please</button>
    </section>
  ))
}

function UserMessage() {
  return (
    <MessagePrimitive.Root className="user">
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  )
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root className="assistant" data-testid="assistant">
      <MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Tool } }} />
      <MessagePrimitive.Error>
        <ErrorPrimitive.Root className="error">
          <ErrorPrimitive.Message />
        </ErrorPrimitive.Root>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  )
}

const Text = ({ text }) => <p>{text}</p>

function Reasoning({ text }) {
  return (
    <details className="reasoning">
      <summary>Thought</summary>
      {text}
    </details>
  )
}

function Tool({ toolName, args, result }) {
  return (
    <section className="tool" data-tool={toolName}>
      <header>
        <strong>{toolName.replaceAll('_', ' ')}</strong>
        <span>{result === undefined ? 'working' : 'done'}</span>
      </header>
      <code>{JSON.stringify(args)}</code>
      {result !== undefined && <code>{typeof result === 'string' ? result : JSON.stringify(result)}</code>}
    </section>
  )
}

/** The thread is in the address: a reload, and another tab, have the same one. */
function useThreadInAddress() {
  const [thread, setThread] = useState(() => location.hash.slice(1) || window.crypto.randomUUID())
  useEffect(() => {
    window.history.replaceState(null, '', `#${thread}`)
    const read = () => setThread(location.hash.slice(1))
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [thread])
  return thread
}

function Page() {
  const threadId = useThreadInAddress()
  return (
    <main>
      <a href={`#${window.crypto.randomUUID()}`}>New chat</a>
      <Chat key={threadId} threadId={threadId} />
    </main>
  )
}

createRoot(document.getElementById('root')).render(<Page />)
