export { a2uiTool, checkA2uiOptions, type A2uiToolOptions } from './a2ui-tool.js'
export { basicCatalog } from './basic-catalog.js'
export type {
  A2uiCatalog,
  A2uiComponent,
  A2uiOperation,
  A2uiOptions,
  A2uiProgress,
  A2uiResult,
  SurfaceProblem,
} from './contract.js'
export { progressEventName, progressValue } from './progress.js'
export { toSurface, type SurfaceOptions } from './to-surface.js'
export { withA2ui } from './with-a2ui.js'
export {
  generateTool,
  renderTextTool,
  renderTool,
  writeSurface,
  type SurfaceRequest,
} from './write-surface.js'
