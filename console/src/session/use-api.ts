import { createContext, use } from 'react'
import type { Api } from './api.js'

export const ApiContext = createContext<Api | undefined>(undefined)

/** The server that the page came from. */
export function useApi(): Api {
  const api = use(ApiContext)
  if (!api) throw new Error('useApi needs an ApiContext')
  return api
}
