/** From a request's text to an event that is kept, and only then counted. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claude } from "../../src/agents/claude/index.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createIngest, type IngestOptions } from "../../src/ingest/index.ts";
import { maskJson } from "../../src/secrets/index.ts";
import { type Journal, type JournalLine, openJournal } from "../../src/storage/journal/index.ts";

let folder = "";
let journal: Journal;
let counted: { event: AgentEvent }[] = [];
let logged: string[] = [];
const now = { at: 1_790_000_000_000, t: 500_000, boot: "boot-2", host: "boot-2/pid:[1]" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-intake-"));
  journal = openJournal(join(folder, "journal"), {
    retentionDays: () => 7,
    onError: (text) => logged.push(text),
  });
  counted = [];
  logged = [];
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

function intake(more: Partial<IngestOptions> = {}) {
  return createIngest({
    agents: new Map([["claude", claude]]),
    journal,
    mask: maskJson,
    clock: () => now,
    defaultProvider: "claude",
    dispatch: (event) => void counted.push({ event }),
    onError: (text) => void logged.push(text),
    ...more,
  });
}
const lines = (): JournalLine[] => {
  const found: JournalLine[] = [];
  journal.replay(null, (line) => found.push(line));
  return found;
};
const payload = { session_id: "s", hook_event_name: "UserPromptSubmit", prompt: "go" };
const envelope = (meta: Record<string, unknown>, more = {}) =>
  JSON.stringify({ provider: "claude", _meta: meta, payload: { ...payload, ...more } });

test("two events whose sender puts a space before the colon are two", async () => {
  const taken = intake();
  const spaced = (prompt: string) =>
    envelope({ id: prompt }, { prompt }).replace('"payload":', '"payload" :');
  for (const prompt of ["one", "two"]) expect(await taken.accept(spaced(prompt))).toEqual({ status: 200 });
  expect(new Set(counted.map(({ event }) => event.payloadKey)).size).toBe(2);
});

test("two events whose sender writes the payload's name in another way are two", async () => {
  const taken = intake();
  for (const prompt of ["one", "two"]) {
    const text = JSON.stringify({ _meta: { id: prompt }, payload: { ...payload, prompt, payload: 1 } });
    await taken.accept(text.replace('"payload":', '"p\\u0061yload":'));
    await taken.accept(text.replace('"payload":', '"payload" :').replace('"id":"', '"id":"another '));
  }
  expect(counted).toHaveLength(4);
  expect(new Set(counted.map(({ event }) => event.payloadKey)).size).toBe(2);
});

describe("an event", () => {
  test("is in the journal before it is counted, and counted before it is acknowledged", async () => {
    const order: string[] = [];
    const append = async (entry: Parameters<Journal["append"]>[0]) => {
      await journal.append(entry);
      order.push("kept");
    };
    const taken = intake({ journal: { append }, dispatch: () => void order.push("counted") });
    expect(await taken.accept(envelope({ id: "1" }))).toEqual({ status: 200 });
    order.push("acknowledged");
    expect(order).toEqual(["kept", "counted", "acknowledged"]);
  });

  test("is kept with its stamps, its text as it came and where in the spool it was", async () => {
    await intake().accept(envelope({ id: "1", at: now.at - 50, seq: 499_950_000, boot: "boot-2" }), [
      "spool-a",
      77,
    ]);
    expect(lines()).toMatchObject([
      { id: "1", at: now.at - 50, t: 499_950, boot: "boot-2", spool: ["spool-a", 77], body: { payload } },
    ]);
    expect(counted).toMatchObject([{ event: { id: "1", t: 499_950 } }]);
  });

  test("without an id gets one", async () => {
    await intake().accept(JSON.stringify(payload));
    expect(counted[0]?.event.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines()[0]?.id).toBe(counted[0]?.event.id ?? "");
  });

  test("that cannot be kept is not counted, and its sender is told to keep it", async () => {
    const append = () =>
      Promise.reject(new Error("the journal could not be written (ENOSPC). Free some disk space."));
    const taken = intake({ journal: { append } });
    expect(await taken.accept(envelope({ id: "1" }))).toEqual({
      status: 503,
      error: "not kept: the journal could not be written (ENOSPC). Free some disk space.",
    });
    expect(counted).toEqual([]);
    expect(logged).toHaveLength(1);
  });

  test("that could not be kept is taken when it comes again", async () => {
    let isFull = true;
    const append: Journal["append"] = (entry) =>
      isFull ? Promise.reject(new Error("full")) : journal.append(entry);
    const taken = intake({ journal: { append } });
    expect((await taken.accept(envelope({ id: "1" }))).status).toBe(503);
    isFull = false;
    expect((await taken.accept(envelope({ id: "1" }))).status).toBe(200);
    expect(counted).toHaveLength(1);
  });

  test("whose counting fails is still kept and acknowledged", async () => {
    const dispatch = () => {
      throw new Error("oops");
    };
    expect(await intake({ dispatch }).accept(envelope({ id: "1" }))).toEqual({ status: 200 });
    expect(lines()).toHaveLength(1);
    expect(logged).toEqual(["could not count UserPromptSubmit of s: oops"]);
  });

  test("is masked before anything sees it", async () => {
    const key = "AKIAIOSFODNN7EXAMPLE";
    await intake().accept(envelope({ id: "1" }, { prompt: `use ${key} now` }));
    expect(JSON.stringify(lines())).not.toContain(key);
    expect(JSON.stringify(counted)).not.toContain(key);
    expect(counted[0]?.event.change).toMatchObject({ text: "use ••• now" });
  });

  test("is kept without what its tool returned: files and outputs are nobody's to keep", async () => {
    const call = { hook_event_name: "PostToolUse", tool_name: "Read", tool_use_id: "toolu_1" };
    const secret = "what the file says";
    const taken = intake();
    await taken.accept(envelope({ id: "1" }, { ...call, tool_response: { file: { content: secret } } }));
    await taken.accept(envelope({ id: "2" }, { ...call, tool_use_id: "toolu_2", tool_result: secret }));
    await taken.accept(
      JSON.stringify({ ...payload, ...call, tool_use_id: "toolu_3", tool_response: [secret] }),
    );
    expect(counted.map(({ event }) => event.change.kind)).toEqual(["tool-end", "tool-end", "tool-end"]);
    expect(JSON.stringify([lines(), counted])).not.toContain(secret);
    expect(lines()[0]?.body).toMatchObject({ payload: { ...call, tool_response: null } });
  });

  test("of a batch neither: it repeats what each of its tools returned", async () => {
    const batch = (id: string, content: string) =>
      envelope(
        { id },
        { hook_event_name: "PostToolBatch", tool_calls: [{ tool_use_id: "t", tool_response: content }] },
      );
    const taken = intake();
    await taken.accept(batch("1", "what the file says"));
    await taken.accept(batch("2", "what another says"));
    expect(JSON.stringify(lines())).not.toContain("says");
    expect(new Set(counted.map(({ event }) => event.payloadKey)).size).toBe(2);
  });

  test("is masked also where its sender puts a space before the colon", async () => {
    const text = envelope({ id: "1" }, { prompt: "DB_PASSWORD=hunter2hunter2", x: { payload: 1 } });
    await intake().accept(text.replace('"payload":', '"payload" :'));
    expect(JSON.stringify([lines(), counted])).not.toContain("hunter2");
  });

  test("is told from the next, also where what comes before its payload was masked", async () => {
    const taken = intake();
    const sent = (id: string, prompt: string) =>
      JSON.stringify({
        _meta: { id, env: { API_TOKEN: "x".repeat(900) } },
        payload: { ...payload, prompt },
      });
    for (const [id, prompt] of [
      ["1", "one"],
      ["2", "two"],
    ] as const)
      await taken.accept(sent(id, prompt));
    expect(new Set(counted.map(({ event }) => event.payloadKey)).size).toBe(2);
  });

  test("of BECKON_PROVIDER's agent is that agent's, and refused where nobody knows it", async () => {
    const taken = intake({ defaultProvider: "somebody" });
    expect(await taken.accept(JSON.stringify(payload))).toEqual({ status: 400, error: "unknown provider" });
    expect((await taken.accept(envelope({}))).status).toBe(200);
  });
});

describe("the same event", () => {
  test("is kept once, also when it comes twice at once", async () => {
    const taken = intake();
    const both = await Promise.all([
      taken.accept(envelope({ id: "1" })),
      taken.accept(envelope({ id: "1" })),
    ]);
    expect(both).toEqual([{ status: 200 }, { status: 200 }]);
    expect((await taken.accept(envelope({ id: "1" }))).status).toBe(200);
    expect(lines()).toHaveLength(1);
    expect(counted).toHaveLength(1);
  });

  test("that comes twice at once and cannot be kept is refused twice", async () => {
    const append = () => Promise.reject(new Error("full"));
    const taken = intake({ journal: { append } });
    const both = [taken.accept(envelope({ id: "1" })), taken.accept(envelope({ id: "1" }))];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([503, 503]);
  });

  test("that was refused a moment ago is not taken for kept", async () => {
    const refused = Promise.reject(new Error("full"));
    refused.catch(() => {});
    const fates = [refused, Promise.resolve()];
    const append = () => fates.shift() ?? Promise.resolve();
    const taken = intake({ journal: { append } });
    const all = ["1", "2", "1"].map((id) => taken.accept(envelope({ id })));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([503, 200, 503]);
  });

  test("is taken again where the first try threw", async () => {
    let isBroken = true;
    const append: Journal["append"] = (entry) => {
      if (isBroken) throw new RangeError("out of memory");
      return journal.append(entry);
    };
    const taken = intake({ journal: { append } });
    expect(() => taken.accept(envelope({ id: "1" }))).toThrow("out of memory");
    isBroken = false;
    expect((await taken.accept(envelope({ id: "1" }))).status).toBe(200);
    expect(lines()).toHaveLength(1);
  });

  test("heard by two hooks has one key, also in a project called payload", async () => {
    const taken = intake();
    for (const id of ["1", "2"]) await taken.accept(envelope({ workspace_id: "payload", id }));
    expect(new Set(counted.map(({ event }) => event.payloadKey)).size).toBe(1);
  });

  test("is known after a start, by what the journal says", async () => {
    const taken = intake();
    taken.rememberIds(["1"]);
    expect((await taken.accept(envelope({ id: "1" }))).status).toBe(200);
    expect(counted).toEqual([]);
  });

  test("of a tool call has one key, and its beginning, its end and other calls have others", async () => {
    const taken = intake();
    const call = (name: string, id: string, n: number) =>
      taken.accept(envelope({ id: `${name}${id}${n}` }, { hook_event_name: name, tool_use_id: id }));
    for (const n of [1, 2]) {
      await call("PreToolUse", "a", n);
      await call("PostToolUse", "a", n);
      await call("PreToolUse", "b", n);
      await call("PermissionRequest", "a", n);
    }
    const keys = counted.map(({ event }) => event.payloadKey);
    expect(keys.slice(0, 4)).toEqual(keys.slice(4));
    expect(new Set(keys).size).toBe(4);
  });

  test("of two forwarders has one key, whatever they saw around it", async () => {
    const taken = intake();
    await taken.accept(envelope({ id: "1", pid: 7, at: 1 }));
    await taken.accept(envelope({ id: "2", pid: 8 }));
    await taken.accept(envelope({ id: "3" }, { prompt: "other" }));
    const [first, second, third] = counted.map(({ event }) => event.payloadKey);
    expect(second).toBe(first ?? "none");
    expect(third).not.toBe(first);
  });

  test("is not one that only ends alike", async () => {
    const taken = intake();
    const tool = { tool_name: "Post", tool_input: { payload: { a: 1 } } };
    await taken.accept(JSON.stringify({ session_id: "s", hook_event_name: "PreToolUse", ...tool }));
    await taken.accept(JSON.stringify({ session_id: "s", hook_event_name: "PostToolUse", ...tool }));
    const [first, second] = counted.map(({ event }) => event.payloadKey);
    expect(second).not.toBe(first);
  });
});

describe("the journal, told again", () => {
  const line = (more: Partial<JournalLine>): JournalLine => ({
    id: "1",
    at: now.at - 60_000,
    t: 440_000,
    boot: "boot-2",
    key: "k",
    body: { _meta: { pid: 7, host: "boot-2/pid:[1]" }, payload },
    ...more,
  });

  test("counts each event where it happened, and keeps none again", () => {
    intake().replay(line({}));
    expect(counted).toMatchObject([{ event: { id: "1", t: 440_000, payloadKey: "k" } }]);
    expect(lines()).toEqual([]);
  });

  test("knows its events when they come again", async () => {
    const taken = intake();
    taken.replay(line({}));
    await taken.accept(envelope({ id: "1" }));
    expect(counted).toHaveLength(1);
  });

  test("of an earlier boot is put before everything of this one, by the wall clock", () => {
    const earlier = { boot: "boot-1", t: 9_000_000, at: now.at - 3_600_000 };
    intake().replay(line(earlier));
    expect(counted[0]?.event.t).toBe(500_000 - 3_600_000);
  });

  test("of an earlier boot speaks of processes that were ours, and not of a container's", () => {
    const taken = intake();
    const of = (host: string, id: string) =>
      line({ id, boot: "boot-1", body: { _meta: { pid: 7, host }, payload } });
    taken.replay(of("boot-1/pid:[1]", "1"));
    taken.replay(of("boot-1/pid:[9]", "2"));
    taken.replay(of("boot-9/pid:[1]", "3"));
    expect(counted.map(({ event }) => event.place?.local)).toEqual([true, false, false]);
  });

  test("passes over what is no event", () => {
    const taken = intake();
    for (const body of [null, 7, {}, { provider: "nobody", ...payload }]) taken.replay(line({ body }));
    expect(counted).toEqual([]);
  });
});
