console.log(`Millrace is being built in the open; the server is not here yet.

What works today:
  millrace/protocol   AG-UI 1.0 for producers: input, run stream, fold, compaction, SSE and protobuf
  millrace/testing    a linter for the streams of any AG-UI server

Try it:
  npm test                     everything that is claimed, checked
  npm run bench -- protocol    what an event costs

Then read docs/architecture.md for where this goes.`)
