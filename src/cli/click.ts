/** `beckon click LINK`: what Windows starts when a toast is clicked. Not for people, so the help does not name it. */
import { handOver } from "../desktop/windows/click.ts";

export async function click(args: string[]): Promise<number> {
  return process.platform === "win32" && handOver(args) ? 0 : 1;
}
