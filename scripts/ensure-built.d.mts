/** The parts that are not built, or whose sources are newer. */
export function staleParts(): readonly { readonly name: string }[]
/** Builds what is out of date, and says on one line what it does. */
export function ensureBuilt(): Promise<void>
