/** A part of a regular expression. */
export type PatternNode =
  /** One character, as a code point. */
  | { readonly type: 'char'; readonly test: (char: string) => boolean }
  | { readonly type: 'assert'; readonly at: Place }
  | { readonly type: 'sequence'; readonly nodes: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly nodes: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number }

/** Where an assertion holds: `^`, `$`, `\b` and `\B`. */
export type Place = 'start' | 'end' | 'boundary' | 'inside'
