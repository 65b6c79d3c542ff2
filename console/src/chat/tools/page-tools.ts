import type { ClientTools } from 'millrace/client'
import { theme } from '../../settings.js'
import { toChart } from '../chart/chart-data.js'
import type { Consents } from './consents.js'

const themes = ['auto', 'light', 'dark'] as const

/** The tools that this page carries out. Every run offers them. */
export function createPageTools(consents: Consents): ClientTools {
  return {
    set_theme: {
      description: "Sets the colours of the person's page.",
      parameters: {
        type: 'object',
        properties: { theme: { enum: themes } },
        required: ['theme'],
      },
      execute(args: { readonly theme?: unknown }) {
        const chosen = themes.find((name) => name === args.theme)
        if (!chosen) throw new Error(`The theme must be one of ${themes.join(', ')}.`)
        theme.set(chosen)
        return `The page is ${chosen} now.`
      },
    },
    get_location: {
      description: 'Asks the person for their location. They may refuse.',
      parameters: { type: 'object', properties: {} },
      async execute(_args: unknown, { toolCallId, signal }) {
        if (!(await consents.ask(toolCallId, signal)))
          throw new Error('The person does not share the location.')
        const { coords } = await locate()
        return { latitude: coords.latitude, longitude: coords.longitude, accuracyMetres: coords.accuracy }
      },
    },
    draw_chart: {
      description: 'Shows a chart of numbers to the person.',
      parameters: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          kind: { enum: ['bar', 'line'] },
          labels: { type: 'array', items: { type: 'string' } },
          series: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, values: { type: 'array', items: { type: 'number' } } },
              required: ['name', 'values'],
            },
          },
        },
        required: ['title', 'labels', 'series'],
      },
      execute(args: unknown) {
        if (!toChart(args))
          throw new Error('There is nothing to draw: give `labels` and `series` with `values`.')
        return 'The chart is shown.'
      },
    },
  }
}

function locate(): Promise<GeolocationPosition> {
  return new Promise((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(
      resolve,
      ({ message }) => reject(new Error(`The location is not known: ${message}`)),
      { timeout: 20_000 },
    )
  })
}
