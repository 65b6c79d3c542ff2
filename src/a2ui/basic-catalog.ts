import { BASIC_CATALOG_ID } from '@ag-ui/a2ui-toolkit'
import type { JsonSchema } from '../models/index.js'
import type { A2uiCatalog } from './contract.js'

type Properties = Readonly<Record<string, JsonSchema>>

const bound: JsonSchema = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
}

const computed: JsonSchema = {
  type: 'object',
  properties: { call: { type: 'string' }, args: { type: 'object' } },
  required: ['call'],
}

/** A value, the path in the data model where it stands, or a function of the page that makes it. */
function dynamic(type: string, more: object = {}): JsonSchema {
  return { anyOf: [{ type, ...more }, bound, computed] }
}

function oneOf(...values: readonly string[]): JsonSchema {
  return { enum: values }
}

function component(required: Properties, optional: Properties = {}): JsonSchema {
  const properties = { ...required, ...optional, weight: { type: 'number' } }
  return { type: 'object', properties, required: Object.keys(required) }
}

const text = dynamic('string')
const flag = { type: 'boolean' }
const number = { type: 'number' }
// The format says that the text is the id of a component.
const child = { type: 'string', format: 'componentRef' }
const children: JsonSchema = {
  format: 'componentRefList',
  anyOf: [
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      description: 'One component for each entry of a list in the data model.',
      properties: { componentId: { type: 'string' }, path: { type: 'string' } },
      required: ['componentId', 'path'],
    },
  ],
}
const action: JsonSchema = {
  type: 'object',
  description: 'Reported to the agent on a click. Paths in `context` become their values.',
  properties: {
    event: {
      type: 'object',
      properties: { name: { type: 'string' }, context: { type: 'object' } },
      required: ['name'],
    },
  },
}
const justify = oneOf('start', 'center', 'end', 'spaceBetween', 'spaceAround', 'spaceEvenly', 'stretch')
const align = oneOf('start', 'center', 'end', 'stretch')

/** The basic catalog of A2UI 0.9, which every page can draw. Pass it on, with components of your own, to extend it. */
export const basicCatalog: A2uiCatalog = {
  catalogId: BASIC_CATALOG_ID,
  components: {
    Text: component({ text }, { variant: oneOf('h1', 'h2', 'h3', 'h4', 'h5', 'caption', 'body') }),
    Image: component(
      { url: text },
      {
        description: text,
        fit: oneOf('contain', 'cover', 'fill', 'none', 'scaleDown'),
        variant: oneOf('icon', 'avatar', 'smallFeature', 'mediumFeature', 'largeFeature', 'header'),
      },
    ),
    Icon: component({ name: text }),
    Video: component({ url: text }),
    AudioPlayer: component({ url: text }, { description: text }),
    Row: component({ children }, { justify, align }),
    Column: component({ children }, { justify, align }),
    List: component(
      { children },
      {
        direction: oneOf('vertical', 'horizontal'),
        align,
        listStyle: oneOf('ordered', 'unordered', 'none'),
      },
    ),
    Card: component({ child }),
    Tabs: component({
      tabs: {
        type: 'array',
        items: { type: 'object', properties: { title: text, child }, required: ['title', 'child'] },
      },
    }),
    Modal: component({ trigger: child, content: child }),
    Divider: component({}, { axis: oneOf('horizontal', 'vertical') }),
    Button: component({ child, action }, { variant: oneOf('default', 'primary', 'borderless') }),
    TextField: component(
      { label: text },
      {
        value: text,
        variant: oneOf('shortText', 'longText', 'number', 'obscured'),
        validationRegexp: { type: 'string' },
      },
    ),
    CheckBox: component({ label: text, value: dynamic('boolean') }),
    ChoicePicker: component(
      {
        options: {
          type: 'array',
          items: {
            type: 'object',
            properties: { label: text, value: { type: 'string' } },
            required: ['label', 'value'],
          },
        },
        value: dynamic('array', { items: { type: 'string' } }),
      },
      {
        label: text,
        variant: oneOf('mutuallyExclusive', 'multipleSelection'),
        displayStyle: oneOf('checkbox', 'chips'),
        filterable: flag,
      },
    ),
    Slider: component({ max: number, value: dynamic('number') }, { label: text, min: number, step: number }),
    DateTimeInput: component(
      { value: text },
      { label: text, enableDate: flag, enableTime: flag, min: text, max: text },
    ),
  },
}
