/** The inbox of beckon's plugin: a socket in the state folder, by the pid of the opencode that listens there. */
import { readdirSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { errorCode, ignoreErrors, readOr, readOwnFile } from "../../../storage/files.ts";
import { resolvePaths } from "../../../storage/paths.ts";
import type { Env } from "../../../system/folders.ts";
import { hasProcess } from "../../../system/processes.ts";
import type { AgentWatcher } from "../../agent.ts";
import { findOwnSocket, isOwnSocket } from "../../watch/own-socket.ts";

const answerMs = 3_000;
const maxTokenBytes = 4_096;

/** Nothing of opencode is watched but where its prompts go: its plugin reports everything else. */
export function watchInboxes({ env, name }: { readonly env: Env; readonly name: string }): AgentWatcher {
  const { inboxes: folder, authHeader } = resolvePaths(env);
  const pathOf = (pid: number) => join(folder, `${pid}.sock`);

  /** A process that was killed has left its socket behind. */
  function removeOld(): void {
    for (const file of readOr(() => readdirSync(folder), [])) {
      const pid = Number(/^(\d+)\.sock$/.exec(file)?.[1] ?? 0);
      if (pid > 1 && !hasProcess(pid)) ignoreErrors(() => rmSync(pathOf(pid)));
    }
  }

  return {
    scan: removeOld,
    check() {},
    follow() {},
    continuesElsewhere: () => false,
    prompts: {
      way: "Goes through beckon's plugin",
      findObstacle({ place }) {
        if (place?.pid == null || !place.local) return "beckon does not know the process that it runs in";
        return isOwnSocket(pathOf(place.pid))
          ? null
          : `the ${name} that it runs in takes no prompts: it was started before beckon's plugin could, or cannot`;
      },
      async send({ sessionId, place }, text) {
        const [line = ""] = readOwnFile(authHeader, maxTokenBytes).split("\n");
        const answer = await ask(findOwnSocket(pathOf(place?.pid ?? 0)), {
          token: line,
          session: sessionId,
          text,
        });
        if (answer !== "taken") throw new Error(`${name} has not taken it`);
      },
    },
    stop() {},
  };
}

function ask(path: string, message: object): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = "";
  const socket = createConnection({ path });
  socket.setEncoding("utf8");
  socket.setTimeout(answerMs, () => socket.destroy(new Error("it does not answer")));
  socket.once("error", (error) => reject(new Error(`it cannot be reached (${errorCode(error)})`)));
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.once("close", () => resolve(answer.trim()));
  socket.once("connect", () => socket.write(`${JSON.stringify(message)}\n`));
  return promise;
}
