/** macOS: the application comes to the front. Which of its windows, only the application could say. */
import { type Plan, run, type Window } from "./plan.ts";
import type { WindowRow } from "./row.ts";

/** A bundle's name, or the path of an application. */
const application = /^(?:\/.+\.app|[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+)$/;

/** Asked of LaunchServices, which needs no permission and starts nothing. */
export function* isRunning(bundle: string): Plan<boolean> {
  return (yield* run(["lsappinfo", "find", `bundleid=${bundle}`])).stdout.includes("ASN:");
}

export const row: WindowRow = {
  name: "macOS",
  proven: "by documentation",
  rules: ({ platform }) => platform === "darwin",
  *list({ ids, pids }): Plan<readonly Window[] | null> {
    const id = ids.find((one) => application.test(one));
    if (id === undefined) return [];
    // `open` would start an application that the person has quit. A path is that of a process seen running.
    if (pids.length === 0 && !id.startsWith("/") && !(yield* isRunning(id))) return [];
    const front = (yield* run(["lsappinfo", "front"])).stdout.trim();
    const info = /^ASN:[\w:-]+$/.test(front) ? (yield* run(["lsappinfo", "info", front])).stdout : "";
    return [{ id, pid: pids[0] ?? null, title: "", active: info.includes(`"${id}"`) }];
  },
  *raise({ id }) {
    const ran = yield* run(["open", id.startsWith("/") ? "-a" : "-b", id]);
    return ran.code === 0 ? null : "macOS could not bring its application to the front";
  },
  vague: "macOS brought its application to the front, but maybe another of its windows",
};
