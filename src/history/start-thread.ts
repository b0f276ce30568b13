/** Starts the history's engine: in a thread of its own, or in this one. */
import type { Agent } from "../agents/agent.ts";
import { loadAgents } from "../agents/index.ts";
import { hasFreeDescriptors } from "../system/descriptors.ts";
import type { FromHistory, ToHistory } from "./messages.ts";

/** The side of the app of the thread that owns the database. */
export interface Thread {
  post(message: ToHistory): void;
  end(): void;
}

export type StartThread = (
  onMessage: (message: FromHistory) => void,
  onDied: (reason: string) => void,
) => Thread;

/** Agents that are not in the table of all agents cannot be sent to another thread: functions stay here. */
export function chooseThread(agents: readonly Agent[] | undefined): StartThread {
  return agents ? (...callbacks) => startInline(agents, ...callbacks) : startWorker;
}

const startWorker: StartThread = (onMessage, onDied) => {
  if (!hasFreeDescriptors()) {
    const timer = setTimeout(onDied, 0, "too many open files");
    return { post() {}, end: () => clearTimeout(timer) };
  }
  const worker = new Worker(new URL("./history-thread.ts", import.meta.url).href, {
    name: "beckon history",
    smol: true,
  });
  let isOver = false;
  const die = (reason: string) => {
    if (isOver) return;
    isOver = true;
    onDied(reason);
  };
  worker.onmessage = ({ data }: MessageEvent<FromHistory>) => onMessage(data);
  worker.onerror = (event) => {
    event.preventDefault();
    die(event.message);
  };
  worker.addEventListener("close", () => die("it stopped"));
  // It must not keep a process alive that has nothing else to do.
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    end() {
      isOver = true;
      worker.terminate();
    },
  };
};

/** The engine in this thread, for agents that cannot be sent to another one. */
function startInline(agents: readonly Agent[], ...[onMessage, onDied]: Parameters<StartThread>): Thread {
  const engine = import("./engine.ts").then(({ createEngine }) =>
    createEngine({
      loadAgents: () => loadAgents(agents),
      post: (message) => setImmediate(onMessage, structuredClone(message)),
    }),
  );
  return {
    post(message) {
      const copy = structuredClone(message);
      engine.then(
        ({ handle }) => handle(copy),
        (error) => onDied(String(error)),
      );
    },
    end() {},
  };
}
