/**
 * An agent for long work: it keeps a todo list and files, both in the shared state, and delegates parts of the work to
 * subagents, each of which starts with nothing but the description of its task.
 */
import assert from 'node:assert/strict'
import { defineAgent, run } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { deepAgent } from 'millrace/prebuilt'

const todo = (content: string, status: string) => ({ content, status })
const task = (description: string) => ({
  toolCall: { name: 'task', args: { subagent_type: 'historian', description } },
})

// Scripts replace the models.
const historian = defineAgent({
  name: 'historian',
  description: 'Knows what happened, and when.',
  model: scriptedModel(({ messages }) => {
    // It reads nothing but its task.
    assert.equal(messages.length, 1)
    return JSON.stringify(messages).includes('Eiffel Tower') ? '1889' : '1937'
  }),
})

const model = scriptedModel([
  [{ toolCall: { name: 'write_todos', args: { todos: [todo('Find both years', 'in_progress')] } } }],
  // Two calls at once: the subagents run side by side.
  [task('When was the Eiffel Tower opened?'), task('When was the Golden Gate Bridge opened?')],
  [
    { toolCall: { name: 'write_file', args: { path: 'years.md', content: '1889, 1937' } } },
    { toolCall: { name: 'write_todos', args: { todos: [todo('Find both years', 'completed')] } } },
  ],
  'The bridge is 48 years younger.',
])

const researcher = deepAgent({ name: 'researcher', model, subAgents: [historian] })

const going = run(researcher, 'How much younger than the Eiffel Tower is the Golden Gate Bridge?')
for await (const event of going) {
  if (event.type === 'SUBAGENT_STARTED') console.log('at work:', event.name)
  if (event.type === 'TOOL_CALL_RESULT') console.log('result:', event.content)
}

const outcome = await going.result
assert.equal(outcome.type, 'completed')
console.log('answer:', outcome.text)
assert.equal(outcome.text, 'The bridge is 48 years younger.')
assert.deepEqual(outcome.state, {
  todos: [todo('Find both years', 'completed')],
  files: { 'years.md': '1889, 1937' },
})
const [first] = model.requests
assert.ok(first?.tools?.some(({ name }) => name === 'task'))
