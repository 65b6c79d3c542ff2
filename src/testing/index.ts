export { lintEndpoint, type EndpointReport, type LintEndpointOptions } from './lint-endpoint.js'
export { assertValidStream, lintEvents, type LintOptions } from './lint-events.js'
export { lintRules, type LintRule, type LintRuleInfo, type Violation } from './rules/rule-names.js'
