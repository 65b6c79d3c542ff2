/** What every metric says of itself. */
export interface MetricInfo {
  readonly name: string
  readonly help: string
  /** The names of its labels. Their values must come from a small, known set: each combination is kept for ever. */
  readonly labels: readonly string[]
}

/** A metric, in one of its kinds. */
export interface Metric {
  /** Its lines in the text format of Prometheus, each with its end. */
  render(): string
}

/** The two lines above the samples of a metric. */
export function heading({ name, help }: MetricInfo, type: 'counter' | 'gauge' | 'histogram'): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`
}

/** One sample. `labels` is what stands between the braces. */
export function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`
}

/** Label names and values as they are written. */
function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeValue(values[index] ?? '')}"`).join(',')
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Keeps one `T` for every combination of label values. */
export function createSeries<T>(names: readonly string[], create: (labels: string) => T) {
  const byKey = new Map<string, T>()
  return {
    of(values: readonly string[]): T {
      const key = values.join('\0')
      let found = byKey.get(key)
      if (found === undefined) {
        found = create(labelText(names, values))
        byKey.set(key, found)
      }
      return found
    },
    all: () => byKey.values(),
  }
}
