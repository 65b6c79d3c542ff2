import { createCatalog } from '@copilotkit/a2ui-renderer'
import { z } from 'zod/v3'

const action = z.object({ event: z.object({ name: z.string(), context: z.record(z.any()).optional() }) })

/** A catalog of the page's own, for surfaces of A2UI: one component. CopilotKit reads its schemas with zod 3. */
export const ownCatalog = createCatalog(
  { Ticket: { description: 'A ticket.', props: z.object({ to: z.string(), action: action.optional() }) } },
  {
    Ticket: ({ props, dispatch }) => (
      <p data-testid="ticket">
        <button onClick={() => dispatch(props.action)}>To {props.to}</button>
      </p>
    ),
  },
  { catalogId: 'https://example.com/tickets.json' },
)
