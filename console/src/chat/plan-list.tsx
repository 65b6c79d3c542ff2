import { useMemo, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Fold } from '../ui/fold.js'
import { Icon } from '../ui/icon.js'
import { useFold } from './folds.js'
import { planIn, type PlanStep } from './plan.js'
import './plan-list.css'

/** The plan of the thread's state, above where the person writes. It ticks off as the agent works. */
export function StatePlan({
  state,
  isRunning,
}: {
  readonly state: unknown
  readonly isRunning: boolean
}): ReactNode {
  const texts = useTexts()
  const steps = useMemo(() => planIn(state), [state])
  const [isOpen, toggle] = useFold('plan', isRunning)
  if (!steps) return null
  const done = steps.filter(({ status }) => status === 'done').length
  const now = steps.find(({ status }) => status === 'running')
  return (
    <Fold
      className="plan card"
      isOpen={isOpen}
      onToggle={toggle}
      head={
        <>
          <span className="plan-title">{texts.plan}</span>
          <span className="muted tiny plan-now">{isOpen ? '' : (now?.text ?? '')}</span>
          <span className={`badge ${done === steps.length ? 'badge-good' : 'badge-accent'}`}>
            {texts.countOf(done, steps.length)}
          </span>
        </>
      }
    >
      <PlanSteps steps={steps} />
    </Fold>
  )
}

export function PlanSteps({ steps }: { readonly steps: readonly PlanStep[] }): ReactNode {
  const texts = useTexts()
  const words = { pending: texts.open, running: texts.statusRunning, done: texts.done }
  return (
    <ol className="plain plan-steps">
      {steps.map(({ text, status }, index) => (
        <li
          key={index}
          className={`plan-step plan-${status}`}
          aria-current={status === 'running' ? 'step' : undefined}
        >
          <span className="plan-box" aria-hidden="true">
            {status === 'done' && <Icon name="check" size={12} />}
          </span>
          <span>
            {text}
            <span className="visually-hidden"> ({words[status]})</span>
          </span>
        </li>
      ))}
    </ol>
  )
}
