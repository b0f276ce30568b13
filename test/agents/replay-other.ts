/**
 * Replays recordings of the real CLIs of other agents than the default one: their hooks and session files go through translate,
 * watch and reduce, and what would be shown is compared with what was on the screen. describeReplay() defines the tests of one
 * agent and prints its table; test/fixtures/agents/AGENT has the recordings.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent, AgentRuntime, AgentWatcher } from "../../src/agents/agent.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { takeSnapshot } from "../core/view/snapshot.ts";

export type RecordedRow = { readonly ms: number } & (
  | HookRow
  /** A new line in a file of the agent's. */
  | { readonly kind: "file"; readonly file: string; readonly line: unknown }
  /** A message of the agent's own server. */
  | { readonly kind: "server"; readonly dir: string; readonly msg: JsonRecord }
  | { readonly kind: "key"; readonly typed?: string; readonly keys?: readonly string[] }
  | { readonly kind: "mark"; readonly mark: string }
  /** A dialog came or went on the screen. */
  | { readonly kind: "dialog"; readonly on: boolean; readonly what: "permission" | "question" | "plan" }
  /** What the whole screen showed. */
  | { readonly kind: "look"; readonly label: string; readonly state: ScreenState }
);

export interface HookRow {
  readonly kind: "hook";
  readonly event: string;
  readonly pid: number;
  readonly ppid?: number;
  readonly label?: string;
  readonly payload: JsonRecord;
}

type ScreenState = "working" | "idle" | "waiting" | "shell";

export interface ReplayAdapter {
  readonly agent: Agent;
  /** What the agent's hooks or plugin send to beckon for this row. Called once a row, in order. */
  createPayloads(row: HookRow): readonly JsonRecord[] | Promise<readonly JsonRecord[]>;
  /** Called at the start of each recording. */
  reset?(): void | Promise<void>;
  /** `_meta` of the hooks. */
  createMeta?(row: HookRow): JsonRecord;
  /** The path below the home folder of a file that the recording names. Absent: the path without `/home/dev`. */
  fileOf?(file: string): string;
  /** Something else than a hook or a file, for the watcher to read. */
  applyServer?(row: RecordedRow, watcher: AgentWatcher | null): void;
  /** A key after which the agent's process ends. Its sessions are gone a second later. */
  readonly exitKeys?: RegExp;
  /** Scenarios that are not judged, and why: `hold_.*` → the recorder holds the hook. */
  readonly skipped?: readonly (readonly [RegExp, string])[];
  /** What cannot be known: scenario → the exact problem as the table prints it → why. Everything else must be right. */
  readonly unknowable: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface ShownAsk {
  readonly id: string;
  readonly kind: string;
  readonly from: number;
  to: number;
}

interface ShownState {
  readonly ms: number;
  readonly state: ScreenState;
}

/** An ask must be shown this soon after its dialog, and be gone this soon after its end. */
const openWithinMs = 500;
const closeWithinMs = 1_000;
/** A hook can come this much earlier than its dialog. Codex waits up to 1.2 s after a key. */
const maxLeadMs = 1_500;
/** The screen was read by a loaded machine. */
const slackMs = 500;
/** beckon checks once a second whether processes are alive. */
const processCheckMs = 1_000;
const startedAt = 1_794_800_000_000;

interface Verdict {
  dialogs: number;
  opened: number;
  closed: number;
  looks: number;
  right: number;
  readonly problems: string[];
}

export function describeReplay(adapter: ReplayAdapter): void {
  const { id, name } = adapter.agent;
  const folder = join(import.meta.dir, "../fixtures/agents", id);
  const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
  const verdicts = new Map<string, Verdict>();

  afterAll(() => printTable(name, verdicts, adapter));

  describe(`in the recordings of ${name}, what is shown is what was on the screen`, () => {
    for (const file of files.sort()) {
      const scenario = file.replace(/\.jsonl$/, "");
      if (adapter.skipped?.some(([pattern]) => pattern.test(scenario))) continue;
      const unknowable = adapter.unknowable[scenario] ?? {};
      const except = Object.values(unknowable).join("; ");
      test(`${scenario}${except && `, except: ${except}`}`, async () => {
        const rows = readFileSync(join(folder, file), "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as RecordedRow);
        const verdict = judge(rows, await replay(rows, adapter));
        verdicts.set(scenario, verdict);
        expect(verdict.problems).toEqual(Object.keys(unknowable));
      });
    }
  });
}

interface Replayed {
  readonly asks: readonly ShownAsk[];
  readonly states: readonly ShownState[];
}

/** A tick every so often, for what changes without an event. */
const tickMs = 100;

async function replay(rows: readonly RecordedRow[], adapter: ReplayAdapter): Promise<Replayed> {
  const home = mkdtempSync(join(tmpdir(), "beckon-replay-"));
  const runtime = await adapter.agent.loadRuntime();
  const store = createStore();
  let nowMs = rows[0]?.ms ?? 0;
  const clock = () => ({ at: startedAt + nowMs, t: nowMs, boot: "boot", host: "host" });
  const { agent } = adapter;
  const own = () => store.sessions(clock()).filter((session) => session.agent === agent.id);
  const watcher = runtime.watch({
    env: { HOME: home, PATH: "" },
    clock,
    findSession: (sessionId) => own().find((session) => session.sessionId === sessionId) ?? null,
    dispatch: (event) => store.dispatch(event),
    mask: (text) => text,
    onError: (text) => {
      throw new Error(text);
    },
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    findProgram: async () => null,
  });
  const asks = new Map<string, ShownAsk>();
  const states: ShownState[] = [];
  const goneAt = new Map<number, number>();
  const pids = new Map<string, number>();
  await adapter.reset?.();
  let checkedMs = nowMs;

  const observe = () => {
    const snapshots = own().map((session) => takeSnapshot(session, clock()));
    const open = snapshots.flatMap(({ sessionId, asks: list }) =>
      list.filter(({ kind }) => kind !== "idle").map((ask) => ({ ...ask, key: `${sessionId} ${ask.id}` })),
    );
    for (const { key, kind } of open) {
      const known = asks.get(key);
      if (!known) asks.set(key, { id: key, kind, from: nowMs, to: Number.POSITIVE_INFINITY });
      else known.to = Number.POSITIVE_INFINITY;
    }
    for (const ask of asks.values()) {
      if (ask.to === Number.POSITIVE_INFINITY && !open.some(({ key }) => key === ask.id)) ask.to = nowMs;
    }
    const state = findState(snapshots);
    if (states.at(-1)?.state !== state) states.push({ ms: nowMs, state });
  };

  const tick = async () => {
    for (const [pid, at] of [...goneAt]) {
      if (nowMs < at + processCheckMs) continue;
      goneAt.delete(pid);
      for (const { sessionId } of own().filter(({ ended }) => !ended)) {
        if (pids.has(sessionId) && pids.get(sessionId) !== pid) continue;
        const about = { agent: agent.id, sessionId };
        store.dispatch(
          createInternalEvent(`gone-${pid}-${sessionId}`, clock(), about, { kind: "gone", why: "process" }),
        );
      }
    }
    if (nowMs - checkedMs >= processCheckMs) {
      checkedMs = nowMs;
      watcher?.check(own());
      await flush(watcher);
    }
    observe();
  };

  try {
    let lastPid = 0;
    for (const row of rows) {
      while (nowMs + tickMs < row.ms) {
        nowMs += tickMs;
        await tick();
      }
      nowMs = row.ms;
      if (row.kind === "hook") {
        lastPid = row.pid;
        for (const payload of await adapter.createPayloads(row)) {
          const event = deliver(payload, row, { adapter, runtime, store, clock });
          if (event) pids.set(event.sessionId, lastPid);
          const session = event && own().find(({ sessionId }) => sessionId === event.sessionId);
          if (event && session) watcher?.follow(session, event);
        }
      } else if (row.kind === "file") {
        const path = join(home, adapter.fileOf?.(row.file) ?? row.file.replace(/^\/home\/dev\//, ""));
        mkdirSync(dirname(path), { recursive: true });
        appendFileSync(path, `${JSON.stringify(row.line)}\n`);
        watcher?.check(own());
        await flush(watcher);
      } else if (row.kind === "server") {
        adapter.applyServer?.(row, watcher);
        await flush(watcher);
      } else if (row.kind === "mark" && row.mark.startsWith("kill -9")) {
        goneAt.set(Number(row.mark.split(" ")[2]) || lastPid, nowMs);
      } else if (row.kind === "key" && adapter.exitKeys?.test(row.typed ?? row.keys?.join(" ") ?? "")) {
        goneAt.set(lastPid, nowMs);
      }
      await tick();
    }
  } finally {
    watcher?.stop();
    rmSync(home, { recursive: true, force: true });
  }
  return { asks: [...asks.values()], states };
}

/** Watchers read files with promises. */
async function flush(watcher: AgentWatcher | null): Promise<void> {
  if (watcher) await Bun.sleep(2);
}

let deliveries = 0;

function deliver(
  payload: JsonRecord,
  row: HookRow,
  context: {
    readonly adapter: ReplayAdapter;
    readonly runtime: AgentRuntime;
    readonly store: Store;
    readonly clock: () => { readonly at: number; readonly t: number };
  },
) {
  const { adapter, runtime, store, clock } = context;
  const { id } = adapter.agent;
  const meta = adapter.createMeta?.(row) ?? {};
  const hook = openEnvelope({ provider: id, _meta: meta, payload }, id, "host");
  const { at, t } = clock();
  const eventId = `e-${++deliveries}`;
  const key = runtime.dedupeKey(payload) ?? JSON.stringify(payload);
  const event = hook && runtime.translate(hook, { id: eventId, key, at, t });
  if (event) store.dispatch(event);
  return event;
}

function findState(snapshots: readonly SessionSnapshot[]): ScreenState {
  const live = snapshots.filter(({ state }) => state !== "completed");
  if (live.length === 0) return "shell";
  if (live.some(({ activityPhase }) => activityPhase?.startsWith("waiting_"))) return "waiting";
  return live.some(({ activityPhase }) => activityPhase === "busy") ? "working" : "idle";
}

function judge(rows: readonly RecordedRow[], { asks, states }: Replayed): Verdict {
  const verdict: Verdict = { dialogs: 0, opened: 0, closed: 0, looks: 0, right: 0, problems: [] };
  const end = rows.at(-1)?.ms ?? 0;
  const dialogs = listDialogs(rows);
  const unused = new Set(asks);
  const say = (ms: number, text: string) => verdict.problems.push(`${(ms / 1_000).toFixed(1)} s: ${text}`);

  for (const { from, to, what } of dialogs) {
    verdict.dialogs++;
    const isKind = ({ kind }: ShownAsk) =>
      what === "question"
        ? kind === "question" || kind === "elicitation"
        : kind === what || kind === "permission";
    const match = [...unused].find(
      (ask) =>
        isKind(ask) && ask.from <= from + openWithinMs && ask.to > from && from - ask.from <= maxLeadMs,
    );
    if (!match) {
      say(from, `the ${what} dialog has no ask`);
      continue;
    }
    unused.delete(match);
    verdict.opened++;
    if (match.to > to + closeWithinMs && to < end) say(to, `the ask stays after the ${what} dialog`);
    else if (match.to < to - closeWithinMs) say(match.to, `the ask goes before the ${what} dialog`);
    else verdict.closed++;
  }
  for (const { from, to, kind } of unused) {
    if (Math.min(to, end) - from > openWithinMs) say(from, `a ${kind} ask without a dialog`);
  }

  const stateAt = (ms: number): ScreenState => states.findLast((s) => s.ms <= ms)?.state ?? "shell";
  const hasWorked = (ms: number) => states.some((s) => s.ms <= ms && s.state !== "shell");
  for (const row of rows) {
    if (row.kind !== "look") continue;
    verdict.looks++;
    const around = states.filter(({ ms }) => Math.abs(ms - row.ms) <= slackMs).map(({ state }) => state);
    const shown = new Set([stateAt(row.ms - slackMs), stateAt(row.ms), ...around]);
    // Most agents report nothing before the first prompt.
    const isUnstarted = row.state === "idle" && !hasWorked(row.ms);
    if (shown.has(row.state) || isUnstarted) verdict.right++;
    else say(row.ms, `the screen is ${row.state} (${row.label}), shown is ${stateAt(row.ms)}`);
  }
  return verdict;
}

interface Dialog {
  readonly from: number;
  readonly to: number;
  readonly what: "permission" | "question" | "plan";
}

function listDialogs(rows: readonly RecordedRow[]): readonly Dialog[] {
  const changes = rows.flatMap((row) => (row.kind === "dialog" ? [row] : []));
  return changes.flatMap(({ ms, on, what }, n) => {
    const next = changes[n + 1];
    return on ? [{ from: ms, to: next && !next.on ? next.ms : Number.POSITIVE_INFINITY, what }] : [];
  });
}

function printTable(name: string, verdicts: ReadonlyMap<string, Verdict>, adapter: ReplayAdapter): void {
  const line = (first: string, cells: readonly string[]) =>
    first.padEnd(28) + cells.map((cell) => cell.padStart(12)).join("");
  const format = ({ dialogs, opened, closed, looks, right, problems }: Verdict) => [
    String(dialogs),
    `${opened}/${dialogs}`,
    `${closed}/${dialogs}`,
    String(problems.filter((text) => text.endsWith("without a dialog")).length),
    `${right}/${looks}`,
  ];
  const total: Verdict = { dialogs: 0, opened: 0, closed: 0, looks: 0, right: 0, problems: [] };
  const lines = [line(name, ["dialogs", "ask ≤500 ms", "gone ≤1 s", "false asks", "states"])];
  for (const [scenario, verdict] of verdicts) {
    lines.push(line(scenario, format(verdict)));
    for (const key of ["dialogs", "opened", "closed", "looks", "right"] as const) total[key] += verdict[key];
    total.problems.push(...verdict.problems);
    for (const problem of verdict.problems) {
      const why = adapter.unknowable[scenario]?.[problem];
      lines.push(
        `    ${why === undefined ? "WRONG" : "not knowable"}  ${problem}${why === undefined ? "" : `: ${why}`}`,
      );
    }
  }
  lines.push(line(`all ${verdicts.size} recordings`, format(total)));
  for (const [pattern, why] of adapter.skipped ?? []) lines.push(`    not judged  ${pattern.source}: ${why}`);
  console.log(lines.join("\n"));
}
