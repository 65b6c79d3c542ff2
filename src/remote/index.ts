export { fromAgUi } from './from-ag-ui.js'
export type {
  AgUiAgent,
  AgUiObserver,
  AgUiStream,
  Forwarded,
  FromAgUiOptions,
  RemoteRun,
} from './contract.js'
export { toAgUi, type ToAgUiOptions } from './to-ag-ui.js'
