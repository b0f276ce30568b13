/**
 * Files that sessions of several machines change at once: names those of this machine for the others, and finds what they share. Nothing of
 * it is loaded before this machine is linked with another.
 */
import { hostname } from "node:os";
import type { Sink } from "../core/interfaces/index.ts";
import { type Change, createInternalEvent } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { exec } from "../system/exec.ts";
import { schedule } from "../system/schedule.ts";
import type { AcrossMachines } from "../workguard/across-machines.ts";
import type { RepositoryFiles } from "../workguard/repository-files.ts";
import type { Base } from "./base.ts";
import type { AppState } from "./state.ts";

export interface FilesAcrossMachines extends Sink {
  /** There is another machine. */
  start(): void;
  stop(): void;
}

export function createFilesAcrossMachines(
  { clock, onError }: Pick<Base, "clock" | "onError">,
  { store, sessionsNow }: Pick<AppState, "store" | "sessionsNow">,
): FilesAcrossMachines {
  let isStarted = false;
  let isStopped = false;
  let own: RepositoryFiles | null = null;
  let shared: AcrossMachines | null = null;
  let count = 0;

  const createEvent = ({ machine, agent, sessionId }: Session, change: Change) => {
    const now = clock();
    const about = { ...(machine === null ? {} : { machine }), agent, sessionId };
    return createInternalEvent(`across-${++count}-${now.t}`, now, about, change);
  };

  async function load(): Promise<void> {
    const [
      { createRepositoryFiles },
      { createAcrossMachines, isElsewhere },
      { createFileReader, createRepositoryReader },
    ] = await Promise.all([
      import("../workguard/repository-files.ts"),
      import("../workguard/across-machines.ts"),
      import("../workguard/git.ts"),
    ]);
    if (isStopped) return;
    own = createRepositoryFiles({
      sessions: sessionsNow,
      get: store.get,
      schedule,
      readFile: createFileReader(exec),
      readRepository: createRepositoryReader(exec),
      setFiles: (session, files) => store.dispatch(createEvent(session, { kind: "repository-files", files })),
    });
    shared = createAcrossMachines({
      sessions: sessionsNow,
      get: store.get,
      ownName: hostname(),
      schedule,
      setShared(session, elsewhere) {
        const files = [...session.sharedFiles.filter((file) => !isElsewhere(file)), ...elsewhere];
        if (session.machine === null) store.dispatch(createEvent(session, { kind: "shared-files", files }));
        // Its own machine reduces it.
        else store.replace({ ...session, sharedFiles: files }, createEvent(session, { kind: "mirrored" }));
      },
    });
  }

  return {
    name: "files across machines",
    start() {
      if (isStarted) return;
      isStarted = true;
      load().catch((error) => onError(`files of other machines are not compared: ${error}`));
    },
    onChange(change) {
      own?.onChange(change);
      shared?.onChange(change);
    },
    onTransition(transition) {
      if (transition.kind === "departed") shared?.onDeparted();
    },
    stop() {
      isStopped = true;
      own?.stop();
      shared?.stop();
    },
  };
}
