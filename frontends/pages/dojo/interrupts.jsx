import { useLangGraphInterrupt } from '@copilotkit/react-core'
import { useAgent, useInterrupt } from '@copilotkit/react-core/v2'
import { useEffect, useState } from 'react'

/**
 * What an agent asks with: a graph by the value of its interrupt, the kit by the interrupt's metadata, ADK by the payload of a
 * confirmation.
 */
function askedIn(value) {
  return value.metadata?.payload ?? value.metadata ?? value
}

/** An answer as the runtime takes it: ADK's is a confirmation with a payload. */
function answerTo(value, payload) {
  return value.metadata?.payload ? { approved: true, payload } : payload
}

/** Agents below an agent, each of which asks. */
export function Booking({ agentId }) {
  const { agent } = useAgent({ agentId })
  useLangGraphInterrupt({
    render: ({ event, resolve }) => {
      const { agent: asking, options, recommendation } = askedIn(event.value)
      return (
        <section data-testid="options" data-asking={asking}>
          {options.map((option) => (
            <button
              key={option.airline ?? option.name}
              data-recommended={JSON.stringify(option) === JSON.stringify(recommendation)}
              onClick={() => resolve(answerTo(event.value, JSON.stringify(option)))}
            >
              {option.airline ?? option.name}
            </button>
          ))}
        </section>
      )
    },
  })
  const { itinerary = {}, active_agent: active, experiences = [] } = agent.state ?? {}
  return (
    <p data-testid="itinerary">
      {active} | {itinerary.flight?.airline} | {itinerary.hotel?.name} | {experiences.length}
    </p>
  )
}

/** A tool that waits for a person. */
export function Meeting({ agentId }) {
  useInterrupt({
    agentId,
    render: ({ event, resolve }) => {
      const value = event.value.suspendPayload ?? askedIn(event.value)
      return (
        <section data-testid="picker">
          <p>{`${value.topic} with ${value.attendee}`}</p>
          <button onClick={() => resolve(answerTo(event.value, { chosen_label: 'Monday, 10:00' }))}>
            Monday
          </button>
        </section>
      )
    },
  })
  return null
}

/** A run that fails, and what the page is told. */
export function Failure({ agentId }) {
  const { agent } = useAgent({ agentId })
  const [errors, setErrors] = useState([])
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onRunErrorEvent: ({ event }) => setErrors((all) => [...all, `${event.code}: ${event.message}`]),
    })
    return unsubscribe
  }, [agent])
  return (
    <ul data-testid="errors">
      {errors.map((error, index) => (
        <li key={index}>{error}</li>
      ))}
    </ul>
  )
}
