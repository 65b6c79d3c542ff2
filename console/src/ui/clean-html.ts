import DOMPurify from 'dompurify'

/** Pictures of other hosts are not loaded, forms and frames are not drawn, and links open elsewhere. */
const rules = {
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'object', 'svg', 'math'],
  FORBID_ATTR: ['style', 'id', 'name'],
  ADD_ATTR: ['target'],
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer')
  }
  if (node.tagName === 'IMG' && !/^(data|blob):/.test(node.getAttribute('src') ?? '')) node.remove()
})

/** What may stand in the page of HTML that a model has written. */
export function cleanHtml(html: string): string {
  return DOMPurify.sanitize(html, rules)
}
