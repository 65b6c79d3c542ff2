import { defineAgent, type Agent } from '../../src/index.js'
import { scriptedModel, type ScriptPiece } from '../../src/models/index.js'
import { deferred } from '../support/run-agent.js'

/** An agent that says one word after the other, each when the test lets it. */
export interface GatedAgent {
  readonly agent: Agent
  readonly words: readonly string[]
  /** Lets it say the words up to and including the one at this place. */
  readonly say: (place: number) => void
  readonly sayAll: () => void
  /** Resolves when its model has said all of its words. */
  readonly hasSaidAll: Promise<void>
}

/** Made for one run; the runs after it say all they have at once. */
export function gatedAgent(words: readonly string[], name = 'speaker'): GatedAgent {
  const gates = words.map(() => deferred())
  const pieces = words.flatMap((word, place): ScriptPiece[] => [
    { wait: () => gates[place]?.promise ?? Promise.resolve() },
    word,
  ])
  const saidAll = deferred()
  pieces.push({
    wait() {
      saidAll.resolve()
      return Promise.resolve()
    },
  })
  const model = scriptedModel((_request, index) => (index === 0 ? pieces : [`Answer ${index + 1}.`]))
  const say = (place: number): void => {
    for (const gate of gates.slice(0, place + 1)) gate.resolve()
  }
  return {
    agent: defineAgent({ name, model }),
    words,
    hasSaidAll: saidAll.promise,
    say,
    sayAll: () => say(words.length - 1),
  }
}
