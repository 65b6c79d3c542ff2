import * as schemas from '@a2ui/web_core/v0_9'
import { createCatalog } from '@copilotkit/a2ui-renderer'
import { z } from 'zod/v3'

// CopilotKit reads the schemas with zod 3, and resolves the paths that those of A2UI allow.
const { DynamicStringSchema: bound, DynamicNumberSchema: boundNumber, ActionSchema: action } = schemas

const flightCard = {
  description: 'A flight.',
  props: z.object({ flightNumber: bound, airline: bound, price: bound, action }).passthrough(),
}
const hotelCard = {
  description: 'A hotel.',
  props: z.object({ name: bound, location: bound, rating: boundNumber, pricePerNight: bound, action }),
}

function FlightCard({ props }) {
  return (
    <button data-card="flight" onClick={() => props.action()}>
      {props.flightNumber}: {props.airline}, {props.price}
    </button>
  )
}

function HotelCard({ props }) {
  return (
    <button data-card="hotel" onClick={() => props.action()}>
      {props.name}: {props.location}, {props.pricePerNight}
    </button>
  )
}

/** The catalogs of the A2UI pages, with the ids that the agents know. `Row` is of the basic catalog. */
export const fixedCatalog = createCatalog(
  { FlightCard: flightCard, HotelCard: hotelCard },
  { FlightCard, HotelCard },
  { catalogId: 'https://a2ui.org/demos/dojo/fixed_catalog.json', includeBasicCatalog: true },
)

export const dynamicCatalog = createCatalog(
  { HotelCard: hotelCard },
  { HotelCard },
  { catalogId: 'https://a2ui.org/demos/dojo/dynamic_catalog.json', includeBasicCatalog: true },
)
