/** A step of a plan that an agent shows. */
export interface PlanStep {
  readonly text: string
  readonly status: 'pending' | 'running' | 'done'
}

const statuses: Readonly<Record<string, PlanStep['status']>> = {
  ...{ done: 'done', completed: 'done', complete: 'done', finished: 'done' },
  ...{ running: 'running', in_progress: 'running', active: 'running', executing: 'running' },
  ...{ pending: 'pending', open: 'pending', todo: 'pending' },
}

const maxDepth = 2

/** The plan in a value, if it holds one: a list of steps with texts and statuses, itself or a level or two below. */
export function planIn(value: unknown, depth = 0): readonly PlanStep[] | undefined {
  if (Array.isArray(value)) {
    const steps = value.map(toStep)
    return steps.length > 0 && steps.every((step) => step !== undefined) ? steps : undefined
  }
  if (typeof value !== 'object' || value === null || depth === maxDepth) return undefined
  for (const member of Object.values(value)) {
    const found = planIn(member, depth + 1)
    if (found) return found
  }
  return undefined
}

function toStep(value: unknown): PlanStep | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Record<string, unknown>
  const text = [fields.content, fields.text, fields.title, fields.description, fields.name].find(
    (one) => typeof one === 'string',
  )
  const status = typeof fields.status === 'string' ? statuses[fields.status] : undefined
  return typeof text === 'string' && status ? { text, status } : undefined
}
