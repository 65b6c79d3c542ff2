/**
 * The formats that are checked; all others are only notes. Each check is linear in the length of the text, whatever the
 * text is.
 */
export const formats: ReadonlyMap<unknown, (text: string) => boolean> = new Map<
  unknown,
  (text: string) => boolean
>([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  [
    'duration',
    matching(
      /^P(?!$)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/,
    ),
  ],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && isUriReference(text)],
  ['uri-reference', isUriReference],
  [
    'uri-template',
    matching(
      /^(?:[^\p{Cc} "<>%\\^`{|}]|%[\da-f]{2}|\{[+#./;?&=,!@|]?(?:[\w.]|%[\da-f]{2})+(?::[1-9]\d{0,3}|\*)?(?:,(?:[\w.]|%[\da-f]{2})+(?::[1-9]\d{0,3}|\*)?)*\})*$/iu,
    ),
  ],
  ['url', (text) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text)],
  ['uuid', matching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i)],
  ['json-pointer', matching(/^(?:\/(?:[^~/]|~[01])*)*$/)],
  ['json-pointer-uri-fragment', matching(/^#(?:\/(?:[\w.!$&'()*+,;:=@-]|%[\da-f]{2}|~[01])*)*$/i)],
  ['relative-json-pointer', matching(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/)],
  ['regex', isRegex],
])

function matching(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text)
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && !isLeap ? 28 : (daysOfMonths[month - 1] ?? 0)
  return day >= 1 && day <= days
}

const timePattern = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i
const minutesOfDay = 24 * 60

function isTime(text: string): boolean {
  const match = timePattern.exec(text)
  if (!match) return false
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number)
  const [offsetHour = 0, offsetMinute = 0] = match
    .slice(5)
    .map((digits) => Number((digits as string | undefined) ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  // A leap second is the last of a day in UTC.
  const offset = (match[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute)
  return (hour * 60 + minute - offset + minutesOfDay) % minutesOfDay === minutesOfDay - 1
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[t\s]$/i.test(text.charAt(10)) && isTime(text.slice(11))
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [name, host] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || name.length > 64) return false
  const isName = name.startsWith('"')
    ? /^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(name)
    : /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(name)
  if (!isName) return false
  if (!host.startsWith('[') || !host.endsWith(']')) return isHostname(host)
  const address = host.slice(1, -1)
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address)
}

function isHostname(text: string): boolean {
  if (text.length > 253) return false
  return text.split('.').every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label))
}

function isIpv4(text: string): boolean {
  const parts = text.length > 15 ? [] : text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

function isIpv6(text: string): boolean {
  return /^[\da-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`)
}

const uriCharacters = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i
const authorityPattern = /^(?:[^@[\]]*@)?(?:\[([^\]]*)\]|[^:@[\]]*)(?::\d*)?$/

function isUriReference(text: string): boolean {
  if (!uriCharacters.test(text)) return false
  const [before = '', authority] = /^(?:[a-z][a-z\d+.-]*:)?\/\/([^/?#]*)/i.exec(text) ?? []
  if (authority !== undefined && !isAuthority(authority)) return false
  const rest = text.slice(before.length)
  if (/[[\]]/.test(rest) || rest.indexOf('#') !== rest.lastIndexOf('#')) return false
  // What precedes a colon in the first segment is a scheme, or the colon may not stand there.
  return authority !== undefined || /^(?:[a-z][a-z\d+.-]*:|[^:/?#]*(?:[/?#]|$))/i.test(text)
}

function isAuthority(text: string): boolean {
  const match = authorityPattern.exec(text)
  const address = match?.[1]
  return (
    match !== null &&
    (address === undefined || isIpv6(address) || /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(address))
  )
}

const maxRegexLength = 5_000

function isRegex(text: string): boolean {
  if (text.length > maxRegexLength) return false
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}
