export { assertValidStream } from './assert-valid-stream.js'
export { lintEndpoint, type EndpointReport, type LintEndpointOptions } from './lint-endpoint.js'
export { lintEvents, type LintOptions } from './lint-events.js'
export { lintRules, type LintRule, type LintRuleInfo, type Violation } from './lint-rules.js'
