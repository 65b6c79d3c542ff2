import { useCallback, useEffect, useRef, useState } from 'react'
import { go, type Route } from '../router.js'

/** Browsers refuse an address that changes with every pixel of a slider. */
const addressMs = 300

/** Where the person stands in the run. The address follows when they have come to rest. */
export function usePosition(
  route: Route & { readonly page: 'inspect' },
): readonly [number | undefined, (position: number) => void] {
  const [position, setPosition] = useState(route.event)
  const written = useRef(route.event)
  useEffect(() => {
    if (route.event === written.current) return
    written.current = route.event
    setPosition(route.event)
  }, [route.event])
  useEffect(() => {
    if (position === undefined || position === written.current) return
    const timer = setTimeout(() => {
      written.current = position
      go({ ...route, event: position }, { replace: true })
    }, addressMs)
    return () => clearTimeout(timer)
  }, [position, route])
  return [position, useCallback((next: number) => setPosition(next), [])]
}
