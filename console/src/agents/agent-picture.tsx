import { useMemo, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { AgentNode } from '../session/contract.js'
import { kindLook, kindText } from './kinds.js'
import { litBoxes, type ActiveSpan } from './active-spans.js'
import { layoutAgent, type Box } from './layout.js'
import './agent-picture.css'

interface AgentPictureProps {
  readonly agent: AgentNode
  /** The path of the box that is chosen. */
  readonly chosen: string
  /** What is at work. */
  readonly spans: readonly ActiveSpan[]
  readonly onChoose: (path: string) => void
}

/** What an agent is made of, as boxes and lines. Each box is a button that shows more. */
export function AgentPicture({ agent, chosen, spans, onChoose }: AgentPictureProps): ReactNode {
  const texts = useTexts()
  const { width, height, boxes, frames, lines } = useMemo(() => layoutAgent(agent), [agent])
  const isLit = litBoxes(boxes, spans)
  return (
    <div className="picture-scroller" role="group" aria-label={texts.agentPicture(agent.name)} tabIndex={0}>
      <div className="picture" style={{ width, height }}>
        <svg className="picture-lines" width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path className="picture-arrow" d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          {frames.map((frame) => (
            <rect key={`${frame.x} ${frame.y}`} className="picture-frame" rx="12" {...frame} />
          ))}
          {lines.map(({ d, kind, to, label }) => (
            <g key={d}>
              <path
                className={`picture-line picture-line-${kind}`}
                data-lit={isLit.has(to)}
                d={d}
                markerEnd={kind === 'tree' ? undefined : 'url(#arrow)'}
              />
              {label && (
                <text className="picture-label" x={label.x} y={label.y} textAnchor="middle">
                  {label.text}
                </text>
              )}
            </g>
          ))}
        </svg>
        {boxes.map((box) => (
          <BoxView
            key={box.path}
            box={box}
            isChosen={box.path === chosen}
            isLit={isLit.has(box.path)}
            onChoose={() => onChoose(box.path)}
          />
        ))}
      </div>
    </div>
  )
}

interface BoxViewProps {
  readonly box: Box
  readonly isChosen: boolean
  readonly isLit: boolean
  readonly onChoose: () => void
}

function BoxView({ box, isChosen, isLit, onChoose }: BoxViewProps): ReactNode {
  const texts = useTexts()
  const { node, x, y, width, height } = box
  const style = { left: x, top: y, width, height }
  if ('end' in node)
    return <span className={`picture-end picture-end-${node.end}`} style={style} aria-hidden="true" />
  if ('ref' in node)
    return (
      <span className="picture-box picture-reference" style={style} title={texts.agentElsewhere(node.ref)}>
        ↩ {node.ref}
      </span>
    )
  const { colour, icon } = kindLook(node.kind)
  const about = node.tools.length > 0 ? texts.toolCount(node.tools.length) : kindText(node.kind, texts)
  return (
    <button
      className="picture-box"
      style={style}
      data-colour={colour}
      data-lit={isLit}
      aria-pressed={isChosen}
      onClick={onChoose}
    >
      <svg className="picture-icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      <span className="picture-name">{node.name}</span>
      <span className="picture-about tiny">{about}</span>
      {isLit && <span className="visually-hidden">{texts.agentRunning}</span>}
    </button>
  )
}
