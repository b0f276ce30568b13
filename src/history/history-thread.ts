/** A Worker that owns the database, so that writing and searching never delay a hook. Its name is unique: see build.ts. */
import { setPriority } from "node:os";
import { loadAgents } from "../agents/index.ts";
import { createEngine } from "./engine.ts";
import type { ToHistory } from "./messages.ts";

declare const self: Worker;

/** On Linux this is the priority of the thread alone. Elsewhere it would be that of the whole process. */
const lowPriority = 10;

if (process.platform === "linux") {
  try {
    setPriority(0, lowPriority);
  } catch {}
}

const engine = createEngine({ loadAgents: () => loadAgents(), post: (message) => self.postMessage(message) });

/** As in the app: a working agent is often silent for half a minute. */
const idleMs = 60_000;
let idleTimer: ReturnType<typeof setTimeout> | null = null;

self.onmessage = ({ data }: MessageEvent<ToHistory>) => {
  if (idleTimer) clearTimeout(idleTimer);
  idleTimer = setTimeout(() => {
    engine.shrink();
    Bun.shrink();
  }, idleMs);
  engine.handle(data);
};
