import { useEffect, useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { Icon } from '../../ui/icon.js'
import './transport.css'

interface TransportProps {
  readonly count: number
  /** How many events have been applied. */
  readonly position: number
  readonly onMove: (position: number) => void
  readonly label: string
}

/** Slider and buttons to travel in time. The keys work anywhere on the page but in fields. */
export function Transport({ count, position, onMove, label }: TransportProps): ReactNode {
  const texts = useTexts()
  const [isPlaying, setPlaying] = usePlay({ count, position, onMove })
  useTravelKeys({ count, position, onMove, onPlay: () => setPlaying(!isPlaying) })
  return (
    <div className="transport" role="group" aria-label={texts.insTravel}>
      <button
        className="button button-icon"
        aria-label={texts.insBack}
        disabled={position === 0}
        onClick={() => onMove(position - 1)}
      >
        <span className="transport-back">
          <Icon name="chevron" />
        </span>
      </button>
      <button
        className="button button-icon"
        aria-label={isPlaying ? texts.insPause : texts.insPlay}
        aria-pressed={isPlaying}
        onClick={() => setPlaying(!isPlaying)}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <button
        className="button button-icon"
        aria-label={texts.insForward}
        disabled={position >= count}
        onClick={() => onMove(position + 1)}
      >
        <Icon name="chevron" />
      </button>
      <input
        className="transport-slider"
        type="range"
        min={0}
        max={count}
        step={1}
        value={position}
        aria-label={texts.insSlider}
        aria-valuetext={label}
        onChange={(event) => onMove(Number(event.target.value))}
      />
      <output className="transport-label tiny">{label}</output>
    </div>
  )
}

type Travel = Omit<TransportProps, 'label'>

/** Long runs are played in some ten seconds, short ones so that each event can be seen. */
const ticksPerRun = 200
const tickMs = 50

function usePlay({ count, position, onMove }: Travel): readonly [boolean, (isPlaying: boolean) => void] {
  const [isPlaying, setPlaying] = useState(false)
  useEffect(() => {
    if (!isPlaying) return
    if (position >= count) {
      setPlaying(false)
      return
    }
    const timer = setTimeout(() => onMove(Math.min(count, position + Math.ceil(count / ticksPerRun))), tickMs)
    return () => clearTimeout(timer)
  }, [isPlaying, position, count, onMove])
  const set = (next: boolean): void => {
    if (next && position >= count) onMove(0)
    setPlaying(next)
  }
  return [isPlaying, set]
}

function useTravelKeys({ count, position, onMove, onPlay }: Travel & { readonly onPlay: () => void }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      const target = targetOf(event.key, position, count)
      if (target === undefined && event.key !== ' ') return
      event.preventDefault()
      if (target === undefined) onPlay()
      else if (target !== position) onMove(target)
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  })
}

function targetOf(key: string, position: number, count: number): number | undefined {
  switch (key) {
    case 'j':
    case 'ArrowDown':
    case 'ArrowRight':
      return Math.min(count, position + 1)
    case 'k':
    case 'ArrowUp':
    case 'ArrowLeft':
      return Math.max(0, position - 1)
    case 'PageDown':
      return Math.min(count, position + 20)
    case 'PageUp':
      return Math.max(0, position - 20)
    case 'Home':
      return 0
    case 'End':
      return count
    default:
      return undefined
  }
}

/** Whether the key belongs to what has the focus. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element) || target.closest('dialog')) return true
  if (key === ' ' && target.closest('button, a, summary, select')) return true
  return target.closest('textarea, select, [role=tab], input') !== null
}
