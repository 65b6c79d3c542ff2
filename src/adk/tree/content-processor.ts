import { ContentRequestProcessor, type LlmAgent } from '@google/adk'
import { eventsForModel, withOwnNames } from '../ask/model-view.js'
import { withOwnAnswers } from './own-answers.js'
import { withCallers } from './with-callers.js'

type Processor = LlmAgent['requestProcessors'][number]

/** The steps that make a request, with ADK's own one for the conversation reading the session as it should. */
export function processorsOf({ name, requestProcessors }: LlmAgent): Processor[] {
  return requestProcessors.map((processor) =>
    processor instanceof ContentRequestProcessor ? contentProcessor(processor, name) : processor,
  )
}

function contentProcessor(processor: ContentRequestProcessor, agentName: string): Processor {
  return {
    async *runAsync(context, request) {
      const answers = withOwnAnswers(context.session.events, agentName)
      const events = withCallers(eventsForModel(answers, agentName))
      // Only this step sees them: all others, and the plugins, have the session itself.
      const session = { ...context.session, events: [...events] }
      yield* processor.runAsync(context.clone({ session }), request)
      request.contents = withOwnNames(request.contents)
    },
  }
}
