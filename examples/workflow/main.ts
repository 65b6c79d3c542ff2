/**
 * Agents in a fixed order: two in parallel, then a writer and a critic in a loop until the critic is content. Each reads
 * the messages of those before it; parallel agents do not read each other's.
 */
import assert from 'node:assert/strict'
import { breakTool, defineAgent, loop, parallel, run, sequential } from 'millrace'
import { scriptedModel, type ScriptedAnswer } from 'millrace/models'

const content: ScriptedAnswer = [{ toolCall: { name: 'end_loop' } }]

// Scripts replace the models.
const models = {
  optimist: scriptedModel(['It will be warm.']),
  pessimist: scriptedModel(['It will rain.']),
  writer: scriptedModel(['Bring a coat.', 'Bring a light coat, and an umbrella.']),
  critic: scriptedModel(['It may be warm: what kind of coat?', content]),
}

const agentOf = (name: keyof typeof models) => defineAgent({ name, model: models[name] })
const critic = defineAgent({ name: 'critic', model: models.critic, tools: [breakTool()] })

const advice = sequential({
  name: 'advice',
  agents: [
    parallel({ name: 'views', agents: [agentOf('optimist'), agentOf('pessimist')] }),
    loop({ name: 'draft', agents: [agentOf('writer'), critic], maxIterations: 5 }),
  ],
})

const names = new Map<string, string>()
const said: string[] = []
const going = run(advice, 'What do I wear tomorrow?')
for await (const event of going) {
  if (event.type === 'SUBAGENT_STARTED') names.set(event.subagentRunId, event.name)
  if (event.type === 'TEXT_MESSAGE_CONTENT')
    said.push(`${names.get(event.subagentRunId ?? '') ?? ''}: ${event.delta}`)
}
console.log(said.join('\n'))
const outcome = await going.result
assert.equal(outcome.type, 'completed')
assert.equal(outcome.text, 'Bring a light coat, and an umbrella.')
assert.deepEqual(said.slice(2), [
  'writer: Bring a coat.',
  'critic: It may be warm: what kind of coat?',
  'writer: Bring a light coat, and an umbrella.',
])

const heard = (name: keyof typeof models) =>
  models[name].requests.at(-1)?.messages.map(({ content }) => content)
assert.deepEqual(heard('optimist'), ['What do I wear tomorrow?'])
assert.deepEqual(heard('writer'), [
  'What do I wear tomorrow?',
  'For context: [optimist] said: It will be warm.',
  'For context: [pessimist] said: It will rain.',
  'Bring a coat.',
  'For context: [critic] said: It may be warm: what kind of coat?',
])
