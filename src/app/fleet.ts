/** The fleets that this machine is in. Nothing of src/machines is loaded before there is one. */
import { existsSync } from "node:fs";
import { isMachineName } from "../core/config/machines.ts";
import type { TeamView } from "../core/interfaces/wire.ts";
import { findWaiting, type Session } from "../core/session/session.ts";
import { minuteMs } from "../core/timing.ts";
import type { FleetRecord } from "../machines/fleet/fleet-file.ts";
import type { Fleet, FleetOptions } from "../machines/fleet/index.ts";
import type { FleetReport, MemberWaits } from "../machines/fleet/report.ts";
import type { Team } from "../machines/fleet/team.ts";
import type { FleetMachine } from "../machines/index.ts";
import type { PublisherOptions } from "../machines/publisher.ts";
import { ofOwnSessions } from "../state/followers.ts";
import type { Base } from "./base.ts";
import type { Desktop } from "./desktop.ts";
import { createFleetState } from "./fleet-state.ts";
import type { Sinks } from "./sinks.ts";
import type { AppState } from "./state.ts";

export interface AppFleets {
  /** Reads which fleets this machine is in now, and follows them. */
  update(): Promise<void>;
  report(): readonly FleetReport[];
  /** The team fleets, as the page shows them. */
  teams(): readonly TeamView[];
  teamNames(): readonly string[];
  stop(): Promise<void>;
}

/** A user without input for this long may be elsewhere. */
const presentMs = minuteMs;

export function createAppFleets(
  base: Base,
  state: AppState,
  desktop: Pick<Desktop, "readPresence" | "isHeadless">,
  sinks: Pick<Sinks, "history" | "machines">,
  createOwner: () => PublisherOptions,
): AppFleets {
  const { paths, onProblem } = base;
  const fleets = new Map<string, Fleet>();
  /** Of the fleets that are a team, by the same names. */
  const teams = new Map<string, Team>();
  let updating: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isFollowing = false;
  /** The user's other machines, by the names that they have here. */
  let named: ReadonlyMap<string, FleetMachine> = new Map();
  const saved = createFleetState(base, sinks.history, fleets);

  async function update(): Promise<void> {
    if (isStopped || (fleets.size === 0 && !existsSync(paths.fleets))) return;
    const [{ readFleets, changeFleets }, { openFleet }, { createTeam }] = await Promise.all([
      import("../machines/fleet/fleet-file.ts"),
      import("../machines/fleet/index.ts"),
      import("../machines/fleet/team.ts"),
    ]);
    const { fleets: wanted, problem } = readFleets(paths);
    if (problem !== null) onProblem(problem);
    saved.open();
    for (const [name, fleet] of fleets) {
      if (isSame(wanted[name], fleet.record())) fleet.beat();
      else await close(name, fleet);
    }
    const onMembers = (name: string, record: FleetRecord): void => {
      changeFleets(paths, (all) => (all[name]?.id === record.id ? { ...all, [name]: record } : all));
      void follow().catch((error) => onProblem(`the machines of ${name} could not be followed: ${error}`));
    };
    const owner = createOwner();
    for (const [name, record] of Object.entries(wanted)) {
      if (fleets.has(name)) continue;
      const fleet = openFleet({
        ...owner,
        ...createFleetOptions(name, record),
        onMembers: (now) => onMembers(name, now),
      });
      fleets.set(name, fleet);
      if (record.kind === "team")
        teams.set(name, createTeam({ fleet: fleet.record, name, sessions: ownSessions, clock: base.clock }));
    }
    if (!isFollowing && fleets.size > 0) state.followers.addFirst(follower);
    isFollowing ||= fleets.size > 0;
    await follow();
  }

  const createFleetOptions = (name: string, record: FleetRecord) =>
    ({
      name,
      record,
      saved: saved.find(record.id),
      keeps: () => base.config().fleet,
      async readPresence() {
        if (desktop.isHeadless) return null;
        const { idleMs, isLocked } = await desktop.readPresence();
        return isLocked !== true && idleMs !== null && idleMs < presentMs ? idleMs : null;
      },
      onSaveable: saved.saveSoon,
      onRead: saved.saveReadSoon,
      onChange: () => {},
    }) satisfies Partial<FleetOptions>;

  async function close(name: string, fleet: Fleet): Promise<void> {
    saved.keep(fleet);
    fleets.delete(name);
    const team = teams.get(name);
    teams.delete(name);
    await team?.stop();
    await follow();
    await fleet.stop();
  }

  const follower = ofOwnSessions({
    onChange(change) {
      for (const fleet of fleets.values()) fleet.onChange(change);
      for (const team of teams.values()) team.onOwnChange(change.session);
    },
    onTransition(transition) {
      for (const fleet of fleets.values()) fleet.onTransition(transition);
      if (transition.kind === "departed") for (const team of teams.values()) team.onOwnGone(transition.key);
    },
    onRefresh() {
      for (const fleet of fleets.values()) fleet.onRefresh();
    },
  });

  const ownSessions = () => state.sessionsNow().filter(({ machine }) => machine === null);

  /** A team's sessions are not for this machine's user: they are in no list, and alert nobody here. */
  function follow(): Promise<void> {
    for (const [name, team] of teams) team.follow(fleets.get(name)?.members() ?? []);
    const own = [...fleets].flatMap(([name, fleet]) => (teams.has(name) ? [] : [fleet]));
    return sinks.machines.follow((taken) => {
      named = nameMachines(own, taken);
      return named;
    });
  }

  /** What waits on one of the user's own machines, as this one shows it. */
  function findOwnWaits(id: string, own: string): MemberWaits {
    const name = id === own ? null : [...named].find(([, machine]) => machine.id === id)?.[0];
    return countWaits(state.sessionsNow().filter(({ machine }) => machine === name));
  }

  return {
    update() {
      updating = updating.then(update);
      return updating;
    },
    report: () =>
      [...fleets].map(([name, fleet]) => {
        const team = teams.get(name);
        return fleet.report((id) => team?.findWaits(id) ?? findOwnWaits(id, fleet.record().machine));
      }),
    teamNames: () => [...teams.keys()],
    teams: () => [...teams.values()].map((team) => team.view()),
    async stop() {
      isStopped = true;
      await updating.catch(() => {});
      saved.flush();
      await Promise.all([...teams.values(), ...fleets.values()].map((each) => each.stop()));
      saved.flushRead();
    },
  };
}

function countWaits(sessions: readonly Session[]): MemberWaits {
  const waiting = sessions
    .filter(({ ended, unreachableSince }) => !ended && unreachableSince === null)
    .map(findWaiting)
    .filter((asks) => asks.length > 0);
  const since = waiting.flat().map(({ at }) => at);
  return { needing: waiting.length, since: since.length === 0 ? null : Math.min(...since) };
}

/** Without the list of members, which the fleet itself keeps up to date. */
function isSame(wanted: FleetRecord | undefined, known: FleetRecord): boolean {
  const pick = ({ members, epochKeys, ...rest }: FleetRecord) => JSON.stringify(rest);
  return wanted !== undefined && pick(wanted) === pick(known);
}

/** Under what they call themselves, if that is a name for a machine and no other has it. */
function nameMachines(
  fleets: readonly Fleet[],
  taken: ReadonlySet<string>,
): ReadonlyMap<string, FleetMachine> {
  const named = new Map<string, FleetMachine>();
  const members = fleets.flatMap((fleet) => fleet.members());
  for (const member of members) {
    const plain = member.suggestedName.replace(/[^\w.-]/g, "-");
    const wanted = isMachineName(plain) ? plain : `machine-${member.id.slice(0, 4)}`;
    const isFree = !taken.has(wanted) && !named.has(wanted);
    named.set(isFree ? wanted : `${wanted.slice(0, 35)}-${member.id.slice(0, 4)}`, member);
  }
  return named;
}
