/**
 * Other machines, as the rest of the app sees them: sessions in the store, and asks that are answered like this machine's own. Nothing
 * of src/machines is loaded before there is such a machine.
 */
import { hostname } from "node:os";
import { createAnswerInfo } from "../answers/answer-info.ts";
import type { Answers } from "../answers/index.ts";
import type { PendingRequests } from "../answers/pending.ts";
import type { Sink } from "../core/interfaces/index.ts";
import { isMirroredRequest } from "../core/session/keys.ts";
import type { Ask } from "../core/session/session.ts";
import type { MachineReport, Machines } from "../machines/index.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";
import type { AppState } from "./state.ts";

/** What the user is asked, on any machine, and the one way to answer it. */
export type AnswerDesk = Pick<PendingRequests, "details" | "maskedDetails" | "answer" | "addAnswerInfo">;

export interface AppMachines extends Sink {
  readonly desk: AnswerDesk;
  readonly selectPane: Machines["selectPane"];
  report(): readonly MachineReport[];
  problems(): readonly string[];
  /** Links the machines of the settings. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createAppMachines(base: Base, state: AppState, { pending, logWriter }: Answers): AppMachines {
  const { clock, config, onProblem } = base;
  const { store, followers, transitions } = state;
  let machines: Machines | null = null;
  let isStopped = false;

  async function load(): Promise<void> {
    if (machines || isStopped || Object.keys(config().machines).length === 0) return;
    const { createMachines } = await import("../machines/index.ts");
    if (machines || isStopped) return;
    machines = createMachines({
      config,
      ownName: hostname(),
      clock,
      sessions: state.sessionsNow,
      get: store.get,
      replace: store.replace,
      remove(keys) {
        for (const key of store.remove(keys)) transitions.onDeparted(key);
        followers.onRefresh();
      },
      onAskEnded: logWriter.answered,
      onChange: followers.onRefresh,
      schedule,
      onProblem,
    });
  }

  async function update(): Promise<void> {
    await load();
    machines?.update();
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
    desk: {
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
      machines?.selectPane(session) ?? { problem: `${session.machine} is not linked`, login: null },
    report: () => machines?.report() ?? [],
    problems: () =>
      (machines?.report() ?? []).flatMap(({ name, problem }) =>
        problem === null ? [] : [`${name} is not linked: ${problem}`],
      ),
    onSettingsChanged: () =>
      void update().catch((error) => onProblem(`machines could not be linked: ${error}`)),
    start: update,
    async stop() {
      isStopped = true;
      await machines?.stop();
    },
  };
}
