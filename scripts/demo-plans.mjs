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

/** A replanner without a model: keeps to the plan, and reports the results at its end. */
export const inOrder = {
  name: 'replanner',
  description: 'Decides what follows.',
  run: async function* ({ state }) {
    yield* []
    const { steps } = state.plan
    const open = steps.filter(({ status }) => status !== 'done').map(({ text }) => text)
    const told = steps.map(({ text, result }) => `- ${text}: ${result}`).join('\n')
    const response = told === '' ? 'There is nothing to do.' : `The plan is carried out:\n${told}`
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
  const found = results
    .slice(1, 1 + places.length)
    .map((text, index) => `- ${places[index]}: ${text.replace(/^Here is what I found: /, '')}`)
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
      return `I have asked a researcher for each place, and kept it in comparison.md:\n${list}`
  }
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
