import {
  BasePlugin,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  Runner,
  type Event,
  type LlmResponse,
  type RunnerConfig,
} from '@google/adk'
import { AdkSession, type AdkRunOptions, type AdkSessionOptions } from '../../../src/adk/retry/adk-session.js'
import type { Content } from '../../../src/adk/adk-types.js'
import type { AdkSessionState } from '../../../src/adk/retry/session-progress.js'
import { manualClock } from '../../../src/core/clock.js'
import { says, ScriptedLlm, type LlmStep } from './scripted-llm.js'

/** The start of a session rig's clock. */
export const start = 1_700_000_000_000
export const key = { appName: 'app', userId: 'ada', sessionId: 's1' }

/** The error of a busy model. ADK makes an error event of it. */
export const busy = [failsWith(503)]

export function failsWith(code: number): Error {
  return new Error(JSON.stringify({ error: { code, message: `status ${code}` } }))
}

export interface RigOptions extends Partial<AdkSessionOptions> {
  readonly root?: NonNullable<RunnerConfig['agent']>
  readonly tools?: LlmAgent['tools']
  readonly plugins?: BasePlugin[]
  readonly service?: InMemorySessionService
}

/** An ADK session in front of a real Runner with a scripted model, on a clock that a test moves. */
export async function sessionRig(steps: readonly LlmStep[], options: RigOptions = {}) {
  const { root, tools = [], plugins = [], service = new InMemorySessionService(), ...rest } = options
  const clock = manualClock(start)
  const llm = new ScriptedLlm(steps)
  if (!(await service.getSession(key))) await service.createSession(key)
  const agent = new LlmAgent({ name: 'root', model: llm, tools })
  const artifactService = new InMemoryArtifactService()
  const services = { sessionService: service, artifactService }
  const runner = rest.runner ?? new Runner({ appName: 'app', agent: root ?? agent, plugins, ...services })
  const states: AdkSessionState[] = []
  const { userId, sessionId } = key
  const onStateChange = (state: AdkSessionState) => states.push(state)
  const session = new AdkSession({ runner, userId, sessionId, clock, onStateChange, ...rest })
  const stored = async (): Promise<Event[]> => (await service.getSession(key))?.events ?? []
  return { clock, llm, service, artifactService, runner, session, states, stored, agent }
}

export type SessionRig = Awaited<ReturnType<typeof sessionRig>>

/** Reads a run to its end while the clock advances. */
export async function play(
  { session, clock }: Pick<SessionRig, 'session' | 'clock'>,
  message: string | Content = 'Hello',
  options: AdkRunOptions = {},
): Promise<Event[]> {
  const reading = session.run(message, options)
  const settled = reading.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([settled, clock.advance(500)])));
  return reading
}

export const textOf = ({ content }: Event) => content?.parts?.map(({ text }) => text ?? '').join('') ?? ''

/** The error code of each event, and `ok` for those without. */
export const codesOf = (events: readonly Event[]) => events.map(({ errorCode }) => errorCode ?? 'ok')

/** A step that records the time of its request, in seconds. */
export function timed(times: number[], now: () => number, step: readonly (LlmResponse | Error)[]): LlmStep {
  return async function* () {
    times.push((now() - start) / 1000)
    for (const response of step) {
      if (response instanceof Error) throw response
      yield await Promise.resolve(response)
    }
  }
}

/** A plugin that makes the first runs throw. */
export class Breaks extends BasePlugin {
  #left: number
  readonly #error: unknown

  constructor(times: number, error: unknown = new Error('kaput')) {
    super('breaks')
    this.#left = times
    this.#error = error
  }

  override beforeRunCallback(): Promise<undefined> {
    if (this.#left-- > 0) throw this.#error
    return Promise.resolve(undefined)
  }
}

/** A rig whose Runner throws a number of times before it answers. */
export function throwingRig(times: number, options: RigOptions = {}): Promise<SessionRig> {
  return sessionRig([says('Hi.')], { plugins: [new Breaks(times)], ...options })
}
