/**
 * An invented day for `beckon demo`. The payloads have exactly the fields of recorded ones (test/agents/claude/demo.test.ts compares
 * them). Projects, texts and what each session does today are invented, and stand in demo.json.
 */
import type { JsonRecord } from "../../core/json.ts";
import { dayMs, minuteMs } from "../../core/timing.ts";
import type { CreateDemoDay, DemoDay, DemoStep } from "../agent.ts";
import demo from "./demo.json";
import { createDemoSession, type DemoProject, type DemoSession } from "./demo-session.ts";

const secondMs = 1_000;

/** What a project's session does today. */
interface TodaysProject extends DemoProject {
  /** Minutes before now at which each turn starts and ends, and its requests with the seconds that they waited. */
  readonly today: readonly {
    readonly from: number;
    /** null if the turn still runs. */
    readonly to: number | null;
    readonly waits: readonly { readonly ago: number; readonly seconds: number }[];
  }[];
  readonly tasks?: { readonly done: number; readonly subjects: readonly string[] };
  readonly subagents?: readonly JsonRecord[];
  readonly failure?: JsonRecord;
  /** What it asks while the demo runs. */
  readonly asks?: LiveAsk;
  /** The commands that it runs without asking while the demo runs. */
  readonly runs?: readonly string[];
}

interface LiveAsk {
  readonly afterSeconds: number;
  readonly waitSeconds: number;
  readonly tool: string;
  readonly input: JsonRecord;
}

const projects: readonly TodaysProject[] = Object.values(demo.projects);
const runCommand = (command: string): JsonRecord => ({ command, description: "" });
const pickCommand = (number: number): string => demo.commands[number % demo.commands.length] ?? "";

export const createClaudeDemoDay: CreateDemoDay = ({ now, folder }) => {
  const past: { at: number; payload: JsonRecord }[] = [];
  let calls = 0;
  const createSession = (project: DemoProject, number: number): DemoSession =>
    createDemoSession(project, number, folder, () => ++calls);

  const add = (at: number, ...payloads: JsonRecord[]): void => {
    for (const [index, payload] of payloads.entries()) past.push({ at: at + index, payload });
  };

  /** A request at `at` that the user answered in the terminal after `waitMs`. */
  function addAnswered(session: DemoSession, at: number, waitMs: number, command: string): void {
    const call = session.call("Bash", runCommand(command));
    add(at, call.before, call.request);
    add(at + waitMs, call.after);
  }

  /** Weekends are short. */
  function addPastDay(ago: number): void {
    const isShort = ago % 7 === 3 || ago % 7 === 4;
    for (let number = 0; number < (isShort ? 1 : 5); number++) {
      const project = projects[(ago + number * 3) % projects.length] ?? demo.projects.checkout;
      const session = createSession(project, ago * 10 + number);
      const start = now - ago * dayMs - number * 40 * minuteMs;
      add(start, session.start(), session.prompt());
      for (let ask = 0; ask < 3; ask++) {
        const waitMs = (15 + ((ago * 37 + number * 53 + ask * 71) % 260)) * secondMs;
        addAnswered(session, start + (ask + 1) * 6 * minuteMs, waitMs, pickCommand(ago + number + ask));
      }
      add(start + 30 * minuteMs, session.stop());
      add(start + 31 * minuteMs, session.end());
    }
  }

  function addToday(session: DemoSession, { today, tasks, subagents = [], failure }: TodaysProject): void {
    const [first] = today;
    if (first) add(now - first.from * minuteMs - secondMs, session.start());
    for (const { from, to, waits } of today) {
      add(now - from * minuteMs, session.prompt());
      for (const [index, { ago, seconds }] of waits.entries())
        addAnswered(session, now - ago * minuteMs, seconds * secondMs, pickCommand(index));
      if (to !== null) add(now - to * minuteMs, session.stop());
    }
    if (failure) add(now - 6 * minuteMs, session.event("StopFailure", failure));
    add(now - 4 * minuteMs, ...subagents.map((fields) => session.event("SubagentStart", fields)));
    for (const [index, task_subject] of (tasks?.subjects ?? []).entries()) {
      const fields = { task_id: String(index + 1), task_subject };
      add(now - 20 * minuteMs, session.event("TaskCreated", fields));
      if (index < (tasks?.done ?? 0)) add(now - 15 * minuteMs, session.event("TaskCompleted", fields));
    }
  }

  const open = projects.map((project) => ({ project, session: createSession(project, 0) }));
  for (let ago = 13; ago >= 1; ago--) addPastDay(ago);
  for (const { project, session } of open) addToday(session, project);

  return {
    env: { CLAUDE_CODE_SESSION_ATTENDED: "1", CLAUDE_CODE_ENTRYPOINT: "cli" },
    files: open.map(({ session }) => ({
      path: session.transcriptPath,
      text: session.formatTranscript(now - minuteMs),
    })),
    past: past.sort((a, b) => a.at - b.at),
    isAllowed: (output) => /"behavior":\s*"allow"/.test(output),
    sessions: open.flatMap(({ project: { asks, runs }, session }) => {
      if (asks) return [{ createSteps: (round) => createAskingSteps(session, asks, round) }];
      return runs ? [{ createSteps: (round) => createWorkingSteps(session, runs, round) }] : [];
    }),
  } satisfies DemoDay;
};

/** Works, asks, waits, works again and rests. */
function createAskingSteps(session: DemoSession, ask: LiveAsk, round: number): readonly DemoStep[] {
  const isFirst = round === 0;
  const work = session.call("Read", { file_path: "/home/demo/README.md" });
  const call = session.call(ask.tool, ask.input);
  return [
    ...(isFirst ? [] : [{ afterMs: 20 * secondMs, payload: session.prompt("and again, please") }]),
    { afterMs: (isFirst ? ask.afterSeconds : 8) * secondMs, payload: work.before },
    { afterMs: 2 * secondMs, payload: work.after },
    { afterMs: secondMs, payload: call.before },
    { afterMs: 50, payload: call.request, waitMs: ask.waitSeconds * secondMs },
    { afterMs: 500, payload: call.after, onlyIfAllowed: true },
    { afterMs: 25 * secondMs, payload: session.stop() },
  ];
}

function createWorkingSteps(
  session: DemoSession,
  commands: readonly string[],
  round: number,
): readonly DemoStep[] {
  return commands.flatMap((command, index) => {
    const call = session.call("Bash", runCommand(command));
    return [
      { afterMs: (3 + ((round + index) % 4)) * secondMs, payload: call.before },
      { afterMs: (4 + ((round + index * 2) % 5)) * secondMs, payload: call.after },
    ];
  });
}
