import { highlight } from 'sugar-high'
import { cleanHtml } from './clean-html.js'

/** Code as HTML with the classes of its colours. The page's policy forbids styles in HTML, even while it is being read. */
export function highlightCode(code: string): string {
  return cleanHtml(highlight(code).replace(/(class="sh__token--\w+") style="[^"]*"/g, '$1'))
}
