import {
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  InMemorySessionService,
  type RunnerConfig,
} from '@google/adk'
import { MillraceError } from '../core/errors.js'
import type { AdkOptions } from './options.js'

/** What a Runner is made with besides its agent. */
export type Services = Required<
  Pick<RunnerConfig, 'sessionService' | 'artifactService' | 'memoryService' | 'credentialService'>
>

/** The services of an agent. Throws INVALID_AGENT when one is missing and may not be kept in memory. */
export function servicesOf(options: AdkOptions): Services {
  const {
    sessionService,
    artifactService,
    memoryService,
    credentialService,
    inMemoryServices = true,
  } = options
  if (!inMemoryServices) {
    const given = { sessionService, artifactService, memoryService, credentialService }
    const missing = Object.entries(given).flatMap(([name, service]) => (service ? [] : [`\`${name}\``]))
    if (missing.length > 0) throw missingServices(missing)
  }
  return {
    sessionService: sessionService ?? new InMemorySessionService(),
    artifactService: artifactService ?? new InMemoryArtifactService(),
    memoryService: memoryService ?? new InMemoryMemoryService(),
    credentialService: credentialService ?? new InMemoryCredentialService(),
  }
}

function missingServices(names: readonly string[]): MillraceError {
  const message = `With \`inMemoryServices: false\` every service is given: ${names.join(', ')} is missing.`
  return new MillraceError('INVALID_AGENT', message)
}
