/** Free file descriptors. Other users can take them for a moment, with connections to beckon's port. */
import { closeSync, openSync } from "node:fs";

/** More than a thread needs, because connections are accepted while it starts. */
const wanted = 32;

/**
 * Whether a thread can be started, for a Worker or for the first fetch. Without a free descriptor, Bun 1.4.4 ends the whole process
 * ("bun ran out of file descriptors"); everything else fails with EMFILE (measured). Always true on Windows, which has no such limit.
 */
export function hasFreeDescriptors(): boolean {
  if (process.platform === "win32") return true;
  const opened: number[] = [];
  try {
    while (opened.length < wanted) opened.push(openSync("/dev/null", "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
