/** The part of the library that applies patches, as an ES module: bundlers leave the rest of it out. */
declare module 'fast-json-patch/module/core.mjs' {
  export { applyOperation, getValueByPointer } from 'fast-json-patch/commonjs/core.js'
}
