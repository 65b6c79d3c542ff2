import {
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  isLlmAgent,
  type Runner,
  type RunnerConfig,
} from '@google/adk'
import { MillraceError } from '../core/errors.js'
import type { AdkOptions } from './contract.js'
import { RecentSessions } from './session/recent-sessions.js'
import { indexAgents } from './tree/agent-index.js'

type Services = Pick<
  RunnerConfig,
  'sessionService' | 'artifactService' | 'memoryService' | 'credentialService'
>

/** The given services; those that are missing are kept in memory, unless the options forbid it. */
export function servicesFrom(options: AdkOptions): Services {
  const { sessionService, artifactService, memoryService, credentialService } = options
  if (options.inMemoryServices !== false)
    return {
      sessionService: sessionService ?? new RecentSessions({ memoryService }),
      artifactService: artifactService ?? new InMemoryArtifactService(),
      memoryService: memoryService ?? new InMemoryMemoryService(),
      credentialService: credentialService ?? new InMemoryCredentialService(),
    }
  if (!sessionService) throw missingService('sessionService', 'Every run')
  return {
    sessionService,
    ...(artifactService && { artifactService }),
    ...(memoryService && { memoryService }),
    ...(credentialService && { credentialService }),
  }
}

// ADK's own tools that do nothing, or fail in the middle of a run, without their service.
const neededBy: Readonly<Record<string, 'artifactService' | 'memoryService'>> = {
  load_artifacts: 'artifactService',
  load_memory: 'memoryService',
  preload_memory: 'memoryService',
}

/** Throws INVALID_AGENT when a tool of the tree needs a service that the Runner does not have. */
export function checkServices(runner: Runner): void {
  for (const agent of indexAgents(runner.agent).agents) {
    for (const tool of isLlmAgent(agent) ? agent.tools : []) {
      const name = 'name' in tool ? tool.name : ''
      const service = Object.hasOwn(neededBy, name) ? neededBy[name] : undefined
      if (service && !runner[service])
        throw missingService(service, `The tool '${name}' of agent '${agent.name}'`)
    }
  }
}

function missingService(service: keyof Services, user: string): MillraceError {
  const message = `${user} needs \`${service}\`. Give it to \`fromAdk\`, or leave out \`inMemoryServices: false\`.`
  return new MillraceError('INVALID_AGENT', message)
}
