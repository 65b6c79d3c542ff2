/** Exits with 0 if the server of this container answers. */
const { PORT = '8000' } = process.env
const isWell = await fetch(`http://127.0.0.1:${PORT}/healthz`).then(
  ({ ok }) => ok,
  () => false,
)
process.exitCode = isWell ? 0 : 1
