import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { Dialog } from '../../ui/dialog.js'
import { ComponentView, type ViewProps } from './component-view.js'
import { useProperty, useSurface } from './surface-context.js'
import { readPath, resolvePath, toFields } from './surface-model.js'

const maxEntries = 200

/** The children: named one by one, or one for each entry of a list in the data. */
function Children({ component, scope, depth }: ViewProps): ReactNode {
  const { data } = useSurface()
  const { children } = component
  if (Array.isArray(children))
    return children.map((id: unknown, index) => (
      <ComponentView key={index} id={id} scope={scope} depth={depth} />
    ))
  const { componentId, path } = toFields(children)
  if (typeof path !== 'string') return null
  const list = resolvePath(scope, path)
  const entries = readPath(data, list)
  if (!Array.isArray(entries)) return null
  return entries
    .slice(0, maxEntries)
    .map((_, index) => (
      <ComponentView key={index} id={componentId} scope={`${list}/${index}`} depth={depth} />
    ))
}

export function StackView(props: ViewProps): ReactNode {
  const { component, justify, align } = props.component
  return (
    <div
      className={component === 'Row' ? 'surface-row' : 'surface-column'}
      data-justify={justify}
      data-align={align}
    >
      <Children {...props} />
    </div>
  )
}

export function ListView(props: ViewProps): ReactNode {
  const { direction } = props.component
  return (
    <div className={direction === 'horizontal' ? 'surface-row' : 'surface-column'} role="list">
      <Children {...props} />
    </div>
  )
}

export function CardView({ component, scope, depth }: ViewProps): ReactNode {
  return (
    <div className="card surface-card">
      <ComponentView id={component.child} scope={scope} depth={depth} />
    </div>
  )
}

export function TabsView({ component, scope, depth }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [chosen, setChosen] = useState(0)
  const tabs = Array.isArray(component.tabs) ? component.tabs.map(toFields) : []
  return (
    <div className="surface-column">
      <div className="surface-row" role="group">
        {tabs.map(({ title }, index) => (
          <button
            key={index}
            type="button"
            className="button"
            aria-pressed={index === chosen}
            onClick={() => setChosen(index)}
          >
            {text(title)}
          </button>
        ))}
      </div>
      <ComponentView id={tabs[chosen]?.child} scope={scope} depth={depth} />
    </div>
  )
}

export function ModalView({ component, scope, depth }: ViewProps): ReactNode {
  const texts = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <span onClick={() => setOpen(true)}>
        <ComponentView id={component.trigger} scope={scope} depth={depth} />
      </span>
      {isOpen && (
        <Dialog title={texts.surface} onClose={() => setOpen(false)}>
          <ComponentView id={component.content} scope={scope} depth={depth} />
          <div className="dialog-actions">
            <button type="button" className="button" autoFocus onClick={() => setOpen(false)}>
              {texts.close}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

export function ButtonView({ component, scope, depth }: ViewProps): ReactNode {
  const surface = useSurface()
  const { variant, action, id } = component
  const { event } = toFields(action)
  return (
    <button
      type="button"
      className={`button surface-button ${variant === 'primary' ? 'button-primary' : ''}`}
      data-variant={variant}
      onClick={() => event !== undefined && surface.act({ componentId: id, event, scope })}
    >
      <ComponentView id={component.child} scope={scope} depth={depth} />
    </button>
  )
}
