/**
 * Writes the lines of a log as one text. Most of them are deltas of one message, and only their end differs from the line
 * before: of those only the end is written, behind a mark that no JSON begins with. That is a tenth of what is said.
 */
export function toLogText(lines: readonly string[]): string {
  let head = ''
  const written = lines.map((line) => {
    if (head !== '' && line.startsWith(head)) return mark + line.slice(head.length)
    head = headOf(line)
    return line
  })
  return written.join('\n')
}

/** Reads what `toLogText` has written. */
export function fromLogText(text: string): string[] {
  let head = ''
  return text.split('\n').map((part) => {
    if (part.startsWith(mark)) return head + part.slice(mark.length)
    head = headOf(part)
    return part
  })
}

const mark = '+'
const member = '"delta":'

/** All of a line up to its delta. */
function headOf(line: string): string {
  const at = line.indexOf(member)
  return at === -1 ? '' : line.slice(0, at + member.length)
}
