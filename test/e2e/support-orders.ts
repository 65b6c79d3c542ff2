import type { Interrupt, Message } from '@ag-ui/core'
import { isEqual } from '../../src/core/json.js'
import { createFold, type AgUiEvent, type Fold } from '../../src/protocol/index.js'
import { lintEvents } from '../../src/testing/index.js'
import { faultsIn } from './support-records.js'
import { ask, inputOf, user, type StoredMessage } from './support-server.js'
import { openStream, type RawStream } from './support-stream.js'

/** The server that there is now, or the next one. */
export interface Place {
  /** Waits for a server. */
  server(): Promise<PlaceServer>
  /** Called for each event that a client gets. */
  heard(event: AgUiEvent): void
}

interface PlaceServer {
  readonly url: string
  /** Whether every event is in the log before it is shown. */
  readonly isLogFirst: boolean
}

export interface CustomerOptions {
  readonly agent: string
  readonly thread: string
  readonly place: Place
  readonly random: (below: number) => number
}

const choose = {
  ...{ name: 'choose', description: 'Chooses.' },
  parameters: { type: 'object', properties: { key: { type: 'string' } } },
}

/** A client that comes back whatever happens, keeps a record of all it has seen, and finds fault. */
export class Customer {
  /** What did not hold. */
  readonly faults: string[] = []
  /** How often a run was seen to be lost. */
  losses = 0
  /** How often the last events that were seen were not in the log. */
  unlogged = 0
  readonly #options: CustomerOptions
  readonly #results = new Map<string, string>()
  readonly #chosen = new Set<string>()
  #fold: Fold = createFold({ messages: [], state: {} })
  #runs = 0
  /** Whether the server of the last run writes to the log first. */
  #isLogFirst = false

  constructor(options: CustomerOptions) {
    this.#options = options
  }

  /** Gives an order and sees to it until it is carried out. */
  async order(id: string, steps: string): Promise<void> {
    let body = this.#body({ messages: [...this.#messages(), user(`u-${id}`, `order ${id}: ${steps}`)] })
    for (let step = 0; step < 40; step++) {
      const last = await this.#run(body)
      if (last?.type === 'RUN_FINISHED' && last.outcome?.type !== 'interrupt' && this.#pending().length === 0)
        return
      if (last?.type === 'RUN_ERROR' && last.code !== 'RUN_LOST')
        this.#fault(`ended with ${String(last.code)}`)
      // Who comes back after a loss asks what is open.
      const open = last?.type === 'RUN_ERROR' ? interruptsIn(await this.#connect()) : interruptsIn([last])
      body = this.#next(open)
    }
    this.#fault(`order ${id} is never done: ${steps}`)
  }

  #messages(): Message[] {
    return [...this.#fold.messages]
  }

  #body(fields: object): Record<string, unknown> {
    const { thread } = this.#options
    return inputOf({
      ...{ threadId: thread, runId: `${thread}-run-${++this.#runs}` },
      ...{ tools: [choose], state: this.#fold.state, messages: this.#messages(), ...fields },
    })
  }

  /** Answers some of the interrupts, and carries out the calls that are the client's. */
  #next(open: readonly Interrupt[]): Record<string, unknown> {
    const { random } = this.#options
    const isAll = random(2) === 0
    const answered = open.filter((_, n) => isAll || n === 0)
    const results = this.#pending().map(({ id, function: { arguments: args } }) => {
      if (this.#chosen.has(id)) this.#fault(`asked for the call ${id} again`)
      this.#chosen.add(id)
      return { id: `r-${id}`, role: 'tool' as const, toolCallId: id, content: `chosen for ${args}` }
    })
    const resume = answered.map((interrupt) => ({
      interruptId: interrupt.id,
      ...answerTo(interrupt, { isNo: random(8) === 0, isAlone: this.#isAlone(interrupt) }),
    }))
    return this.#body({
      messages: [...this.#messages(), ...results],
      ...(resume.length > 0 ? { resume } : {}),
    })
  }

  /** Whether an interrupt asks about the only call of its message. */
  #isAlone({ toolCallId }: Interrupt): boolean {
    return this.#messages().some(
      (message) =>
        message.role === 'assistant' &&
        message.toolCalls?.length === 1 &&
        message.toolCalls[0]?.id === toolCallId,
    )
  }

  /** The calls that wait for the client. */
  #pending() {
    const messages = this.#messages()
    const results = new Set(
      messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
    )
    return messages
      .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .filter((call) => call.function.name === 'choose' && !results.has(call.id) && isWhole(call))
  }

  /** Follows a run to its end, over as many servers as it takes. */
  async #run(body: Record<string, unknown>): Promise<AgUiEvent | undefined> {
    this.#fold = createFold({ messages: body.messages as Message[], state: body.state })
    const events: AgUiEvent[] = []
    let lastId: string | undefined
    while (!isTerminal(events.at(-1))) {
      const stream =
        lastId === undefined
          ? await this.#open('run', body)
          : await this.#open('connect', this.#thread(), lastId)
      if (!stream) continue
      await stream.over()
      if (stream.status !== 200) {
        if (stream.status !== 409)
          this.#fault(`HTTP ${stream.status} for ${lastId === undefined ? 'run' : 'connect'}`)
        if (stream.status < 500 && stream.status !== 409) return undefined
        continue
      }
      events.push(...stream.events)
      for (const event of stream.events) this.#fold.apply(event)
      lastId = stream.lastId ?? lastId
    }
    this.#lint(events, body)
    await this.#compare(events)
    return events.at(-1)
  }

  #thread() {
    return { threadId: this.#options.thread, protocolVersion: '1.0' }
  }

  /** What a client sees that comes without anything. */
  async #connect(): Promise<readonly AgUiEvent[]> {
    for (;;) {
      const stream = await this.#open('connect', this.#thread())
      if (!stream) continue
      await stream.over()
      if (!isTerminal(stream.events.at(-1))) continue
      this.#fold = createFold({ messages: [], state: {} })
      for (const event of stream.events) this.#fold.apply(event)
      await this.#compare(stream.events)
      return stream.events
    }
  }

  async #open(route: string, body: unknown, lastId?: string): Promise<RawStream | undefined> {
    const { place, agent } = this.#options
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
    const { url, isLogFirst } = await place.server()
    const onEvent = (event: AgUiEvent): void => place.heard(event)
    const stream = openStream(`${url}/agents/${agent}/${route}`, { body, headers, onEvent })
    if (route === 'run') this.#isLogFirst = isLogFirst
    return stream.catch(() => undefined)
  }

  #lint(events: readonly AgUiEvent[], input: unknown): void {
    for (const { rule, message } of lintEvents([...events], { input })) this.#fault(`${rule}: ${message}`)
  }

  /** What the client holds is what the server holds, and nothing is missing that was seen. */
  async #compare(events: readonly AgUiEvent[]): Promise<void> {
    const isLost = events.at(-1)?.type === 'RUN_ERROR'
    if (isLost) this.losses++
    const isUnlogged = events.some((event) => event.type === 'CUSTOM' && event.name === 'millrace.lost')
    if (isUnlogged) this.unlogged++
    if (isUnlogged && this.#isLogFirst) this.#fault('events were seen that the log does not have')
    for (const event of events)
      if (event.type === 'TOOL_CALL_RESULT') this.#results.set(event.toolCallId, event.content as string)
    const stored = await this.#get<{ messages: readonly StoredMessage[] }>('message_snapshot')
    const { snapshot } = await this.#get<{ snapshot: unknown }>('state_snapshot')
    const hasSnapshot = events.some(({ type }) => type === 'MESSAGES_SNAPSHOT')
    const held = this.#messages()
    for (const fault of faultsIn({ held, stored: stored.messages, results: this.#results, hasSnapshot }))
      this.#fault(`${fault} after ${last(events)}`)
    if (!isEqual(snapshot, this.#fold.state))
      this.#fault(`has state ${JSON.stringify(this.#fold.state)}, and the server ${JSON.stringify(snapshot)}`)
  }

  async #get<T>(what: string): Promise<T> {
    const { place, agent, thread } = this.#options
    for (;;) {
      const { url } = await place.server()
      const answer = await ask(`${url}/agents/${agent}/${what}/${thread}`).catch(() => undefined)
      if (answer?.status === 200) return answer.body as T
      if (answer) this.#fault(`HTTP ${answer.status} for ${what}`)
    }
  }

  #fault(text: string): void {
    this.faults.push(`${this.#options.thread}: ${text}`)
    if (this.faults.length > 30) throw new Error(this.faults.join('\n'))
  }
}

const isTerminal = (event: AgUiEvent | undefined): boolean =>
  event?.type === 'RUN_FINISHED' || event?.type === 'RUN_ERROR'

const isWhole = (call: { readonly metadata?: unknown }): boolean => !JSON.stringify(call).includes('cutOff')

function interruptsIn(events: readonly (AgUiEvent | undefined)[]): readonly Interrupt[] {
  const end = events.at(-1)
  return end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt' ? end.outcome.interrupts : []
}

/** Mostly yes. Each runtime has its own way to say it; a review of LangGraph tells its own. */
function answerTo(interrupt: Interrupt, { isNo, isAlone }: { isNo: boolean; isAlone: boolean }): object {
  const isReview = JSON.stringify(interrupt.responseSchema ?? {}).includes('approve"')
  // LangChain itself, after a review that rejects one call of a message, executes none of the others, and leaves them
  // without results.
  if (isNo && (!isReview || isAlone)) return { status: 'cancelled' }
  return { status: 'resolved', payload: isReview ? { type: 'approve' } : { approved: true } }
}

const last = (events: readonly AgUiEvent[]): string =>
  events
    .slice(-6)
    .map(({ type }) => type)
    .join(' ')
