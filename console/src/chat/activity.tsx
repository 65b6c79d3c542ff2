import { lazy, memo, Suspense } from 'react'
import { Fold } from '../ui/fold.js'
import { Icon } from '../ui/icon.js'
import { JsonText } from '../ui/json-text.js'
import { toChart } from './chart/chart-data.js'
import { useFold } from './folds.js'
import { planIn } from './plan.js'
import { PlanSteps } from './plan-list.js'
import { Progress } from './progress.js'
import type { MessageOf } from './rows.js'
import type { NotedEvent } from './thread-notes.js'
import './activity.css'

const Chart = lazy(async () => ({ default: (await import('./chart/chart.js')).Chart }))
const Surface = lazy(async () => ({ default: (await import('./a2ui/surface.js')).Surface }))

/** Something that an agent shows beside its words: a surface, a chart, a plan, how far it is, or what it is. */
export const Activity = memo(({ message }: { readonly message: MessageOf<'activity'> }) => {
  const { activityType, content } = message
  if (activityType === 'a2ui-surface')
    return (
      <Suspense>
        <Surface content={content} />
      </Suspense>
    )
  return <Shown id={message.id} name={activityType} value={content} />
})

/** A CUSTOM event of the agent's own. */
export const EventNote = memo(({ event: { id, name, value } }: { readonly event: NotedEvent }) => (
  <Shown id={id} name={name} value={value} />
))

interface ShownProps {
  readonly id: string
  readonly name: string
  readonly value: unknown
}

function Shown({ id, name, value }: ShownProps) {
  const chart = toChart(value)
  if (chart)
    return (
      <Suspense>
        <Chart chart={chart} />
      </Suspense>
    )
  const steps = planIn(value)
  if (steps)
    return (
      <section className="card activity-plan" aria-label={name}>
        <PlanSteps steps={steps} />
      </section>
    )
  return <Anything id={id} name={name} value={value} />
}

function Anything({ id, name, value }: ShownProps) {
  const [isOpen, toggle] = useFold(id, false)
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value)
  return (
    <Fold
      className="activity card"
      isOpen={isOpen}
      onToggle={toggle}
      head={
        <>
          <Icon name="runs" size={15} />
          <span className="activity-name">{name}</span>
          {fields && !isOpen && (
            <span className="activity-words">
              <Progress content={value as Record<string, unknown>} isOver={false} />
            </span>
          )}
        </>
      }
    >
      <div className="activity-body">
        <JsonText text={JSON.stringify(value)} label={name} />
      </div>
    </Fold>
  )
}
