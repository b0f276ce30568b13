/** The message of anything that was thrown. On its own, because the forwarder loads it. */
export function readErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
