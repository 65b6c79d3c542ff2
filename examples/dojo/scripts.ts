/** What the scripted models say on each page. The prompts are those that the pages suggest. */
import type { Asked, Script } from './models.js'

const done = { text: 'Done.' }

/** Calls a tool, and says something when its result is there. */
function callThenSay(
  name: string,
  argsOf: (asked: Asked) => Record<string, unknown>,
  said = 'Done.',
): Script {
  return (asked) => (asked.result === undefined ? { call: { name, args: argsOf(asked) } } : { text: said })
}

export const chat: Script = ({ text, result, instructions }) => {
  if (result !== undefined) return done
  if (/background/i.test(text)) {
    const [, colour = 'linear-gradient(120deg, #a18cd1, #fbc2eb)'] = /to (\w+)/.exec(text) ?? []
    return {
      call: { name: 'change_background', args: { background: colour === 'something' ? 'pink' : colour } },
    }
  }
  if (/weather/i.test(text)) return { call: { name: 'get_weather', args: { location: cityIn(text) } } }
  // The context of the page: behind the user's words, or in the instructions of ADK.
  if (/name/i.test(text))
    return { text: (instructions + text).includes('Bob') ? 'You are Bob.' : 'I do not know.' }
  return { text: `You said: ${text}` }
}

export const reasoning: Script = (asked) =>
  asked.result === undefined && !/background/i.test(asked.text)
    ? {
        thought: 'First I compare, then I decide.',
        text: 'My recommendations: first a Toyota, then a Honda.',
      }
    : chat(asked)

export const multimodal: Script = (asked) =>
  asked.hasMedia ? { text: 'I see the image that you sent.' } : chat(asked)

export const weather: Script = callThenSay('get_weather', ({ text }) => ({ location: cityIn(text) }))

export const haiku: Script = callThenSay('generate_haiku', () => ({
  japanese: ['古池や', '蛙飛び込む', '水の音'],
  english: ['The old pond', 'a frog jumps in', 'the sound of water'],
  image_name: 'Takachiho_Gorge_Waterfall_River_Lush_Greenery_Japan.jpg',
  gradient: 'linear-gradient(#9face6, #74ebd5)',
}))

const steps = ['Pack the bags', 'Fly to Mars', 'Plant a flag']

/** A plan that the person changes: by a tool of the page, or by a graph that interrupts. */
export function planner(tool: string): Script {
  return ({ text, result }) => {
    if (result !== undefined) return { text: `Your steps: ${result}` }
    if (!/plan|steps/i.test(text)) return { text: 'What shall I plan?' }
    const enabled = steps.map((description) => ({ description, status: 'enabled' }))
    return { call: { name: tool, args: { steps: enabled } } }
  }
}

export const worker: Script = callThenSay(
  'generate_task_steps_generative_ui',
  () => ({ steps: steps.map((description) => ({ description, status: 'pending' })) }),
  'All steps are done.',
)

export const cook: Script = ({ text, result, instructions }) => {
  if (result !== undefined) return { text: 'Here is your recipe.' }
  if (/ingredients/i.test(text)) {
    // As JSON, or as JSON in a text.
    const names = [...instructions.matchAll(/name\\*":\s*\\*"([^"\\]+)/g)].map(([, name]) => name)
    return { text: `You have: ${names.join(', ')}.` }
  }
  const recipe = {
    title: 'Pasta with Garlic',
    skill_level: 'Beginner',
    cooking_time: '15 min',
    special_preferences: ['Vegetarian'],
    ingredients: [{ icon: '🍝', name: 'Pasta', amount: '400 g' }],
    instructions: ['Boil the pasta', 'Fry the garlic'],
  }
  return { call: { name: 'generate_recipe', args: { recipe } } }
}

export const writer: Script = ({ text, result }) => {
  if (result !== undefined) return { text: 'I have written it.' }
  const [, name = 'Luna'] = /(?:named|called|to) (\w+)/.exec(text) ?? []
  const document = `Once there was a dragon whose name was ${name}. It lived behind seven hills.`
  return { call: { name: 'write_document_local', args: { document } } }
}

/** Asks which one to take, and reports the choice. */
export function picker(tool: string): Script {
  return ({ result }) => (result === undefined ? { call: { name: tool, args: {} } } : { text: result })
}

export const scheduler: Script = ({ result }) =>
  result === undefined
    ? { call: { name: 'schedule_meeting', args: { topic: 'Intro call', attendee: 'the sales team' } } }
    : { text: result }

function cityIn(text: string): string {
  return /in ([A-Z][\w ]+)/.exec(text)?.[1]?.trim() ?? 'Oslo'
}

const flights = [
  {
    ...{ id: '1', airline: 'KLM', airlineLogo: '', flightNumber: 'KL 605', date: 'Tue', status: 'On time' },
    ...{ origin: 'AMS', destination: 'SFO', departureTime: '9:50', arrivalTime: '11:45' },
    ...{ duration: '11h 30m', price: '$650' },
  },
]

const hotels = [
  { name: 'The Ritz', location: 'Paris', rating: 4.8, price: '$450' },
  { name: 'Boutique Loft', location: 'Lisbon', rating: 4.6, price: '$320' },
]

/** Searches and shows what it finds; answers clicks. */
export const searcher: Script = ({ text, result }) => {
  if (result !== undefined) return { text: clicked(result) ?? 'Here you are.' }
  if (/flights/i.test(text)) return { call: { name: 'search_flights', args: { flights } } }
  return { call: { name: 'search_hotels', args: { hotels } } }
}

/** Has a surface drawn; answers clicks. */
export const designer: Script = ({ result }) => {
  if (result === undefined) return { call: { name: 'generate_a2ui', args: { intent: 'create' } } }
  return { text: clicked(result) ?? (result.includes('"error"') ? 'I could not draw it.' : 'Here you are.') }
}

/**
 * Writes the surface: wrong at first for luxury hotels, always wrong for broken ones. Models of Gemini write components and data
 * as text.
 */
export function drawer(components: readonly object[], asText = false): Script {
  return ({ text, instructions }) => {
    const isRetry = instructions.includes('Previous attempt was invalid')
    const isWrong = /broken/i.test(text) || (/luxury/i.test(text) && !isRetry)
    const written = isWrong ? components.slice(0, 1) : components
    const data = { items: hotels }
    const args = { surfaceId: 'hotel-comparison', components: written, data }
    const inText = { ...args, components: JSON.stringify(written), data: JSON.stringify(data) }
    return { call: { name: 'render_a2ui', args: asText ? inText : args } }
  }
}

/** What a click is answered with. */
function clicked(result: string): string | undefined {
  const [, context] = /User performed action .*Context: (.*)/.exec(result) ?? []
  return context === undefined ? undefined : `Booked: ${context}`
}
