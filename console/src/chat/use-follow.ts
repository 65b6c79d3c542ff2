import { useEffect, useRef, useState, type RefObject } from 'react'

const nearEnd = 24

/** Keeps a scrolled element at its end while its content grows, until the person scrolls up. */
export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
): { readonly isFollowing: boolean; readonly jump: () => void } {
  const [isFollowing, setFollowing] = useState(true)
  const following = useRef(true)
  const jump = (): void => {
    following.current = true
    setFollowing(true)
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight
  }
  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (!element || !inner) return
    let last = element.scrollTop
    const follow = (): void => {
      if (following.current) element.scrollTop = element.scrollHeight
    }
    const note = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = element
      const distance = scrollHeight - clientHeight - scrollTop
      if (distance <= nearEnd) following.current = distance <= 2 || scrollTop >= last || following.current
      else if (scrollTop < last) following.current = false
      last = scrollTop
      setFollowing(following.current)
    }
    const observer = new ResizeObserver(follow)
    observer.observe(inner)
    observer.observe(element)
    element.addEventListener('scroll', note, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', note)
    }
  }, [scroller, content])
  return { isFollowing, jump }
}
