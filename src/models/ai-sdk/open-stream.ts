import type { ModelRequest } from '../model.js'
import { toCallOptions } from './call-options.js'
import type { AiSdkLanguageModel, PartReader, SpecVersion } from './language-model.js'
import { toPrompt } from './prompt.js'
import { withoutRefusedFiles } from './unsupported.js'

/** What a call needs besides the request. */
export interface CallContext {
  readonly model: AiSdkLanguageModel
  readonly version: SpecVersion
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

/**
 * Sends a request and gives the reader of the answer. When `signal` aborts, before or after, the reader is cancelled:
 * a pending read ends at once, also with a provider that does not look at the signal.
 */
export async function openStream(request: ModelRequest, context: CallContext): Promise<PartReader> {
  const { model, version, signal, onWarning } = context
  const [provider = ''] = model.provider.split('.')
  // The providers that call their format `chat` are those of chat completions, and Gemini on Vertex.
  const isChat = model.provider.endsWith('.chat') && provider !== 'google'
  const rules = { version, provider, isChat, urls: await (model.supportedUrls ?? {}) }
  let prompt = toPrompt(request.messages, { instructions: request.instructions, rules, onWarning })
  for (;;) {
    signal.throwIfAborted()
    try {
      const { stream } = await model.doStream(toCallOptions(request, prompt, signal))
      return cancelWith(stream.getReader(), signal)
    } catch (error) {
      // AG-UI asks to leave out what a model cannot take. Providers tell it only so, before they send anything.
      const reduced = withoutRefusedFiles(prompt, error)
      if (reduced === undefined) throw error
      onWarning(`Files were left out: ${String(error)}`)
      prompt = reduced
    }
  }
}

function cancelWith(reader: PartReader, signal: AbortSignal): PartReader {
  const cancel = () => {
    // Rejects with what has failed in the stream before. That was thrown where it was read.
    reader.cancel(signal.reason).catch(() => undefined)
  }
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel)
  return reader
}
