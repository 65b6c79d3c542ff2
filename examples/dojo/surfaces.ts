/** The surfaces of the A2UI pages. Their catalogs are those of the pages. */
import { toSurface, type A2uiComponent, type A2uiResult } from 'millrace/a2ui'
import { z } from 'zod'

const catalog = 'https://a2ui.org/demos/dojo/fixed_catalog.json'

export const flightList = z.object({
  flights: z.array(
    z.object({
      ...{ id: z.string(), airline: z.string(), airlineLogo: z.string(), flightNumber: z.string() },
      ...{ origin: z.string(), destination: z.string(), date: z.string(), departureTime: z.string() },
      ...{ arrivalTime: z.string(), duration: z.string(), status: z.string(), price: z.string() },
    }),
  ),
})

export const hotelList = z.object({
  hotels: z.array(
    z.object({ name: z.string(), location: z.string(), rating: z.number(), price: z.string() }),
  ),
})

/** Each item of the data, drawn by a component of the catalog. */
function cards(component: string, properties: Record<string, string>, action: object): A2uiComponent[] {
  const bound = Object.entries(properties).map(([name, path]): [string, object] => [name, { path }])
  return [
    { id: 'root', component: 'Row', children: { componentId: 'card', path: '/items' } },
    { id: 'card', component, ...Object.fromEntries(bound), action: { event: action } },
  ]
}

const flightProperties = Object.fromEntries(
  ['airline', 'airlineLogo', 'flightNumber', 'origin', 'destination', 'date', 'departureTime']
    .concat(['arrivalTime', 'duration', 'status', 'price'])
    .map((name) => [name, name]),
)

export function showFlights({ flights }: z.infer<typeof flightList>): A2uiResult {
  return toSurface({
    surfaceId: 'flight-search-results',
    catalogId: catalog,
    components: cards('FlightCard', flightProperties, {
      name: 'book_flight',
      context: { flightNumber: { path: 'flightNumber' } },
    }),
    data: { items: flights },
  })
}

const hotelProperties = { name: 'name', location: 'location', rating: 'rating', pricePerNight: 'price' }

/** What the pages draw of a hotel, whoever writes the surface. */
export const hotelCards = cards('HotelCard', hotelProperties, {
  name: 'book_hotel',
  context: { hotelName: { path: 'name' } },
})

export function showHotels({ hotels }: z.infer<typeof hotelList>): A2uiResult {
  const surface = { surfaceId: 'hotel-search-results', catalogId: catalog, components: hotelCards }
  return toSurface({ ...surface, data: { items: hotels } })
}
