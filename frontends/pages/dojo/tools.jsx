import { useLangGraphInterrupt } from '@copilotkit/react-core'
import { useAgentContext, useFrontendTool, useHumanInTheLoop, useRenderTool } from '@copilotkit/react-core/v2'
import { useState } from 'react'
import { z } from 'zod'

/** A tool of the page, and a context that the model reads. */
export function AgenticChat() {
  const [background, setBackground] = useState('white')
  useAgentContext({ description: 'Name of the user', value: 'Bob' })
  useFrontendTool({
    name: 'change_background',
    description: 'Changes the background of the page.',
    parameters: z.object({ background: z.string() }),
    handler: async ({ background }) => {
      setBackground(background)
      return { status: 'success' }
    },
  })
  return (
    <p data-testid="background" style={{ background }}>
      {background}
    </p>
  )
}

/** Draws a call of a tool of the agent. */
export function Weather() {
  useRenderTool({
    name: 'get_weather',
    parameters: z.object({ location: z.string() }),
    render: ({ parameters, result, status }) => {
      if (status !== 'complete') return <p data-tool="get_weather">Loading …</p>
      const { temperature, conditions } = JSON.parse(result)
      return (
        <p data-tool="get_weather">
          {parameters.location}: {temperature} °C, {conditions}
        </p>
      )
    },
  })
  return null
}

/** A tool of the page whose arguments are drawn, and after which nothing more is said. */
export function Haiku() {
  const [haikus, setHaikus] = useState([])
  useFrontendTool({
    name: 'generate_haiku',
    description: 'Shows a haiku.',
    parameters: z.object({ japanese: z.array(z.string()), english: z.array(z.string()) }),
    followUp: false,
    handler: async ({ english }) => {
      setHaikus((all) => [english.join(' / '), ...all])
      return 'shown'
    },
    render: ({ args }) => <p data-tool="haiku">{(args.japanese ?? []).join(' ')}</p>,
  })
  return (
    <ul data-testid="haikus">
      {haikus.map((haiku, index) => (
        <li key={index}>{haiku}</li>
      ))}
    </ul>
  )
}

/** Steps that a person chooses among: for a tool of the page, and for the interrupt of a graph. */
export function Plan({ agentId }) {
  useLangGraphInterrupt({
    render: ({ event, resolve }) => (
      <Choose steps={event.value.steps} onDone={(chosen) => resolve(chosen.join(', '))} />
    ),
  })
  useHumanInTheLoop({
    agentId,
    name: 'generate_task_steps',
    description: 'Lets the person choose among steps.',
    parameters: z.object({ steps: z.array(z.object({ description: z.string(), status: z.string() })) }),
    render: ({ args, status, respond }) =>
      status === 'executing' ? (
        <Choose steps={args.steps} onDone={(chosen) => respond({ accepted: true, steps: chosen })} />
      ) : (
        <></>
      ),
  })
  return null
}

function Choose({ steps, onDone }) {
  const all = steps.map(({ description }) => description)
  const [left, setLeft] = useState(all)
  return (
    <section data-testid="steps" data-tool="steps">
      {all.map((step) => (
        <label key={step}>
          <input
            type="checkbox"
            checked={left.includes(step)}
            onChange={() => setLeft(left.filter((kept) => kept !== step))}
          />
          {step}
        </label>
      ))}
      <button onClick={() => onDone(left)}>Perform</button>
    </section>
  )
}
