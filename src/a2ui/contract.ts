import type { JsonSchema } from '../models/index.js'

/** A component of a surface: its id, its kind, and the properties of that kind. Others refer to it by id. */
export interface A2uiComponent {
  readonly id: string
  /** A name of the catalog. */
  readonly component: string
  readonly [property: string]: unknown
}

/** One operation of A2UI 0.9: createSurface, updateComponents, updateDataModel or deleteSurface. */
export type A2uiOperation = Readonly<Record<string, unknown>>

/** What a tool returns to have surfaces drawn. */
export interface A2uiResult {
  readonly a2ui_operations: readonly A2uiOperation[]
}

/** The components that a page can draw. The form in which A2UI pages send theirs. */
export interface A2uiCatalog {
  readonly catalogId: string
  /** A JSON Schema of the properties of each component, by its name. */
  readonly components: Readonly<Record<string, JsonSchema>>
}

/** What every `a2uiTool` takes beside its model. */
export interface A2uiOptions {
  /** The components that the model may use. Default: those of the page, else the basic catalog of A2UI. */
  readonly catalog?: A2uiCatalog
  /** How to compose surfaces: which component fits what, what a page must not show. */
  readonly instructions?: string
  /** How often the model may write a surface, the first time included. Default 3, at most 10. */
  readonly maxAttempts?: number
}

/** What is wrong with a surface. */
export interface SurfaceProblem {
  readonly code: string
  readonly path: string
  readonly message: string
}

/** What a page shows while a surface is written. */
export type A2uiProgress =
  | { readonly status: 'building'; readonly progressTokens?: number }
  | {
      readonly status: 'retrying'
      readonly attempt: number
      readonly maxAttempts: number
      readonly errors: readonly SurfaceProblem[]
    }
