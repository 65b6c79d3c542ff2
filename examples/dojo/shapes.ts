/** The arguments of the tools, the same for every runtime. */
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'

export const place = z.object({ location: z.string() })

export const plan = z.object({ steps: z.array(z.object({ description: z.string(), status: z.string() })) })

export const cookbook = z.object({
  recipe: z.object({
    ...{ title: z.string(), skill_level: z.string(), cooking_time: z.string() },
    special_preferences: z.array(z.string()),
    ingredients: z.array(z.object({ icon: z.string(), name: z.string(), amount: z.string() })),
    instructions: z.array(z.string()),
  }),
})

export const page = z.object({ document: z.string() })

export const meeting = z.object({ topic: z.string(), attendee: z.string() })

/** What the weather is like, everywhere. */
export function weatherIn(location: string) {
  return {
    city: location,
    temperature: 20,
    humidity: 50,
    wind_speed: 10,
    feels_like: 25,
    conditions: 'sunny',
  }
}

type Step = z.infer<typeof plan>['steps'][number]

/** Does the steps one by one: yields all of them after each. */
export async function* work(steps: readonly Step[]): AsyncGenerator<readonly Step[], void> {
  yield steps
  for (const [index] of steps.entries()) {
    await setTimeout(Number(process.env.DOJO_STEP_MS ?? 400))
    yield steps.map((step, at) => ({ ...step, status: at <= index ? 'completed' : 'pending' }))
  }
}

/** What the picker of times sends back. */
export function booked(payload: unknown): string {
  const { chosen_label: label } = (payload ?? {}) as { readonly chosen_label?: string }
  return label === undefined ? 'No meeting was booked.' : `The meeting is booked: ${label}.`
}
