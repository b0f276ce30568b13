/**
 * Replays recordings of the real CLIs of other agents than the default one: their hooks and session files go through translate,
 * watch and reduce, and what would be shown is compared with what was on the screen. describeReplay() defines the tests of one
 * agent and prints its table; test/fixtures/agents/AGENT has the recordings.
 */
import { afterAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent, AgentRuntime, AgentWatcher, FileHook } from "../../src/agents/agent.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { viewSession } from "../core/view/session-view.ts";
import { parseJsonLines } from "../json-lines.ts";
import { letTimePass } from "../wait-until.ts";
import {
  createShownHistory,
  judgeScreen,
  type ScreenRow,
  type ScreenVerdict,
  type ShownHistory,
} from "./screen-judge.ts";
import { createWatchContext } from "./watch-context.ts";

export type RecordedRow = { readonly ms: number } & (
  | HookRow
  /** A new line in a file of the agent's. */
  | { readonly kind: "file"; readonly file: string; readonly line: unknown }
  /** A file of the agent's, written as a whole. */
  | { readonly kind: "state"; readonly file: string; readonly content: unknown }
  /** A message of the agent's own server. */
  | { readonly kind: "server"; readonly dir: string; readonly msg: JsonRecord }
  | { readonly kind: "key"; readonly typed?: string; readonly keys?: readonly string[] }
  | { readonly kind: "mark"; readonly mark: string }
  | ScreenRow
);

export interface HookRow {
  /** Since the start of the recording. */
  readonly ms: number;
  readonly kind: "hook";
  readonly event: string;
  readonly pid: number;
  readonly ppid?: number;
  readonly label?: string;
  readonly payload: JsonRecord;
}

export interface ReplayAdapter {
  readonly agent: Agent;
  /** What the agent's hooks or plugin send to beckon for this row. Its files are below `home`. Called once a row, in order. */
  createPayloads(row: HookRow, home: string): readonly JsonRecord[] | Promise<readonly JsonRecord[]>;
  /** Called at the start of each recording. */
  reset?(): void | Promise<void>;
  /** `_meta` of the hooks. */
  createMeta?(row: HookRow): JsonRecord;
  /** The path below the home folder of a file that the recording names. Absent: the path without `/home/dev`. */
  fileOf?(file: string): string;
  /** What else there is on the machine when the agent writes this file. */
  applyState?(content: unknown, home: string): void;
  /** Something else than a hook or a file, for the watcher to read. */
  applyServer?(row: RecordedRow, watcher: AgentWatcher | null): void;
  /** A key after which the agent's process ends. Its sessions are gone a second later. */
  readonly exitKeys?: RegExp;
  /** Scenarios that are not judged, and why: `hold_.*` → the recorder holds the hook. */
  readonly skipped?: readonly (readonly [RegExp, string])[];
  /** What cannot be known: scenario → the exact problem as the table prints it → why. Everything else must be right. */
  readonly unknowable: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** beckon checks once a second whether processes are alive. */
const processCheckMs = 1_000;
/** When every recording starts. */
export const startedAt = 1_794_800_000_000;

export function describeReplay(adapter: ReplayAdapter): void {
  const { id, name } = adapter.agent;
  const folder = join(import.meta.dir, "../fixtures/agents", id);
  const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
  const verdicts = new Map<string, ScreenVerdict>();

  afterAll(() => printTable(name, verdicts, adapter));

  describe(`in the recordings of ${name}, what is shown is what was on the screen`, () => {
    for (const file of files.sort()) {
      const scenario = file.replace(/\.jsonl$/, "");
      if (adapter.skipped?.some(([pattern]) => pattern.test(scenario))) continue;
      const unknowable = adapter.unknowable[scenario] ?? {};
      const except = Object.values(unknowable).join("; ");
      test(`${scenario}${except && `, except: ${except}`}`, async () => {
        const rows = parseJsonLines<RecordedRow>(readFileSync(join(folder, file), "utf8"));
        const onScreen = rows.flatMap((row) => (row.kind === "dialog" || row.kind === "look" ? [row] : []));
        const verdict = judgeScreen(onScreen, await replay(rows, adapter), rows.at(-1)?.ms ?? 0);
        verdicts.set(scenario, verdict);
        expect(verdict.problems).toEqual(Object.keys(unknowable));
      });
    }
  });
}

/** A tick every so often, for what changes without an event. */
const tickMs = 100;

async function replay(rows: readonly RecordedRow[], adapter: ReplayAdapter): Promise<ShownHistory> {
  const home = mkdtempSync(join(tmpdir(), "beckon-replay-"));
  const runtime = await adapter.agent.loadRuntime();
  const store = createStore();
  let nowMs = rows[0]?.ms ?? 0;
  const clock = () => ({ at: startedAt + nowMs, t: nowMs, boot: "boot", host: "host" });
  const { agent } = adapter;
  const own = () => store.sessions(clock()).filter((session) => session.agent === agent.id);
  const report = ({ at, payload }: FileHook) => {
    const { at: now, t } = clock();
    const stamp = { at, t: t - (now - at) };
    deliver(payload, {}, { adapter, runtime, store, clock: () => stamp });
  };
  const watcher = runtime.watch(createWatchContext(agent.id, store, { home, clock, report }));
  const history = createShownHistory();
  const goneAt = new Map<number, number>();
  const pids = new Map<string, number>();
  await adapter.reset?.();
  let checkedMs = nowMs;

  const observe = () => {
    const views = own().map((session) => viewSession(session, clock()));
    const { stuck } = views.find((view) => view.stuck) ?? {};
    // Each of them went on.
    if (stuck) throw new Error(`shown as stuck at ${nowMs} ms: ${stuck.kind} ${stuck.last}`);
    history.add(nowMs, views);
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
        lastPid = row.ppid ?? row.pid;
        for (const payload of await adapter.createPayloads(row, home)) {
          const event = deliver(payload, adapter.createMeta?.(row) ?? {}, { adapter, runtime, store, clock });
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
      } else if (row.kind === "state") {
        const path = join(home, row.file.replace(/^\/home\/dev\//, ""));
        mkdirSync(dirname(path), { recursive: true });
        adapter.applyState?.(row.content, home);
        writeFileSync(path, JSON.stringify(row.content));
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
  return history;
}

/** Watchers read files with promises. */
async function flush(watcher: AgentWatcher | null): Promise<void> {
  if (watcher) await letTimePass(2, "a watcher does not say when it has read");
}

let deliveries = 0;

function deliver(
  payload: JsonRecord,
  meta: JsonRecord,
  context: {
    readonly adapter: ReplayAdapter;
    readonly runtime: AgentRuntime;
    readonly store: Store;
    readonly clock: () => { readonly at: number; readonly t: number };
  },
) {
  const { adapter, runtime, store, clock } = context;
  const { id } = adapter.agent;
  const hook = openEnvelope({ provider: id, _meta: meta, payload }, id, "host");
  const { at, t } = clock();
  const eventId = `e-${++deliveries}`;
  const key = runtime.dedupeKey(payload) ?? JSON.stringify(payload);
  const event = hook && runtime.translate(hook, { id: eventId, key, at, t });
  if (event) store.dispatch(event);
  return event;
}

function printTable(
  name: string,
  verdicts: ReadonlyMap<string, ScreenVerdict>,
  adapter: ReplayAdapter,
): void {
  const line = (first: string, cells: readonly string[]) =>
    first.padEnd(28) + cells.map((cell) => cell.padStart(12)).join("");
  const format = ({ dialogs, opened, closed, compared, right, problems }: ScreenVerdict) => [
    String(dialogs),
    `${opened}/${dialogs}`,
    `${closed}/${dialogs}`,
    String(problems.filter((text) => text.endsWith("without a dialog")).length),
    `${right}/${compared}`,
  ];
  const total: ScreenVerdict = { dialogs: 0, opened: 0, closed: 0, compared: 0, right: 0, problems: [] };
  const lines = [line(name, ["dialogs", "ask ≤500 ms", "gone ≤1 s", "false asks", "states"])];
  for (const [scenario, verdict] of verdicts) {
    lines.push(line(scenario, format(verdict)));
    for (const key of ["dialogs", "opened", "closed", "compared", "right"] as const)
      total[key] += verdict[key];
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
