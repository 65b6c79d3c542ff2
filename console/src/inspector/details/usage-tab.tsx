import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { costOf, parsePrices, type ModelUsage, type Price, type Prices } from '../model/usage.js'

const key = 'millrace.prices'

/** Tokens by model, and what they cost at the prices that the person has given. */
export function UsageTab({ usage }: { readonly usage: readonly ModelUsage[] }): ReactNode {
  const texts = useTexts()
  const [prices, setPrices] = useState<Prices>(() => parsePrices(localStorage.getItem(key)))
  if (usage.length === 0) return <p className="details-section muted small">{texts.insNoUsage}</p>
  const change = (model: string, price: Price): void => {
    const next = { ...prices, [model]: price }
    setPrices(next)
    localStorage.setItem(key, JSON.stringify(next))
  }
  const costs = usage.map((one) => costOf(one, prices[one.model]))
  const total = costs.every((cost) => cost !== undefined)
    ? costs.reduce((sum, cost) => sum + cost, 0)
    : undefined
  return (
    <section className="details-section" aria-label={texts.insUsage}>
      <table className="details-table">
        <thead>
          <tr>
            <th scope="col">{texts.insModel}</th>
            <th scope="col">{texts.insInputTokens}</th>
            <th scope="col">{texts.insOutputTokens}</th>
            <th scope="col">{texts.insInputPrice}</th>
            <th scope="col">{texts.insOutputPrice}</th>
            <th scope="col">{texts.insCost}</th>
          </tr>
        </thead>
        <tbody>
          {usage.map((one, number) => (
            <UsageRow
              key={one.model}
              usage={one}
              price={prices[one.model]}
              cost={costs[number]}
              onPrice={change}
            />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>{texts.insTotal}</td>
            <td>{sum(usage, 'inputTokens')}</td>
            <td>{sum(usage, 'outputTokens')}</td>
            <td />
            <td />
            <td>{formatCost(total)}</td>
          </tr>
        </tfoot>
      </table>
      <p className="muted tiny">{texts.insPriceHelp}</p>
    </section>
  )
}

interface UsageRowProps {
  readonly usage: ModelUsage
  readonly price: Price | undefined
  readonly cost: number | undefined
  readonly onPrice: (model: string, price: Price) => void
}

function UsageRow({ usage, price, cost, onPrice }: UsageRowProps): ReactNode {
  const texts = useTexts()
  const { model, inputTokens, outputTokens, cachedInputTokens } = usage
  const field = (name: keyof Price, label: string): ReactNode => (
    <input
      className="field"
      type="number"
      min={0}
      step="any"
      aria-label={`${label} ${model}`}
      value={price?.[name] ?? ''}
      onChange={(event) =>
        onPrice(model, { input: 0, output: 0, ...price, [name]: event.target.valueAsNumber || 0 })
      }
    />
  )
  return (
    <tr>
      <td>{model || texts.insUnnamed}</td>
      <td title={texts.insCached(cachedInputTokens)}>{inputTokens}</td>
      <td>{outputTokens}</td>
      <td>{field('input', texts.insInputPrice)}</td>
      <td>{field('output', texts.insOutputPrice)}</td>
      <td>{formatCost(cost)}</td>
    </tr>
  )
}

function sum(usage: readonly ModelUsage[], name: 'inputTokens' | 'outputTokens'): number {
  return usage.reduce((total, one) => total + one[name], 0)
}

function formatCost(cost: number | undefined): string {
  return cost === undefined ? '–' : cost.toFixed(cost < 1 ? 5 : 2)
}
