type Callback = (...args: never[]) => unknown

const callbackErrors = new WeakSet()

/**
 * The callbacks around an agent's model, with a note of the errors they throw. ADK reports such an error as one of the
 * model.
 */
export function notedCallbacks<C extends Callback>(callbacks: readonly C[]): C[] {
  return callbacks.map((callback) => {
    const noted = async (...args: Parameters<C>): Promise<unknown> => {
      try {
        return await callback(...args)
      } catch (error) {
        if (error instanceof Error) callbackErrors.add(error)
        throw error
      }
    }
    return noted as unknown as C
  })
}

/** Whether a callback of an agent or of a plugin threw the error, not the model. */
export function isCallbackError(error: unknown): boolean {
  return (
    error instanceof Error && (callbackErrors.has(error) || error.message.startsWith("Error in plugin '"))
  )
}
