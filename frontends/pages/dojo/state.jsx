import { useCoAgent } from '@copilotkit/react-core'
import { useAgent, useHumanInTheLoop, UseAgentUpdate } from '@copilotkit/react-core/v2'

const updates = [UseAgentUpdate.OnStateChanged, UseAgentUpdate.OnRunStatusChanged]

/** Follows the work of an agent by its state. */
export function Steps({ agentId }) {
  const { agent } = useAgent({ agentId, updates })
  const steps = agent.state?.steps ?? []
  if (steps.length > 0) seen.add(steps.filter(({ status }) => status === 'completed').length)
  return (
    <>
      <ol data-testid="steps">
        {steps.map(({ description, status }) => (
          <li key={description}>{`${description}: ${status}`}</li>
        ))}
      </ol>
      <output data-testid="seen">{[...seen].join(' ')}</output>
    </>
  )
}

/** How many steps were done at each moment that the page was drawn. */
const seen = new Set()

const carrots = {
  title: 'Make your recipe',
  ingredients: [{ icon: '🥕', name: 'Carrots', amount: '3 large' }],
  instructions: ['Preheat the oven'],
}

/** State that both sides change: the hook of the first generation writes, that of the second reads. */
export function Recipe({ agentId }) {
  const { state, setState } = useCoAgent({ name: agentId, initialState: { recipe: carrots } })
  const { agent } = useAgent({ agentId, updates })
  const recipe = agent.state?.recipe ?? carrots
  const add = () => {
    const potatoes = { icon: '🥔', name: 'Potatoes', amount: '12' }
    setState({ ...state, recipe: { ...recipe, ingredients: [...recipe.ingredients, potatoes] } })
  }
  return (
    <section>
      <h1 data-testid="title">{recipe.title}</h1>
      <ul data-testid="ingredients">
        {recipe.ingredients.map(({ name, amount }) => (
          <li key={name}>{`${name}: ${amount}`}</li>
        ))}
      </ul>
      <button onClick={add}>Add potatoes</button>
    </section>
  )
}

/** A document that is shown while the model writes it, and that the person keeps or rejects. */
export function Document({ agentId }) {
  const { agent } = useAgent({ agentId, updates })
  const text = agent.state?.document ?? ''
  if (agent.isRunning && text !== '') shown.add(text)
  useHumanInTheLoop(
    {
      agentId,
      name: 'confirm_changes',
      render: ({ respond, status }) => {
        if (status !== 'executing') return <></>
        const answer = (accepted) => {
          if (accepted) kept.document = text
          else agent.setState({ document: kept.document })
          void respond({ accepted })
        }
        return (
          <section data-testid="confirm" data-tool="confirm">
            <button onClick={() => answer(true)}>Confirm</button>
            <button onClick={() => answer(false)}>Reject</button>
          </section>
        )
      },
    },
    [text],
  )
  return (
    <>
      <article data-testid="document">{text}</article>
      <output data-testid="shown">{shown.size}</output>
    </>
  )
}

const shown = new Set()
const kept = { document: '' }
