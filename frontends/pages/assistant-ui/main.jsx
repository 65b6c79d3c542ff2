import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  ErrorPrimitive,
  ExportedMessageRepository,
  MessagePrimitive,
  ThreadPrimitive,
  useAssistantTool,
} from '@assistant-ui/react'
import {
  fromAgUiMessages,
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSetState,
  useAgUiState,
  useAgUiSubmitInterruptResponses,
} from '@assistant-ui/react-ag-ui'
import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as NewestHttpAgent } from 'ag-ui-client-1.0.0'
import { MillraceHttpAgent } from 'millrace/ag-ui'
import { useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

/**
 * A page that talks to the server itself: `?server=…&agent=…&thread=…`, and `&newest` for AG-UI's newest client, or `&own`
 * for ours.
 */
const { server, agent: name, thread, newest, own } = Object.fromEntries(new URLSearchParams(location.search))

/** assistant-ui has no way to connect. It resumes a thread with a run that says nothing: that one connects. */
class ConnectingAgent extends MillraceHttpAgent {
  async runAgent(input, subscriber) {
    if (input.messages.length > 0 || input.resume) return super.runAgent(input, subscriber)
    const result = await this.connectAgent(input, subscriber)
    this.onConnected?.()
    return result
  }
}

const Client = own !== undefined ? ConnectingAgent : newest === undefined ? HttpAgent : NewestHttpAgent

/** For an agent that connects. */
const resumed = {
  load: async () => ({ messages: [], unstable_resume: true }),
  append: () => Promise.resolve(),
}

/** What the server has of this thread, or the page's greeting where it has nothing. */
const loaded = {
  async load() {
    const greeting = { id: 'hello', role: 'assistant', content: 'Hello, I am the page.' }
    const { messages, interrupts } = (await stored('message_snapshot')) ?? {
      messages: [greeting],
      interrupts: [],
    }
    const { snapshot: state } = (await stored('state_snapshot')) ?? {}
    const shown = withInterrupts(fromAgUiMessages(messages), interrupts)
    return { ...ExportedMessageRepository.fromArray(shown), state }
  },
  append: () => Promise.resolve(),
}

/** Puts open interrupts where assistant-ui has them: into the last message of the agent. */
function withInterrupts(messages, interrupts) {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  if (interrupts.length === 0) return messages
  return messages.map((message, index) =>
    index !== last
      ? message
      : {
          ...message,
          status: { type: 'requires-action', reason: 'interrupt' },
          metadata: {
            ...message.metadata,
            custom: { ...message.metadata?.custom, agui: { ...message.metadata?.custom?.agui, interrupts } },
          },
        },
  )
}

/** A conversation from elsewhere. */
const imported = fromAgUiMessages([
  { id: 'i1', role: 'user', content: 'Which plan?' },
  { id: 'i2', role: 'assistant', content: 'The old plan.' },
])

async function stored(what) {
  const response = await fetch(`${server}/agents/${name}/${what}/${thread}`)
  return response.ok ? response.json() : undefined
}

function Tools() {
  const [colour, setColour] = useState('white')
  useAssistantTool({
    toolName: 'set_colour',
    description: 'Sets the colour of the page.',
    parameters: z.object({ colour: z.string() }),
    execute: async ({ colour }) => {
      setColour(colour)
      return `The page is ${colour} now.`
    },
  })
  return (
    <p data-testid="colour" style={{ background: colour }}>
      {colour}
    </p>
  )
}

function List() {
  const state = useAgUiState()
  const setState = useAgUiSetState()
  const items = state?.items ?? []
  return (
    <section>
      <ul data-testid="list">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
      <button onClick={() => setState({ ...state, items: [...items, 'soap'] })}>Add soap</button>
    </section>
  )
}

function Approval() {
  const submit = useAgUiSubmitInterruptResponses()
  return useAgUiInterrupts().map(({ id, message }) => (
    <form key={id} data-testid="interrupt">
      <p>{message}</p>
      <button
        type="button"
        onClick={() => submit([{ interruptId: id, status: 'resolved', payload: { approved: true } }])}
      >
        Approve
      </button>
    </form>
  ))
}

function Tool({ toolName, args, result }) {
  return (
    <p data-tool={toolName}>
      {JSON.stringify(args)}: {result === undefined ? '…' : JSON.stringify(result)}
    </p>
  )
}

const Text = ({ text }) => <p>{text}</p>

function Message({ role }) {
  return (
    <MessagePrimitive.Root data-testid={role} style={{ border: '1px solid silver', margin: 4 }}>
      <MessagePrimitive.Parts components={{ Text, tools: { Fallback: Tool } }} />
      <MessagePrimitive.Error>
        <ErrorPrimitive.Root data-error>
          <ErrorPrimitive.Message />
        </ErrorPrimitive.Root>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  )
}

const User = () => <Message role="user" />
const Assistant = () => <Message role="assistant" />

function Chat() {
  const agent = useMemo(() => new Client({ url: `${server}/agents/${name}/run`, threadId: thread }), [])
  const history = own === undefined ? loaded : resumed
  const runtime = useAgUiRuntime({ agent, adapters: { history } })
  agent.onConnected = () => {
    const { messages, pendingInterrupts } = agent
    const shown = withInterrupts(fromAgUiMessages(messages), pendingInterrupts)
    if (messages.length === 0 || pendingInterrupts.length > 0)
      runtime.thread.import(ExportedMessageRepository.fromArray(shown))
  }
  const addImported = () => {
    const shown = runtime.thread.getState().messages.filter(({ id }) => id !== 'hello')
    runtime.thread.import(ExportedMessageRepository.fromArray([...shown, ...imported]))
  }
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <button onClick={addImported}>Import</button>
      <Tools />
      <List />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ UserMessage: User, AssistantMessage: Assistant }} />
        </ThreadPrimitive.Viewport>
        <Approval />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input />
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

createRoot(document.getElementById('root')).render(<Chat />)
