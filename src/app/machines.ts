/**
 * Other machines, as the rest of the app sees them: sessions in the store, and asks that are answered like this machine's own. Nothing
 * of src/machines is loaded before there is such a machine.
 */
import { hostname } from "node:os";
import { createAnswerInfo } from "../answers/answer-info.ts";
import type { Answers } from "../answers/index.ts";
import type { PendingRequests } from "../answers/pending.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { JsonRecord } from "../core/json.ts";
import { isMirroredRequest } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { History } from "../history/index.ts";
import type { MachineReport, Machines, MachinesOptions } from "../machines/index.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { createSaver } from "../storage/saver.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";
import type { FilesAcrossMachines } from "./files-across-machines.ts";
import { createRecordedValue } from "./recorded.ts";
import type { AppState } from "./state.ts";

/** What the user is asked, on any machine, and the one way to answer it. */
export type AllRequests = Pick<PendingRequests, "details" | "maskedDetails" | "answer" | "addAnswerInfo">;

type MachineHistory = MachinesOptions["history"] & Pick<History, "whenRecorded">;

export interface AppMachines extends Sink {
  readonly requests: AllRequests;
  readonly selectPane: Machines["selectPane"];
  readonly send: Machines["send"];
  readonly look: Machines["look"];
  /** Its own machine tells the user of this session by phone or chat, so this one does not. */
  isAlertedElsewhere(session: Session): boolean;
  readonly locateUser: Machines["locateUser"];
  report(): readonly MachineReport[];
  readonly retry: Machines["retry"];
  problems(): readonly string[];
  /** Also follows the machines of these fleets from now on. */
  follow(fleetMachines: MachinesOptions["fleetMachines"]): Promise<void>;
  /** Links the machines of the settings. */
  start(history: MachineHistory): Promise<void>;
  stop(): Promise<void>;
}

const progressDelay = { quietMs: 5_000, maxDelayMs: 30_000 };

export function createAppMachines(
  base: Base,
  state: AppState,
  { pending, logWriter }: Answers,
  filesAcrossMachines: Pick<FilesAcrossMachines, "start">,
): AppMachines {
  const { paths, clock, config, onProblem } = base;
  const { store, followers, transitions } = state;
  let machines: Machines | null = null;
  let isStopped = false;
  let cancelRefresh: (() => void) | null = null;
  /** null before the start. */
  let history: MachineHistory | null = null;
  /** null if this machine is in no fleet. */
  let fleetMachines: MachinesOptions["fleetMachines"] | null = null;

  /** Once for all machines of a fleet that are listed at the same time: everything that shows something looks at all sessions. */
  function refreshSoon(): void {
    cancelRefresh ??= schedule(() => {
      cancelRefresh = null;
      followers.onRefresh();
    }, 0);
  }

  function saveProgress(progress: JsonRecord): void {
    try {
      saveJsonState(paths.machineState, progress, { isSynced: false });
    } catch (error) {
      onProblem(readErrorMessage(error));
    }
  }

  async function load(): Promise<void> {
    const isNeeded = fleetMachines !== null || Object.keys(config().machines).length > 0;
    if (machines || isStopped || !history || !isNeeded) return;
    const { whenRecorded } = history;
    const { createMachines } = await import("../machines/index.ts");
    if (machines || isStopped) return;
    const saved = loadJsonState(paths.machineState);
    if (saved.problem !== null) onProblem(saved.problem);
    machines = createMachines({
      config,
      fleetMachines: (taken) => fleetMachines?.(taken) ?? new Map(),
      ownName: hostname(),
      ownId: base.machineId(),
      history,
      saved: saved.value,
      createSaver: (value) =>
        createSaver(createRecordedValue(whenRecorded, value, saveProgress), {
          ...progressDelay,
          onError: onProblem,
        }),
      clock,
      sessions: store.mirrored,
      get: store.get,
      replace: store.replace,
      remove(keys) {
        for (const key of store.remove(keys)) transitions.onDeparted(key);
        followers.onRefresh();
      },
      onAskEnded: logWriter.answered,
      onChange: refreshSoon,
      saveNow: saveProgress,
      schedule,
      onProblem,
    });
  }

  async function update(): Promise<void> {
    await load();
    machines?.update();
    if (machines && machines.report().length > 0) filesAcrossMachines.start();
  }

  const ownerOf = ({ request }: Ask) => (request !== null && isMirroredRequest(request) ? machines : pending);

  const addMirroredInfo = createAnswerInfo({
    getSettled: store.get,
    findRequest(ask) {
      const details = machines?.details(ask);
      return details ? { details, sent: null } : null;
    },
    explain: ({ machine, unreachableSince }) =>
      unreachableSince === null ? "answer it in its terminal" : `${machine} cannot be reached`,
  });

  return {
    name: "machines",
    requests: {
      details: (ask) => ownerOf(ask)?.details(ask) ?? null,
      maskedDetails: (ask) => ownerOf(ask)?.maskedDetails(ask) ?? null,
      async answer(session, ...answer) {
        if (session.machine === null) return pending.answer(session, ...answer);
        return machines?.answer(session, ...answer) ?? `${session.machine} is not linked`;
      },
      addAnswerInfo: (view, inFull) =>
        view.machine === null ? pending.addAnswerInfo(view, inFull) : addMirroredInfo(view, inFull),
    },
    selectPane: async (session) =>
      machines?.selectPane(session) ?? { problem: `${session.machine} is not linked`, elsewhere: null },
    send: async (session, prompt) =>
      machines?.send(session, prompt) ?? `${session.machine} is not linked: nothing was sent`,
    look: async (session) => machines?.look(session) ?? null,
    isAlertedElsewhere: ({ machine }) => machine !== null && machines?.isAlertedElsewhere(machine) === true,
    locateUser: async () => machines?.locateUser() ?? (() => null),
    report: () => machines?.report() ?? [],
    retry: (name) => machines?.retry(name) ?? false,
    problems: () =>
      (machines?.report() ?? []).flatMap(({ name, problem, fleet }) =>
        // Machines of a fleet come and go.
        problem === null || fleet !== null ? [] : [`${name} is not linked: ${problem}`],
      ),
    onSettingsChanged: () =>
      void update().catch((error) => onProblem(`machines could not be linked: ${error}`)),
    follow(members) {
      fleetMachines = members;
      return update();
    },
    start(recorder) {
      history = recorder;
      return update();
    },
    async stop() {
      isStopped = true;
      await machines?.stop();
      cancelRefresh?.();
    },
  };
}
