/** macOS: the application comes to the front. Only the application itself could select one of its windows. */
import { ask, type Plan, run, type WindowInfo } from "./plan.ts";
import type { WindowSystem } from "./terminal.ts";

/** A bundle id, or the path of an application. */
const application = /^(?:\/.+\.app|[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+)$/;

/** Asks LaunchServices, which needs no permission and starts nothing. */
export function* isRunning(bundleId: string): Plan<boolean> {
  return (yield* ask(["lsappinfo", "find", `bundleid=${bundleId}`])).stdout.includes("ASN:");
}

export const macos: WindowSystem = {
  name: "macOS",
  platforms: ["darwin"],
  isTested: false,
  *list({ ids, pids }): Plan<readonly WindowInfo[] | null> {
    const id = ids.find((candidate) => application.test(candidate));
    if (id === undefined) return [];
    // `open` would start an application that the user has quit. A path is that of a running process.
    if (pids.length === 0 && !id.startsWith("/") && !(yield* isRunning(id))) return [];
    const front = (yield* ask(["lsappinfo", "front"])).stdout.trim();
    const info = /^ASN:[\w:-]+$/.test(front) ? (yield* ask(["lsappinfo", "info", front])).stdout : "";
    return [{ id, pid: pids[0] ?? null, title: "", active: info.includes(`"${id}"`) }];
  },
  *raise({ id }) {
    const opened = yield* run(["open", id.startsWith("/") ? "-a" : "-b", id]);
    return opened.code === 0 ? null : "macOS could not bring its application to the front";
  },
  limit: "macOS brought its application to the front, but maybe another of its windows",
};
