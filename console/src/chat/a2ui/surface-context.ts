import { createContext, use } from 'react'
import { readProperty, type SurfaceComponent } from './surface-model.js'

/** What the components of a surface share. */
export interface SurfaceHandle {
  readonly components: ReadonlyMap<string, SurfaceComponent>
  readonly data: unknown
  write(path: string, value: unknown): void
  act(action: { readonly componentId: string; readonly event: unknown; readonly scope: string }): void
}

export const SurfaceContext = createContext<SurfaceHandle | undefined>(undefined)

export function useSurface(): SurfaceHandle {
  const surface = use(SurfaceContext)
  if (!surface) throw new Error('useSurface needs a SurfaceContext')
  return surface
}

/** Reads properties of components where they stand. */
export function useProperty(scope: string): {
  readonly value: (property: unknown) => unknown
  readonly text: (property: unknown) => string
} {
  const { data } = useSurface()
  const value = (property: unknown): unknown => readProperty(property, data, scope)
  const text = (property: unknown): string => {
    const read = value(property)
    if (read === undefined || read === null) return ''
    return typeof read === 'string' ? read : JSON.stringify(read)
  }
  return { value, text }
}
