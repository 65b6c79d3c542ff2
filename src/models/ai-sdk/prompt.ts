import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from '@ag-ui/core'
import { parseJson } from '../parse-json.js'
import { isRecord } from '../../core/is-record.js'
import { fromEncryptedValue } from './encrypted-value.js'
import { readMedia, toFileData, type MediaPart, type MediaRules } from './media.js'
import type { AssistantPromptPart, FilePromptPart, PromptMessage, TextPromptPart } from './prompt-message.js'
import { toToolResultOutput } from './tool-result.js'

export interface PromptOptions {
  readonly instructions: string | undefined
  readonly rules: MediaRules
  /** Gets a sentence about each thing that had to be left out. Must not throw. */
  readonly onWarning: (message: string) => void
}

/**
 * Converts a conversation, in one pass.
 *
 * - Instructions, system and developer messages become one system message at the beginning: several providers and many
 *   local models refuse any other.
 * - Assistant and reasoning messages that follow each other become one message; so do tool results.
 * - Left out: activities, empty text, turns of nothing but reasoning, results of calls that are not in the history,
 *   and media the model cannot take.
 */
export function toPrompt(messages: readonly Message[], options: PromptOptions): readonly PromptMessage[] {
  const system = options.instructions === undefined ? [] : [options.instructions]
  const turns = createTurns(options)
  for (const message of messages) {
    if (message.role === 'developer' || message.role === 'system') system.push(message.content)
    else turns.add(message)
  }
  const content = system.filter((text) => text !== '').join('\n\n')
  return content === '' ? turns.end() : [{ role: 'system', content }, ...turns.end()]
}

function createTurns({ rules, onWarning }: PromptOptions) {
  const turns: PromptMessage[] = []
  const toolNames = new Map<string, string>()
  const onSkipped = ({ type, source }: MediaPart) => {
    const what = source.mimeType ?? `from a ${source.type}`
    onWarning(`A part of type ${type} (${what}) was left out: the model cannot take it.`)
  }

  // A run that was stopped while it thought leaves reasoning that nothing follows. Providers refuse that.
  function dropLoneReasoning() {
    const last = turns.at(-1)
    if (last?.role === 'assistant' && last.content.every(({ type }) => type === 'reasoning')) turns.pop()
  }

  function addUser(content: string | readonly ContentPart[]) {
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    const written = parts.flatMap((part) => userPart(part, rules, onSkipped))
    if (written.length === 0) return
    dropLoneReasoning()
    turns.push({ role: 'user', content: written })
  }

  function addAssistant(parts: AssistantPromptPart[]) {
    for (const part of parts) if (part.type === 'tool-call') toolNames.set(part.toolCallId, part.toolName)
    const last = turns.at(-1)
    if (last?.role === 'assistant') last.content.push(...parts)
    else if (parts.length > 0) turns.push({ role: 'assistant', content: parts })
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
    const last = turns.at(-1)
    if (last?.role === 'tool') last.content.push(part)
    else turns.push({ role: 'tool', content: [part] })
  }

  return {
    add(message: Message) {
      if (message.role === 'user') addUser(message.content)
      else if (message.role === 'assistant') addAssistant(assistantParts(message))
      else if (message.role === 'reasoning') addAssistant([reasoningPart(message)])
      else if (message.role === 'tool') addResult(message)
    },
    end() {
      dropLoneReasoning()
      return turns
    },
  }
}

function userPart(
  part: ContentPart,
  rules: MediaRules,
  onSkipped: (part: MediaPart) => void,
): (TextPromptPart | FilePromptPart)[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  const media = readMedia(part, rules)
  if (media === undefined) {
    onSkipped(part)
    return []
  }
  return [{ type: 'file', mediaType: media.mediaType, data: toFileData(media, rules) }]
}

function reasoningPart({
  content,
  encryptedValue,
}: Extract<Message, { role: 'reasoning' }>): AssistantPromptPart {
  return { type: 'reasoning', text: content, ...fromEncryptedValue(encryptedValue) }
}

function assistantParts({
  content = '',
  encryptedValue,
  toolCalls = [],
}: AssistantMessage): AssistantPromptPart[] {
  const text: AssistantPromptPart = { type: 'text', text: content, ...fromEncryptedValue(encryptedValue) }
  return [...(content === '' ? [] : [text]), ...toolCalls.map(toolCallPart)]
}

function toolCallPart({
  id,
  function: { name, arguments: text },
  encryptedValue,
}: ToolCall): AssistantPromptPart {
  const input = parseJson(text)
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    // Providers take objects only. What the model wrote instead is told by the error in the tool's result.
    input: isRecord(input) ? input : {},
    ...fromEncryptedValue(encryptedValue),
  }
}
