import { scriptedModel } from 'millrace/models'

/**
 * Plans for the demo agents without a key: the demo model has no rule for them.
 */

/** A planner without a model: splits the user's message at every `then`. */
export const stepByStep = {
  name: 'planner',
  description: 'Makes a plan.',
  run: async function* ({ messages }) {
    yield* []
    const said = messages.findLast(({ role }) => role === 'user')?.content
    const steps = textOf(said)
      .split(/[,;.]?\s*\bthen\b[,:]?\s*|[;.]\s*|^\s*first\b[,:]?\s*/i)
      .map((step) => step.trim())
      .filter((step) => step !== '')
    return { type: 'done', result: { steps } }
  },
}

/** A replanner without a model: keeps to the plan. The executor has told each result, so it only says when all is done. */
export const inOrder = {
  name: 'replanner',
  description: 'Decides what follows.',
  run: async function* ({ state }) {
    yield* []
    const { steps } = state.plan
    const open = steps.filter(({ status }) => status !== 'done').map(({ text }) => text)
    const response =
      steps.length === 0
        ? 'There is nothing to do.'
        : steps.length === 1
          ? 'That was the only step.'
          : `That was the last of ${steps.length} steps: the plan is carried out.`
    return {
      type: 'done',
      result: open.length > 0 ? { type: 'plan', steps: open } : { type: 'respond', response },
    }
  },
}

/**
 * The demo model with one more rule: to compare cities, it goes through the steps of long work. The next step follows from
 * the messages since the user's last one, so that it goes on after a restart too.
 *
 * @param {import('millrace/models').Model} model
 */
export function deepDemoModel(model) {
  return {
    ...model,
    stream(request) {
      const answer = nextStep(request.messages)
      return answer ? scriptedModel([answer], { chunkSize: 12 }).stream(request) : model.stream(request)
    },
  }
}

function nextStep(messages) {
  const start = messages.findLastIndex(({ role }) => role === 'user')
  const said = textOf(messages[start]?.content)
  const places = [...new Set(said.match(/(?<=\s)\p{Lu}\p{L}+/gu) ?? [])]
  if (!/\bcompare\b/i.test(said) || places.length === 0) return undefined
  const since = messages.slice(start + 1)
  const results = since.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content))
  const round = since.filter(({ role, toolCalls }) => role === 'assistant' && toolCalls).length
  const found = results.slice(1, 1 + places.length).map((text, index) => `- ${places[index]}: ${text}`)
  const list = `${found.join('\n')}\n`
  switch (round) {
    case 0:
      return [
        { reasoning: 'This takes several steps. I write them down first.' },
        todos('in_progress', 'pending'),
      ]
    case 1:
      return places.map((place) => {
        const description = `What is the weather in ${place}?`
        return { toolCall: { name: 'task', args: { subagent_type: 'researcher', description } } }
      })
    case 2:
      return [
        { toolCall: { name: 'write_file', args: { path: 'comparison.md', content: list } } },
        todos('completed', 'completed'),
      ]
    default:
      return `${conclude(places, found)} What the researchers said is in comparison.md.`
  }
}

/** The researchers have said what they found. What they cannot know is how the places compare. */
function conclude(places, found) {
  const degrees = found.map((text) => Number(/(-?\d+) °C/.exec(text)?.[1] ?? NaN))
  const [low, high] = [Math.min(...degrees), Math.max(...degrees)]
  const those = (value) =>
    new Intl.ListFormat('en').format(places.filter((_, index) => degrees[index] === value))
  if (places.length < 2 || Number.isNaN(low)) return 'I have asked a researcher for each place.'
  if (low === high) return `It is equally warm everywhere: ${low} °C.`
  return `It is warmest in ${those(high)}, with ${high} °C, and coldest in ${those(low)}, with ${low} °C.`
}

function todos(research, write) {
  const list = [
    { content: 'Ask a researcher for each place', status: research },
    { content: 'Write down what they found', status: write },
  ]
  return { toolCall: { name: 'write_todos', args: { todos: list } } }
}

function textOf(content) {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(({ text = '' }) => text).join('') : ''
}
