/** The time of today, else the date with it. */
export function formatTime(at: number, now: number, language: string): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const date = isToday ? {} : ({ day: 'numeric', month: 'short' } as const)
  return new Intl.DateTimeFormat(language, {
    ...date,
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false },
  }).format(at)
}

/** `950`, `1.2k`, `34k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 1_000_000 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}${unit}`
}
