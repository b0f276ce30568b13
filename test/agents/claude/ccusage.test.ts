/** Tokens and cost, compared with what ccusage says about the same transcripts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { createTranscriptReader } from "../../../src/agents/claude/watch/transcripts.ts";
import type { Usage } from "../../../src/core/session/event.ts";
import { repo } from "../../repo.ts";

const fixtures = new URL("../../fixtures/transcripts/", import.meta.url).pathname;
/** npm has ccusage's program for other systems too, but only this one is installed. */
const canRun = process.platform === "linux" && process.arch === "x64";

let folder: string;
let ccusage: string;
beforeAll(() => {
  const programs = mkdtempSync(join(tmpdir(), "beckon-ccusage-program-"));
  ccusage = join(programs, "ccusage");
  if (!canRun) return;
  // As npm installs it, it cannot be executed.
  copyFileSync(join(repo, "node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"), ccusage);
  chmodSync(ccusage, 0o755);
});
afterAll(() => rmSync(dirname(ccusage), { recursive: true }));
let project: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "beckon-ccusage-")));
  project = join(folder, "projects", "-p");
});
afterEach(() => rmSync(folder, { recursive: true }));

type Files = Readonly<Record<string, string>>;

function write(files: Files): void {
  rmSync(project, { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), content);
  }
}

interface Session {
  readonly sessionId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
  readonly totalCost: number;
  readonly modelBreakdowns: readonly { readonly missingPricing?: boolean }[];
}

function runCcusage(): ReadonlyMap<string, Usage> {
  const { stdout } = Bun.spawnSync({
    cmd: [ccusage, "claude", "session", "--offline", "--json", "--mode", "calculate"],
    env: { PATH: process.env.PATH, HOME: folder, CLAUDE_CONFIG_DIR: folder },
  });
  const { sessions = [] } = JSON.parse(stdout.toString()) as { sessions?: Session[] };
  return new Map(
    sessions.map((session) => [
      session.sessionId,
      {
        tokens: {
          input: session.inputTokens,
          output: session.outputTokens,
          cacheRead: session.cacheReadTokens,
          cacheWrite: session.cacheCreationTokens,
        },
        costMicros: session.modelBreakdowns.some(({ missingPricing }) => missingPricing)
          ? null
          : Math.round(session.totalCost * 1e6),
      },
    ]),
  );
}

async function readUsage(): Promise<ReadonlyMap<string, Usage>> {
  const reader = createTranscriptReader();
  const paths = readdirSync(project)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(project, name));
  // Twice: a later transcript can have the better row of a request.
  for (const path of paths) await reader.read(path);
  const known = new Map<string, Usage>();
  for (const path of paths) {
    const usage = (await reader.read(path))?.usage;
    if (usage) known.set(basename(path, ".jsonl"), usage);
  }
  return known;
}

async function compare(files: Files): Promise<void> {
  write(files);
  const expected = runCcusage();
  const known = await readUsage();
  for (const [id, usage] of expected) {
    expect({ id, tokens: known.get(id)?.tokens }).toEqual({ id, tokens: usage.tokens });
    // ccusage knows fewer prices.
    if (usage.costMicros !== null)
      expect({ id, cost: known.get(id)?.costMicros }).toEqual({ id, cost: usage.costMicros });
  }
  expect([...known.keys()].filter((id) => !expected.has(id))).toEqual([]);
}

describe.skipIf(!canRun)("the recordings' transcripts", () => {
  test.each(readdirSync(fixtures).filter((name) => name.endsWith(".jsonl")))("%s", async (name) => {
    const content = readFileSync(join(fixtures, name), "utf8");
    const { sessionId } = JSON.parse(content.slice(0, content.indexOf("\n"))) as { sessionId: string };
    await compare({ [`${sessionId}.jsonl`]: content });
  });
});

const a = "aaaaaaaa-0000-4000-8000-000000000001";
const b = "bbbbbbbb-0000-4000-8000-000000000002";

interface RowOptions {
  readonly id?: string | undefined;
  readonly request?: string | undefined;
  readonly session?: string;
  /** The session that made the request, if the row is a copy. */
  readonly madeBy?: string;
  readonly second?: number;
  readonly isSidechain?: boolean;
  readonly model?: string;
  readonly usage?: object;
}

function row({
  id,
  request,
  session = a,
  madeBy,
  second = 0,
  isSidechain = false,
  model,
  usage,
}: RowOptions): string {
  return JSON.stringify({
    type: "assistant",
    timestamp: new Date(Date.UTC(2026, 10, 16, 0, 0, second)).toISOString(),
    sessionId: session,
    session_id: madeBy,
    isSidechain,
    requestId: request,
    message: {
      id,
      role: "assistant",
      model: model ?? "claude-sonnet-4-6",
      content: [],
      usage: {
        input_tokens: 100,
        output_tokens: 20,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        ...usage,
      },
    },
  });
}

const lines = (...rows: readonly RowOptions[]) => rows.map((options) => `${row(options)}\n`).join("");
const main = (...rows: readonly RowOptions[]): Files => ({ [`${a}.jsonl`]: lines(...rows) });
const output = (output_tokens: number) => ({ output_tokens });
const m1 = { id: "m1", request: "r1" };
const advisor = { type: "advisor_message", model: "claude-opus-4-7", input_tokens: 1_000, output_tokens: 10 };

describe.skipIf(!canRun)("generated transcripts", () => {
  test.each<[string, Files]>([
    ["one request", main(m1)],
    ["the rows of one request", main(m1, { ...m1, usage: output(50) }, { ...m1, usage: output(30) })],
    ["one message id, two requests", main(m1, { id: "m1", request: "r2" })],
    ["no request id", main({ id: "m1" }, { id: "m1", usage: output(50) })],
    ["a request id in one row only", main(m1, { id: "m1", usage: output(50) })],
    ["no message id", main({ request: "r1" }, { request: "r1" })],
    ["neither id", main({}, {})],
    [
      "no request id, in two sessions",
      { ...main({ id: "m1" }), [`${b}.jsonl`]: lines({ id: "m1", session: b }) },
    ],
    [
      "a resumed session that copies its rows",
      { ...main(m1), [`${b}.jsonl`]: lines({ ...m1, session: b }, { id: "m2", request: "r2", session: b }) },
    ],
    [
      "a copy with more tokens",
      { ...main(m1), [`${b}.jsonl`]: lines({ ...m1, session: b, usage: output(50) }) },
    ],
    [
      "a fork",
      {
        ...main({ ...m1, madeBy: a }),
        [`${b}.jsonl`]: lines(
          { ...m1, session: b, madeBy: a },
          { id: "m2", request: "r2", session: b, madeBy: b },
        ),
      },
    ],
    [
      "a fork of a session that is gone",
      {
        [`${b}.jsonl`]: lines(
          { ...m1, session: b, madeBy: a },
          { id: "m2", request: "r2", session: b, madeBy: b },
        ),
      },
    ],
    ["a sidechain's copy", main(m1, { id: "m1", request: "r2", isSidechain: true, usage: output(500) })],
    [
      "a sidechain's copy at another time",
      main(m1, { id: "m1", request: "r2", isSidechain: true, second: 1 }),
    ],
    [
      "a sidechain's copy before the request",
      main({ id: "m1", request: "r2", isSidechain: true, usage: output(500) }, m1),
    ],
    [
      "a sidechain's copy in another session",
      { ...main(m1), [`${b}.jsonl`]: lines({ id: "m1", request: "r2", session: b, isSidechain: true }) },
    ],
    [
      "two sidechains",
      main(
        { id: "m1", request: "r2", isSidechain: true },
        { id: "m1", request: "r3", isSidechain: true, usage: output(50) },
      ),
    ],
    [
      "the same request in a sidechain, with more tokens",
      main(m1, { ...m1, isSidechain: true, second: 1, usage: output(50) }),
    ],
    [
      "subagents",
      {
        ...main(m1),
        [`${a}/subagents/agent-x.jsonl`]: lines(
          { id: "m1", request: "r2", isSidechain: true },
          { id: "m2", request: "r3", isSidechain: true, model: "claude-haiku-4-5-20251001" },
        ),
        [`${a}/subagents/agent-y.jsonl`]: lines({
          id: "m3",
          request: "r4",
          isSidechain: true,
          usage: output(7),
        }),
      },
    ],
    [
      "both tiers of the cache",
      main({
        ...m1,
        usage: {
          cache_creation_input_tokens: 1_000,
          cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
        },
      }),
    ],
    [
      "one tier of the cache",
      main({
        ...m1,
        usage: { cache_creation_input_tokens: 1_000, cache_creation: { ephemeral_1h_input_tokens: 200 } },
      }),
    ],
    [
      "no tiers of the cache",
      main({ ...m1, usage: { cache_creation_input_tokens: 1_000, cache_creation: null } }),
    ],
    [
      "an advisor",
      main({
        ...m1,
        usage: { iterations: [{ ...advisor, type: "message" }, advisor] },
      }),
    ],
    [
      "an advisor in one of two rows",
      main({ ...m1, usage: output(500) }, { ...m1, usage: { iterations: [advisor] } }),
    ],
    [
      "two advisors",
      main(
        { ...m1, usage: { iterations: [advisor, advisor] } },
        { ...m1, usage: { ...output(500), iterations: [advisor] } },
      ),
    ],
    ...[
      "claude-opus-4-6",
      "claude-opus-4-7",
      "claude-opus-4-8",
      "claude-opus-5",
      "claude-opus-5-5",
      "claude-sonnet-4-6",
    ].map((model): [string, Files] => [
      `fast mode of ${model}`,
      main({ ...m1, model, usage: { speed: "fast" } }),
    ]),
    ...["claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514", "claude-opus-4-6", "claude-sonnet-4-6"].map(
      (model): [string, Files] => [
        `a long context of ${model}`,
        main({
          ...m1,
          model,
          usage: {
            input_tokens: 300_000,
            output_tokens: 250_000,
            cache_read_input_tokens: 250_000,
            cache_creation: { ephemeral_5m_input_tokens: 210_000, ephemeral_1h_input_tokens: 220_000 },
          },
        }),
      ],
    ),
    ...[
      "claude-haiku-4-5-20251001",
      "claude-opus-4-1-20250805",
      "claude-opus-4-5-20251101",
      "claude-opus-5",
      "claude-sonnet-5",
      "claude-sonnet-5-5",
      "claude-fable-5",
      "claude-3-5-haiku-20241022",
      "claude-3-7-sonnet-20250219",
      "<synthetic>",
      "nothing-known",
    ].map((model): [string, Files] => [
      model,
      main({ ...m1, model, usage: { cache_read_input_tokens: 12_345, cache_creation_input_tokens: 678 } }),
    ]),
  ])("%s", async (_, files) => {
    await compare(files);
  });

  test("rows in any order, of any kind", async () => {
    const anyRow = fc.record({
      id: fc.constantFrom("m1", "m2", undefined),
      request: fc.constantFrom("r1", "r2", undefined),
      session: fc.constantFrom(a, b),
      second: fc.constantFrom(0, 1),
      isSidechain: fc.boolean(),
      model: fc.constantFrom("claude-sonnet-4-6", "claude-opus-4-8"),
      usage: fc.record({
        input_tokens: fc.integer({ min: 1, max: 9_999 }),
        output_tokens: fc.integer({ min: 1, max: 9_999 }),
        speed: fc.constantFrom("standard", "fast"),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 6 }), async (rows) => {
        await compare(main(...rows.map((fields) => ({ ...fields, session: a }))));
      }),
      // The same rows in every run: ccusage counts a replay of a sidechain by the time of one of several equal rows, and which
      // one depends on their order.
      { numRuns: 40, seed: 7 },
    );
  });
});

test.skipIf(!canRun)("a field elsewhere in a row that is null does not hide what it used", async () => {
  // ccusage ignores such rows.
  write({
    [`${a}.jsonl`]: `${row(m1).replace('"content":[]', '"content":[{"type":"tool_use","id":null}]')}\n`,
  });
  expect(runCcusage().size).toBe(0);
  expect((await readUsage()).get(a)?.tokens).toEqual({ input: 100, output: 20, cacheRead: 0, cacheWrite: 0 });
});
