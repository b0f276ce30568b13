/**
 * A team fleet as its members see it: whose agents wait, since when. The others' sessions are not put into this machine's list: they are not
 * for its user to answer, and must not alert anybody but their own.
 */
import type { TeamMachine, TeamPerson, TeamView, TeamWait } from "../../core/interfaces/wire.ts";
import type { ClockReading } from "../../core/session/event.ts";
import { findWaiting, projectOf, type Session } from "../../core/session/session.ts";
import { sessionKeyOf } from "../../core/session/session-ref.ts";
import { truncateEnd } from "../../core/text/text.ts";
import { dayMs } from "../../core/timing.ts";
import type { FleetMachine } from "../index.ts";
import { type ClockShift, findClockShift, readDescribedSession } from "../mirrored-session.ts";
import type { DescribedSession, OwnerMessage } from "../protocol.ts";
import type { FleetRecord } from "./fleet-file.ts";
import type { MemberWaits } from "./report.ts";
import { shareOf, shareSession, shareWords } from "./share.ts";

/** What is known of one session. */
interface Known {
  /** When each open ask was asked. */
  readonly asks: ReadonlyMap<string, number>;
  readonly project: string | null;
  readonly tool: string | null;
  readonly isWorking: boolean;
}

const maxWaits = 400;

/** What the sessions of one machine wait for, and waited for today. */
function createWaitLog() {
  const sessions = new Map<string, Known>();
  let past: TeamWait[] = [];

  function set(key: string, known: Known | null, at: number): void {
    const before = sessions.get(key)?.asks ?? new Map<string, number>();
    for (const [ask, from] of before) if (!known?.asks.has(ask)) past.push({ from, to: Math.max(from, at) });
    past = past.filter(({ to }) => to !== null && to > at - dayMs).slice(-maxWaits);
    if (known) sessions.set(key, known);
    else sessions.delete(key);
  }

  return {
    update: (session: Session, at: number) => set(sessionKeyOf(session), describe(session), at),
    remove: (key: string, at: number) => set(key, null, at),
    keys: () => [...sessions.keys()],
    /** Nobody knows whether they still wait. */
    forget() {
      sessions.clear();
    },
    report(): Pick<TeamMachine, "waiting" | "since" | "project" | "tool" | "working" | "waits"> {
      const all = [...sessions.values()];
      const open = all.flatMap(({ asks, project, tool }) =>
        [...asks.values()].map((from) => ({ from, project, tool })),
      );
      const [first] = open.toSorted((a, b) => a.from - b.from);
      return {
        waiting: all.filter(({ asks }) => asks.size > 0).length,
        since: first?.from ?? null,
        project: first?.project ?? null,
        tool: first?.tool ?? null,
        working: all.filter(({ isWorking }) => isWorking).length,
        waits: [...past, ...open.map(({ from }) => ({ from, to: null }))],
      };
    },
  };
}

const maxNameWidth = 40;
const cutName = (text: string): string => truncateEnd(text, maxNameWidth);
const maxLabel = 60;
const cutLabel = (text: string | null): string | null => text && truncateEnd(text, maxLabel);

function describe(session: Session): Known {
  const asks = session.ended ? [] : findWaiting(session);
  return {
    asks: new Map(asks.map(({ id, at }) => [id, at])),
    project: cutLabel(projectOf(session)),
    tool: cutLabel(asks[0]?.tool ?? null),
    isWorking: !session.ended && session.turn.running && asks.length === 0,
  };
}

export type TeamMember = Pick<FleetMachine, "id" | "fleet" | "open"> & { readonly suggestedName: string };

export interface TeamOptions {
  readonly fleet: () => FleetRecord;
  /** The user's name for it. */
  readonly name: string;
  /** This machine's own. */
  readonly sessions: () => readonly Session[];
  readonly clock: () => ClockReading;
}

/** One that waits, if there is one. */
const chooseExample = (sessions: readonly Session[]): Session | null =>
  sessions.find(({ ended, asks }) => !ended && asks.length > 0) ??
  sessions.find(({ ended }) => !ended) ??
  null;

interface Followed {
  readonly member: TeamMember;
  readonly report: () => TeamMachine;
  readonly stop: () => Promise<void>;
}

export interface Team {
  /** The other members. */
  follow(members: readonly TeamMember[]): void;
  /** A session of this machine has changed, or was removed. */
  onOwnChange(session: Session): void;
  onOwnGone(key: string): void;
  view(): TeamView;
  /** What waits on a machine of the team, by its id. */
  findWaits(machine: string): MemberWaits;
  stop(): Promise<void>;
}

export function createTeam(options: TeamOptions): Team {
  const { clock } = options;
  const followedAt = clock().at;
  const ownLog = createWaitLog();
  for (const session of options.sessions()) ownLog.update(session, followedAt);
  const followed = new Map<string, Followed>();

  function open(member: TeamMember): Followed {
    const name = cutName(member.suggestedName);
    const log = createWaitLog();
    let shift: ClockShift | null = null;
    let heardAt: number | null = null;
    /** Of a list that comes in several parts. */
    let listed = new Set<string>();

    function take(described: DescribedSession): void {
      const now = clock();
      const mirrored = shift && readDescribedSession(described, name, shift, now);
      if (!mirrored) return;
      log.update(mirrored.session, now.at);
      listed.add(sessionKeyOf(mirrored.session));
    }

    function onMessage(message: OwnerMessage): void {
      const { at } = clock();
      heardAt = at;
      if (message.kind === "session") take(message.described);
      if (message.kind === "gone") log.remove(sessionKeyOf({ ...message, machine: name }), at);
      if (message.kind === "sessions") {
        message.sessions.forEach(take);
        if (message.isPart !== true) {
          for (const key of log.keys()) if (!listed.has(key)) log.remove(key, at);
          listed = new Set();
        }
      }
    }

    const carrier = member.open({
      onOpened({ now }) {
        shift = findClockShift(now, clock(), shift);
        heardAt = clock().at;
        listed = new Set();
      },
      onMessage,
      onLost() {
        heardAt = clock().at;
        shift = null;
        log.forget();
      },
    });
    return {
      member,
      report: () => ({
        name,
        isThis: false,
        isThere: shift !== null,
        heardAt: shift === null ? heardAt : null,
        ...log.report(),
      }),
      stop: () => carrier.stop(),
    };
  }

  function view(): TeamView {
    const record = options.fleet();
    const own = record.members.members.find(({ id }) => id === record.machine);
    const you = cutName(own?.person ?? "");
    const machines: (readonly [person: string, machine: TeamMachine])[] = [
      [
        you,
        { name: cutName(own?.name ?? ""), isThis: true, isThere: true, heardAt: null, ...ownLog.report() },
      ],
      ...[...followed.values()].map(
        ({ member, report }) => [cutName(member.fleet.person), report()] as const,
      ),
    ];
    const level = shareOf(record);
    const example = chooseExample(options.sessions());
    return {
      name: options.name,
      share: level,
      shareWords: shareWords[level],
      example:
        example && JSON.stringify(shareSession({ session: { ...example }, answerable: [] }, level).session),
      followedAt,
      people: [...Map.groupBy(machines, ([person]) => person)].map(
        ([name, list]): TeamPerson => ({
          name,
          isYou: name === you,
          machines: list.map(([, machine]) => machine),
        }),
      ),
    };
  }

  return {
    follow(members) {
      const wanted = new Map(members.map((member) => [member.id, member]));
      for (const [id, { member, stop }] of followed) {
        const now = wanted.get(id);
        if (now?.suggestedName === member.suggestedName && now.fleet.person === member.fleet.person) continue;
        followed.delete(id);
        void stop();
      }
      for (const member of wanted.values())
        if (!followed.has(member.id)) followed.set(member.id, open(member));
    },
    onOwnChange: (session) => ownLog.update(session, clock().at),
    onOwnGone: (key) => ownLog.remove(key, clock().at),
    view,
    findWaits(machine) {
      const isOwn = machine === options.fleet().machine;
      const found = isOwn ? ownLog.report() : followed.get(machine)?.report();
      return { needing: found?.waiting ?? 0, since: found?.since ?? null };
    },
    stop: async () => void (await Promise.all([...followed.values()].map(({ stop }) => stop()))),
  };
}
