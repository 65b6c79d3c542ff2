import {
  contentToText,
  type AssistantMessage,
  type ContentPart,
  type Message,
  type ToolCall,
  type ToolMessage,
} from '@ag-ui/core'
import { isRecord, parseJson } from '../../core/json.js'
import { fromEncryptedValue } from './encrypted-value.js'
import { readMedia, toFileData, type Media, type MediaContentPart, type MediaRules } from './media.js'
import type {
  AssistantPromptPart,
  FilePromptPart,
  PromptMessage,
  TextPromptPart,
  ToolResultOutput,
} from './specification.js'

export interface PromptOptions {
  readonly instructions: string | undefined
  readonly context?: string | undefined
  readonly rules: MediaRules
  /** Called with a sentence about each part left out. Must not throw. */
  readonly onWarning: (message: string) => void
}

/**
 * Converts a conversation in one pass.
 *
 * - Instructions, system and developer messages become one system message at the beginning: several providers and many
 *   local models refuse any other.
 * - Consecutive assistant and reasoning messages become one message; so do consecutive tool results.
 * - Left out: activities, empty text, assistant messages of nothing but reasoning, results of calls that are not in the
 *   history, and media the model cannot take.
 * - The context ends the last message of the user.
 */
export function toPrompt(messages: readonly Message[], options: PromptOptions): readonly PromptMessage[] {
  const system = options.instructions === undefined ? [] : [options.instructions]
  const prompt = createPromptBuilder(options)
  for (const message of messages) {
    if (message.role === 'developer' || message.role === 'system') system.push(message.content)
    else prompt.add(message)
  }
  if (options.context) prompt.addContext(options.context)
  const content = system.filter((text) => text !== '').join('\n\n')
  return content === '' ? prompt.end() : [{ role: 'system', content }, ...prompt.end()]
}

function createPromptBuilder({ rules, onWarning }: PromptOptions) {
  const prompt: PromptMessage[] = []
  const toolNames = new Map<string, string>()
  const onSkipped = ({ type, source }: MediaContentPart) => {
    const origin = source.mimeType ?? `from a ${source.type}`
    onWarning(`A part of type ${type} (${origin}) was left out: the model cannot take it.`)
  }

  // A run that was cancelled during its reasoning leaves reasoning without an answer. Providers refuse that.
  function dropLoneReasoning() {
    const last = prompt.at(-1)
    if (last?.role === 'assistant' && last.content.every(({ type }) => type === 'reasoning')) prompt.pop()
  }

  function addUser(content: string | readonly ContentPart[]) {
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    const userParts = parts.flatMap((part) => toUserPart(part, rules, onSkipped))
    if (userParts.length === 0) return
    dropLoneReasoning()
    prompt.push({ role: 'user', content: userParts })
  }

  function addAssistant(parts: AssistantPromptPart[]) {
    for (const part of parts) if (part.type === 'tool-call') toolNames.set(part.toolCallId, part.toolName)
    const last = prompt.at(-1)
    if (last?.role === 'assistant') last.content.push(...parts)
    else if (parts.length > 0) prompt.push({ role: 'assistant', content: parts })
  }

  function addResult(message: ToolMessage) {
    const { toolCallId } = message
    const toolName = toolNames.get(toolCallId)
    if (toolName === undefined) {
      onWarning(`The result of tool call ${toolCallId} was left out: the call is not in the history.`)
      return
    }
    const output = toToolResultOutput(message, rules, onSkipped)
    const options = fromEncryptedValue(message.encryptedValue)
    const part = { type: 'tool-result', toolCallId, toolName, output, ...options } as const
    dropLoneReasoning()
    const last = prompt.at(-1)
    if (last?.role === 'tool') last.content.push(part)
    else prompt.push({ role: 'tool', content: [part] })
  }

  return {
    add(message: Message) {
      if (message.role === 'user') addUser(message.content)
      else if (message.role === 'assistant') addAssistant(toAssistantParts(message))
      else if (message.role === 'reasoning') addAssistant([toReasoningPart(message)])
      else if (message.role === 'tool') addResult(message)
    },
    addContext(text: string) {
      // Not behind tool results: some providers refuse a user message there.
      const last = prompt.findLast(({ role }) => role === 'user')
      if (last?.role === 'user') last.content.push({ type: 'text', text })
      else addUser(text)
    },
    end() {
      dropLoneReasoning()
      return prompt
    },
  }
}

function toUserPart(
  part: ContentPart,
  rules: MediaRules,
  onSkipped: (part: MediaContentPart) => void,
): (TextPromptPart | FilePromptPart)[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  const media = readMedia(part, rules)
  if (media === undefined) {
    onSkipped(part)
    return []
  }
  return [{ type: 'file', mediaType: media.mediaType, data: toFileData(media, rules) }]
}

function toReasoningPart({
  content,
  encryptedValue,
}: Extract<Message, { role: 'reasoning' }>): AssistantPromptPart {
  return { type: 'reasoning', text: content, ...fromEncryptedValue(encryptedValue) }
}

function toAssistantParts({
  content = '',
  encryptedValue,
  toolCalls = [],
}: AssistantMessage): AssistantPromptPart[] {
  const text: AssistantPromptPart = { type: 'text', text: content, ...fromEncryptedValue(encryptedValue) }
  return [...(content === '' ? [] : [text]), ...toolCalls.map(toToolCallPart)]
}

function toToolCallPart({
  id,
  function: { name, arguments: text },
  encryptedValue,
}: ToolCall): AssistantPromptPart {
  const input = parseJson(text)
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    // Providers take objects only. The error in the tool's result shows what the model wrote instead.
    input: isRecord(input) ? input : {},
    ...fromEncryptedValue(encryptedValue),
  }
}

/** Converts a tool's result. Calls `onSkipped` with each part that the model cannot take in a tool result. */
export function toToolResultOutput(
  { content, error }: ToolMessage,
  rules: MediaRules,
  onSkipped: (part: MediaContentPart) => void,
): ToolResultOutput {
  if (error !== undefined) return { type: 'error-text', value: contentToText(content) || error }
  if (typeof content === 'string') return { type: 'text', value: content }
  const parts: ToolResultPart[] = []
  for (const part of content) {
    const result = toToolResultPart(part, rules)
    if (result !== undefined) parts.push(result)
    else if (part.type !== 'text') onSkipped(part)
  }
  // Providers without media in tool results send the whole list as JSON. Plain text stays plain.
  if (parts.every(({ type }) => type === 'text')) return { type: 'text', value: contentToText(content) }
  return { type: 'content', value: parts }
}

/** Differs between the versions of the specification. */
type ToolResultPart = Readonly<Record<string, unknown>>

function toToolResultPart(part: ContentPart, rules: MediaRules): ToolResultPart | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const media = rules.isChat ? undefined : readMedia(part, rules)
  return media && mediaResults[rules.version](media, rules)
}

const mediaResults = {
  v2: (media: Media) =>
    media.kind === 'data' ? { type: 'media', data: media.data, mediaType: media.mediaType } : undefined,
  v3: (media: Media) => {
    const { mediaType } = media
    const isImage = mediaType.startsWith('image/')
    switch (media.kind) {
      case 'data':
        return { type: isImage ? 'image-data' : 'file-data', data: media.data, mediaType }
      case 'url':
        return { type: isImage ? 'image-url' : 'file-url', url: media.url.href, mediaType }
      case 'reference':
        return { type: isImage ? 'image-file-id' : 'file-id', fileId: media.id }
    }
  },
  v4: (media: Media, rules: MediaRules) => ({
    type: 'file',
    data: toFileData(media, rules),
    mediaType: media.mediaType,
  }),
}
