/**
 * Other machines. A machine owns its sessions: it receives their hooks, and decides about their requests. Here they are mirrored,
 * and what the user wants goes through the link to the owner (link.ts, mirror.ts). In the other direction, publisher.ts describes this
 * machine's sessions to those that are linked to it. The app loads this only if there is such a machine.
 */
import type { PendingRequests } from "../answers/pending.ts";
import type { MaskedDetails } from "../answers/pending-request.ts";
import type { Config } from "../core/config/config.ts";
import { describeWay, type MachineSettings, type MachineWay } from "../core/config/machines.ts";
import { firstGrowingIdAt } from "../core/growing-ids.ts";
import type { ActionRefused, AskEnd, Schedule } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent, ClockReading } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import type { ElsewhereTarget } from "../core/terminals/terminal.ts";
import { toSingleLine } from "../core/text/text.ts";
import type { Saver } from "../storage/saver.ts";
import type { Hello, OpenCarrier } from "./carrier.ts";
import { maxPastMs } from "./described.ts";
import { createLink } from "./link.ts";
import { createLinkCommand } from "./link-command.ts";
import { type LinkProblem, suggestFix } from "./link-problem.ts";
import { type LinkedMachine, linkMachine } from "./linked-machine.ts";
import { createProgress } from "./progress.ts";
import type { FollowerRequest } from "./protocol.ts";
import type { RequestedPrompt, SentOutcome } from "./requests.ts";

export interface MachinesOptions {
  readonly config: () => Pick<Config, "machines">;
  /** The machines of this machine's fleets, by the names that they get here. */
  readonly fleetMachines: (taken: ReadonlySet<string>) => ReadonlyMap<string, FleetMachine>;
  /** What this machine is called by the others. */
  readonly ownName: string;
  /** Names this installation, as `machineId` names others. */
  readonly ownId: string;
  readonly clock: () => ClockReading;
  /** Those of other machines. */
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly replace: (session: Session, event: AgentEvent) => void;
  readonly remove: (keys: readonly string[]) => void;
  readonly onAskEnded: (end: AskEnd) => void;
  /** What can be answered, or what a machine's report says, has changed. */
  readonly onChange: () => void;
  readonly history: {
    readonly addPast: (machine: string, session: PastSession, since: number) => void;
    readonly onMachineListed: (machine: string) => void;
    /** Calls back whenever the history has lost what it knew of other machines. */
    readonly whenReplaced: (callback: () => void) => void;
  };
  /** What was saved last. */
  readonly saved: JsonRecord;
  /** Saves what the history has. */
  readonly createSaver: (value: () => JsonRecord) => Saver;
  readonly saveNow: (value: JsonRecord) => void;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
  /** For tests. */
  readonly replyMs?: number;
}

/** In which fleet a machine is, and whose it is. */
export interface FleetPlace {
  readonly name: string;
  readonly kind: "personal" | "team";
  readonly person: string;
}

/** A machine that is followed through a fleet. */
export interface FleetMachine {
  /** Its id in the fleet. */
  readonly id: string;
  readonly fleet: FleetPlace;
  /** Of the machines of this person that could tell by phone or chat of its sessions, this one does. */
  readonly isTeller: () => boolean;
  /** The name of the other machine of this person at which they are; null if they are here, or at none. */
  readonly findUserElsewhere: () => Promise<string | null>;
  readonly open: OpenCarrier;
}

/** A machine as `beckon machine list` shows it. */
export interface MachineReport {
  readonly name: string;
  readonly way: MachineWay | "fleet";
  /** null for a machine of the settings. */
  readonly fleet: FleetPlace | null;
  /** The host, container, pod, distribution or fleet; null for a command. */
  readonly target: string | null;
  readonly state: "linked" | "linking" | "not linked";
  /** Why it is not linked; null if it is. */
  readonly problem: string | null;
  /** What kind of problem that is. */
  readonly problemKind: LinkProblem | null;
  /** What helps, with the exact command. */
  readonly fix: string | null;
  /** Wall time since which it is linked, or is not. */
  readonly since: number | null;
  readonly version: string | null;
  readonly agents: readonly string[];
  readonly sessions: number;
  readonly hasChannels: boolean;
}

/** What the session's machine did to show its pane. */
export interface SelectedPane {
  /** Why it could not; null if it has. */
  readonly problem: string | null;
  /** How the pane is seen from here; null if it is on that machine's own desktop. */
  readonly elsewhere: ElsewhereTarget | null;
}

export interface Machines {
  /** The asks of their sessions: null for any other, or if it cannot be answered from here. */
  details(ask: Ask): AskDetails | null;
  maskedDetails(ask: Ask): MaskedDetails | null;
  readonly answer: PendingRequests["answer"];
  /** Sends its next prompt. Resolves with a text if that was not possible, or is not known. */
  send(session: Session, prompt: RequestedPrompt): Promise<SentOutcome>;
  /** Lets the session's own machine select its pane. */
  selectPane(session: Session): Promise<SelectedPane>;
  /** How the session's pane is seen now; null if it is not, or if that is not known. */
  look(session: Session): Promise<ElsewhereTarget | null>;
  /** Whether that machine tells the user of its sessions by phone or chat itself, or another one does. */
  isAlertedElsewhere(machine: string): boolean;
  /** Where the user is, by the session: the name of another of their machines that shows it too. null if here, or if that is not known. */
  locateUser(): Promise<(session: Session) => string | null>;
  report(): readonly MachineReport[];
  /** Tries to link it now, also where something had to change first. False if there is no such machine. */
  retry(name: string): boolean;
  update(): void;
  stop(): Promise<void>;
}

/** Less than a command line waits for this app, so that its user is told that it is not known. */
const defaultReplyMs = 6_000;
/** An alert waits for it. */
const lookMs = 500;

/** A machine, and how it is reached. */
interface ReachedMachine extends LinkedMachine {
  readonly way: MachineSettings | FleetMachine;
}

const isOfFleet = (way: ReachedMachine["way"]): way is FleetMachine => "fleet" in way;
const isSameWay = (a: ReachedMachine["way"], b: ReachedMachine["way"]): boolean =>
  isOfFleet(a) && isOfFleet(b)
    ? a.id === b.id && a.fleet.name === b.fleet.name
    : JSON.stringify(a) === JSON.stringify(b);

export function createMachines(options: MachinesOptions): Machines {
  const machines = new Map<string, ReachedMachine>();
  const replyMs = options.replyMs ?? defaultReplyMs;
  const progress = createProgress(options.saved, options.createSaver, options.saveNow);

  const sessionsOf = (name: string) => options.sessions().filter(({ machine }) => machine === name);

  /** Why a machine is not linked though it answers: its sessions would be listed twice. */
  function refuse(name: string, { machineId }: Hello): string | null {
    if (machineId === options.ownId) return "it is this machine itself";
    for (const [other, { hello }] of machines)
      if (other !== name && hello()?.machineId === machineId) return `it is linked as ${other} already`;
    return null;
  }

  const open = (name: string, way: ReachedMachine["way"]): ReachedMachine => ({
    way,
    ...linkMachine({
      ...options,
      name,
      open: isOfFleet(way)
        ? way.open
        : (events) => createLink({ ...options, ...events, machine: name, argv: createLinkCommand(way) }),
      progress,
      sessions: () => sessionsOf(name),
      refuse: (hello) => refuse(name, hello),
    }),
  });

  async function close(name: string, { carrier }: LinkedMachine): Promise<void> {
    machines.delete(name);
    await carrier.stop();
  }

  /** From as long ago as machines tell of their past. */
  function followAgain(): void {
    progress.startOver(firstGrowingIdAt(options.clock().at - maxPastMs));
    for (const [name, machine] of [...machines]) {
      void close(name, machine);
      machines.set(name, open(name, machine.way));
    }
    options.onChange();
  }

  function update(): void {
    const settings = new Map<string, ReachedMachine["way"]>(Object.entries(options.config().machines));
    const wanted = new Map([...settings, ...options.fleetMachines(new Set(settings.keys()))]);
    for (const [name, machine] of machines) {
      const way = wanted.get(name);
      if (!way || !isSameWay(way, machine.way)) void close(name, machine);
    }
    for (const [name, way] of wanted) if (!machines.has(name)) machines.set(name, open(name, way));
    progress.forgetOthers(new Set(wanted.keys()));
    const gone = options.sessions().filter(({ machine }) => !wanted.has(machine ?? ""));
    if (gone.length > 0) options.remove(gone.map(sessionKeyOf));
    options.onChange();
  }

  const seenFrom = ({ way }: ReachedMachine, logins: readonly string[] = []): ElsewhereTarget | null =>
    logins.length === 0 ? null : { logins, host: "ssh" in way ? way.ssh : null, isSelected: true };

  function findMirrored(ask: Pick<Ask, "request">) {
    for (const { mirror } of machines.values()) {
      const found = mirror.find(ask);
      if (found) return found;
    }
    return null;
  }

  const cannot = (error: string): ActionRefused => ({ refused: 409, error });

  options.history.whenReplaced(followAgain);

  return {
    details: (ask) => findMirrored(ask)?.details ?? null,
    maskedDetails: (ask) => findMirrored(ask)?.masked ?? null,
    async answer(session, answerId, answer, step) {
      const { agent, sessionId } = session;
      const name = session.machine ?? "";
      const machine = machines.get(name);
      if (!machine || machine.hello() === null)
        return cannot(`${name} cannot be reached: answer it there, or wait for the link`);
      const ask = options.get(session)?.asks.find((open) => answerIdOf(open) === answerId);
      const mirrored = ask && machine.mirror.find(ask);
      if (!mirrored) return cannot("this ask is gone: it was answered in the terminal, or ended");
      const about = { agent, sessionId, answerId: mirrored.answerId, answer: copyAnswer(answer), step };
      const outcome = await machine.request((id) => ({ kind: "answer", id, ...about }), replyMs);
      if (outcome === null)
        return {
          ...cannot(`it is not known whether your answer arrived: the link to ${name} was lost. Look there`),
          isUnknown: true,
        };
      const says = toSingleLine(outcome.says);
      if (outcome.ok) return { ok: true, answered: says };
      if (outcome.status === 400) return says;
      return { refused: outcome.status === 403 ? 403 : 409, error: says };
    },
    async send({ machine: name, agent, sessionId }, prompt) {
      const machine = machines.get(name ?? "");
      if (!machine?.hello()) return `${name} cannot be reached: nothing was sent`;
      const about = { agent, sessionId, ...prompt };
      const outcome = await machine.request((id) => ({ kind: "send", id, ...about }), replyMs);
      if (outcome === null)
        return `it is not known whether it arrived: ${name} has not answered, or its beckon is too old for it. Look there`;
      if (!outcome.ok || !outcome.prompt) return toSingleLine(outcome.says);
      return { ...outcome.prompt, says: toSingleLine(outcome.prompt.says) };
    },
    async selectPane({ machine: name, agent, sessionId }) {
      const machine = machines.get(name ?? "");
      if (!machine?.hello()) return { problem: `${name} cannot be reached`, elsewhere: null };
      const outcome = await machine.request((id) => ({ kind: "focus", id, agent, sessionId }), replyMs);
      if (outcome === null) return { problem: `${name} did not answer`, elsewhere: null };
      if (!outcome.ok) return { problem: toSingleLine(outcome.says), elsewhere: null };
      const { way } = machine;
      const seen = seenFrom(machine, outcome.logins);
      return "container" in way && seen === null
        ? {
            problem: null,
            elsewhere: { logins: [], host: null, isSelected: true, container: way.container },
          }
        : { problem: null, elsewhere: seen };
    },
    async look({ machine: name, agent, sessionId }) {
      const machine = machines.get(name ?? "");
      if (!machine?.hello()) return null;
      const outcome = await machine.request((id) => ({ kind: "look", id, agent, sessionId }), lookMs);
      return outcome?.ok ? seenFrom(machine, outcome.logins) : null;
    },
    isAlertedElsewhere(name) {
      const machine = machines.get(name);
      if (machine?.hello()?.hasChannels) return true;
      return machine !== undefined && isOfFleet(machine.way) && !machine.way.isTeller();
    },
    async locateUser() {
      const members = new Map(
        [...machines.values()].flatMap(({ way }) => (isOfFleet(way) ? [[way.fleet.name, way] as const] : [])),
      );
      const found = await Promise.all(
        [...members].map(async ([fleet, way]) => [fleet, await way.findUserElsewhere()] as const),
      );
      const byFleet = new Map(found);
      const ofOwn = found.find(([, name]) => name !== null)?.[1] ?? null;
      return ({ machine: name }) => {
        if (name === null) return ofOwn;
        const way = machines.get(name)?.way;
        return way && isOfFleet(way) ? (byFleet.get(way.fleet.name) ?? null) : null;
      };
    },
    report() {
      const counts = new Map<string | null, number>();
      for (const { machine, ended } of options.sessions())
        if (ended === null) counts.set(machine, (counts.get(machine) ?? 0) + 1);
      return [...machines].map(([name, machine]) => describeMachine(name, machine, counts.get(name) ?? 0));
    },
    retry(name) {
      machines.get(name)?.carrier.retryNow();
      return machines.has(name);
    },
    update,
    async stop() {
      await Promise.all([...machines].map(([name, machine]) => close(name, machine)));
      progress.save();
    },
  };
}

function describeMachine(
  name: string,
  { way, carrier, ...machine }: ReachedMachine,
  sessions: number,
): MachineReport {
  const hello = machine.hello();
  const problem = hello ? null : carrier.problem();
  const problemKind = problem === null ? null : carrier.problemKind();
  const isFleet = isOfFleet(way);
  return {
    name,
    ...(isFleet ? { way: "fleet", target: way.fleet.name } : describeWay(way)),
    fleet: isFleet ? way.fleet : null,
    state: machine.isListed() ? "linked" : problem === null ? "linking" : "not linked",
    problem,
    problemKind,
    fix: problemKind && !isFleet ? suggestFix(problemKind, name, way) : null,
    since: machine.since(),
    version: hello?.version ?? null,
    agents: hello?.agents ?? [],
    sessions,
    hasChannels: hello?.hasChannels ?? false,
  };
}

function copyAnswer(answer: Answer): Extract<FollowerRequest, { kind: "answer" }>["answer"] {
  return answer.do === "reply"
    ? { do: "reply", replies: answer.replies.map((reply) => [...reply]) }
    : { ...answer };
}
