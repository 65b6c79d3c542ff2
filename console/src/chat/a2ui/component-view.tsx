import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { AudioView, IconView, ImageView, TextView, VideoView } from './leaves.js'
import { ButtonView, CardView, ListView, ModalView, StackView, TabsView } from './containers.js'
import { CheckBoxView, ChoiceView, DateTimeView, SliderView, TextFieldView } from './inputs.js'
import { useSurface } from './surface-context.js'
import type { SurfaceComponent } from './surface-model.js'

/** What the view of a component gets. `scope` is the path of the list entry that it stands for. */
export interface ViewProps {
  readonly component: SurfaceComponent
  readonly scope: string
  /** How many components it stands in. A circle would never end. */
  readonly depth: number
}

const maxDepth = 50

const views: Readonly<Record<string, (props: ViewProps) => ReactNode>> = {
  ...{ Text: TextView, Image: ImageView, Icon: IconView, Video: VideoView, AudioPlayer: AudioView },
  ...{ Row: StackView, Column: StackView, List: ListView, Card: CardView, Tabs: TabsView, Modal: ModalView },
  ...{ Button: ButtonView, TextField: TextFieldView, CheckBox: CheckBoxView, ChoicePicker: ChoiceView },
  ...{ Slider: SliderView, DateTimeInput: DateTimeView },
  Divider: () => <hr className="surface-divider" />,
}

interface ComponentViewProps {
  readonly id: unknown
  readonly scope: string
  readonly depth?: number
}

/** A component of the basic catalog, by its id. */
export function ComponentView({ id, scope, depth = 0 }: ComponentViewProps): ReactNode {
  const texts = useTexts()
  const component = useSurface().components.get(String(id))
  if (!component || depth > maxDepth) return null
  const View = views[component.component]
  if (!View) return <p className="badge badge-warn">{texts.unknownComponent(component.component)}</p>
  return <View component={component} scope={scope} depth={depth + 1} />
}
