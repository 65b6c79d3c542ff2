import { defineAgent, defineTool, loop, run, type Agent } from 'millrace'
import type { Model, ModelPart } from 'millrace/models'
import { benchKitTurns } from './turns/kit.js'

type Message = Parameters<typeof run>[1] extends infer R
  ? R extends readonly (infer M)[]
    ? M
    : never
  : never

const deltas = 100_000
const turns = 200
const histories = [10, 100, 1_000, 10_000]
const maxGrowth = 1.5
const teamRounds = 1_000
const earlyRounds = 10
const maxTeamGrowth = 1.2

/** A model that streams a number of words at once. */
function talkative(words: number): Model {
  return {
    provider: 'bench',
    modelId: 'talkative',
    async *stream(): AsyncGenerator<ModelPart> {
      for (let n = 0; n < words; n++) yield { type: 'text-delta', delta: ` token${n % 97}` }
      await Promise.resolve()
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

/** A model that calls a tool a number of times before it answers. */
function busy(times: number): Model {
  let call = 0
  return {
    provider: 'bench',
    modelId: 'busy',
    async *stream(): AsyncGenerator<ModelPart> {
      await Promise.resolve()
      if (call++ < times) {
        const toolCallId = `call-${call}`
        yield { type: 'tool-call-start', toolCallId, toolName: 'tick' }
        yield { type: 'tool-call-delta', toolCallId, delta: '{}' }
        yield { type: 'tool-call-end', toolCallId }
      } else {
        yield { type: 'text-delta', delta: 'done' }
      }
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

const tick = defineTool({ name: 'tick', description: 'Ticks.', execute: () => 'tock' })

function history(length: number): Message[] {
  return Array.from({ length }, (_, n): Message => {
    const role = n % 2 === 0 ? 'user' : 'assistant'
    return { id: `m${n}`, role, content: `This is message ${n} of the conversation.` }
  })
}

/** Runs an agent to its end, reading every event. Returns milliseconds. */
async function time(agent: Agent, messages: Message[], expected: number): Promise<number> {
  const start = performance.now()
  let events = 0
  for await (const _event of run(agent, messages)) events++
  const elapsed = performance.now() - start
  if (events < expected) throw new Error(`only ${events} of ${expected} events`)
  return elapsed
}

async function best(rounds: number, once: () => Promise<number>): Promise<number> {
  let least = Infinity
  for (let round = 0; round < rounds; round++) least = Math.min(least, await once())
  return least
}

/** The same parts straight from the model, as JSON: the least that any kit does. */
async function bare(words: number): Promise<number> {
  const start = performance.now()
  let length = 0
  const request = { messages: [], signal: new AbortController().signal }
  for await (const part of talkative(words).stream(request)) length += JSON.stringify(part).length
  if (length === 0) throw new Error('nothing was said')
  return performance.now() - start
}

/** A model that answers at once and notes the CPU time at the start of each call, in microseconds. */
function clocked(times: number[]): Model {
  return {
    provider: 'bench',
    modelId: 'clocked',
    async *stream(): AsyncGenerator<ModelPart> {
      const { user, system } = process.cpuUsage()
      times.push(user + system)
      await Promise.resolve()
      yield { type: 'text-delta', delta: 'My turn is over.' }
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

/** The CPU time of each turn of two agents in a loop, in microseconds. */
async function teamTurns(): Promise<number[]> {
  const times: number[] = []
  const agent = (name: string) => defineAgent({ name, model: clocked(times) })
  const team = loop({
    name: 'team',
    agents: [agent('writer'), agent('critic')],
    maxIterations: teamRounds + earlyRounds,
  })
  await time(team, history(1), 2 * teamRounds)
  return times.slice(1).map((at, turn) => at - (times[turn] ?? at))
}

/** The median: garbage collection hits few turns, and hard. */
function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN
}

/** What a turn around round 1,000 costs, as a multiple of one around round 10, in the same runs. */
async function benchTeam(): Promise<string[]> {
  const early: number[] = []
  const late: number[] = []
  await teamTurns()
  for (let run = 0; run < 5; run++) {
    const turns = await teamTurns()
    early.push(...turns.slice(2, 4 * earlyRounds))
    late.push(...turns.slice(-4 * earlyRounds))
  }
  const growth = median(late) / median(early)
  console.log('kit: one turn of two agents in a loop, CPU time')
  console.log(`  around round ${String(earlyRounds).padStart(5)}   ${median(early).toFixed(0)} µs`)
  console.log(
    `  around round ${String(teamRounds).padStart(5)}   ${median(late).toFixed(0)} µs (${growth.toFixed(2)}x)`,
  )
  return growth <= maxTeamGrowth
    ? []
    : [
        `kit: a turn of a team costs ${growth.toFixed(2)}x in round ${teamRounds} of what it costs in round ${earlyRounds}`,
      ]
}

export async function benchKit(): Promise<string[]> {
  const talker = () => defineAgent({ name: 'talker', model: talkative(deltas) })
  const base = await best(5, () => bare(deltas))
  const whole = await best(5, () => time(talker(), history(1), deltas))
  console.log('kit: one text delta through the whole loop')
  console.log(`  model and JSON.stringify   ${((base * 1000) / deltas).toFixed(3)} µs`)
  console.log(
    `  run(agent)                 ${((whole * 1000) / deltas).toFixed(3)} µs (${(whole / base).toFixed(2)}x)`,
  )

  console.log(`kit: one turn with a tool call, ${turns} turns a run, by length of the history`)
  const perTurn: number[] = []
  // The first measurement includes compilation and is discarded.
  for (const length of [10, ...histories]) {
    const messages = history(length)
    const agent = () =>
      defineAgent({ name: 'worker', model: busy(turns), tools: [tick], maxIterations: turns + 1 })
    const elapsed = await best(10, () => time(agent(), messages, turns))
    perTurn.push((elapsed * 1000) / turns)
    if (perTurn.length === 1) continue
    console.log(`  ${String(length).padStart(6)} messages   ${perTurn.at(-1)?.toFixed(1) ?? ''} µs a turn`)
  }
  const growth = (perTurn.at(-1) ?? NaN) / (perTurn[1] ?? NaN)
  const missed =
    growth <= maxGrowth ? [] : [`kit: a turn costs ${growth.toFixed(2)}x in a history of 10,000 messages`]
  return [...missed, ...(await benchTeam()), ...(await benchKitTurns())]
}
