/** `beckon click LINK`: Windows runs it when a toast is clicked. Users never type it, so --help does not list it. */
import { forwardToastClick } from "../desktop/windows/click.ts";

export async function click(args: string[]): Promise<number> {
  return process.platform === "win32" && forwardToastClick(args) ? 0 : 1;
}
