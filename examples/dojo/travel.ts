/** What the travel agents offer, whatever their runtime. */
const flights = [
  {
    ...{ airline: 'KLM', departure: 'Amsterdam (AMS)', arrival: 'San Francisco (SFO)' },
    ...{ price: '$650', duration: '11h 30m' },
  },
  {
    ...{ airline: 'United', departure: 'Amsterdam (AMS)', arrival: 'San Francisco (SFO)' },
    ...{ price: '$720', duration: '12h 15m' },
  },
]

const hotels = [
  { name: 'Hotel Zephyr', location: "Fisherman's Wharf", price_per_night: '$280/night', rating: '4.2 stars' },
  { name: 'The Ritz-Carlton', location: 'Nob Hill', price_per_night: '$550/night', rating: '4.8 stars' },
  { name: 'Hotel Zoe', location: 'Union Square', price_per_night: '$320/night', rating: '4.4 stars' },
]

export const experiences = [
  { name: 'Pier 39', type: 'activity', description: 'Sea lions and shops', location: "Fisherman's Wharf" },
  { name: 'Tartine Bakery', type: 'restaurant', description: 'Bread and cake', location: 'Mission District' },
]

/** What a person is asked: the page draws `options` and answers with one of them. */
export interface Choice {
  readonly agent: 'flights' | 'hotels'
  readonly message: string
  readonly options: readonly unknown[]
  readonly recommendation: unknown
}

export const flightChoice: Choice = {
  agent: 'flights',
  message: 'There are two flights. I recommend the one of KLM.',
  options: flights,
  recommendation: flights[0],
}

export const hotelChoice: Choice = {
  agent: 'hotels',
  message: 'There are three hotels. I recommend Hotel Zoe.',
  options: hotels,
  recommendation: hotels[2],
}

/** The name of what was chosen. Pages answer with the option, or with its JSON. */
export function chosen(answer: unknown): Record<string, unknown> {
  return (typeof answer === 'string' ? JSON.parse(answer) : (answer ?? {})) as Record<string, unknown>
}
