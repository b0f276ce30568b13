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
let dispatched: AgentEvent[] = [];
let errors: string[] = [];
const now = { at: 1_790_000_000_000, t: 500_000, boot: "boot-2", host: "boot-2/pid:[1]" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-ingest-"));
  journal = openJournal(join(folder, "journal"), {
    retentionDays: () => 7,
    onError: (text) => errors.push(text),
  });
  dispatched = [];
  errors = [];
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

function createTestIngest(more: Partial<IngestOptions> = {}) {
  return createIngest({
    agents: new Map([["claude", claude]]),
    journal,
    mask: maskJson,
    clock: () => now,
    defaultProvider: "claude",
    dispatch: (event) => void dispatched.push(event),
    onError: (text) => void errors.push(text),
    ...more,
  });
}
const readJournal = (): JournalLine[] => {
  const lines: JournalLine[] = [];
  journal.replay(null, (line) => lines.push(line));
  return lines;
};
const payload = { session_id: "s", hook_event_name: "UserPromptSubmit", prompt: "go" };
const envelope = (meta: Record<string, unknown>, more = {}) =>
  JSON.stringify({ provider: "claude", _meta: meta, payload: { ...payload, ...more } });

test("two payloads are different events if their sender writes a space before the colon", async () => {
  const ingest = createTestIngest();
  const spaced = (prompt: string) =>
    envelope({ id: prompt }, { prompt }).replace('"payload":', '"payload" :');
  for (const prompt of ["one", "two"])
    expect(await ingest.accept(spaced(prompt))).toEqual({ outcome: "accepted" });
  expect(new Set(dispatched.map((event) => event.payloadKey)).size).toBe(2);
});

test("two payloads are different events if their sender escapes the name of the payload", async () => {
  const ingest = createTestIngest();
  for (const prompt of ["one", "two"]) {
    const text = JSON.stringify({ _meta: { id: prompt }, payload: { ...payload, prompt, payload: 1 } });
    await ingest.accept(text.replace('"payload":', '"p\\u0061yload":'));
    await ingest.accept(text.replace('"payload":', '"payload" :').replace('"id":"', '"id":"another '));
  }
  expect(dispatched).toHaveLength(4);
  expect(new Set(dispatched.map((event) => event.payloadKey)).size).toBe(2);
});

describe("an event", () => {
  test("is journalled first, then dispatched, then acknowledged", async () => {
    const order: string[] = [];
    const append = async (entry: Parameters<Journal["append"]>[0]) => {
      await journal.append(entry);
      order.push("journalled");
    };
    const ingest = createTestIngest({ journal: { append }, dispatch: () => void order.push("dispatched") });
    expect(await ingest.accept(envelope({ id: "1" }))).toEqual({ outcome: "accepted" });
    order.push("acknowledged");
    expect(order).toEqual(["journalled", "dispatched", "acknowledged"]);
  });

  test("is journalled with its stamps, its unchanged text and its position in the spool", async () => {
    await createTestIngest().accept(
      envelope({ id: "1", at: now.at - 50, seq: 499_950_000, boot: "boot-2" }),
      ["spool-a", 77],
    );
    expect(readJournal()).toMatchObject([
      { id: "1", at: now.at - 50, t: 499_950, boot: "boot-2", spool: ["spool-a", 77], body: { payload } },
    ]);
    expect(dispatched).toMatchObject([{ id: "1", t: 499_950 }]);
  });

  test("without an id gets one", async () => {
    await createTestIngest().accept(JSON.stringify(payload));
    expect(dispatched[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(readJournal()[0]?.id).toBe(dispatched[0]?.id ?? "");
  });

  test("that cannot be journalled is not dispatched, and its sender learns that it was not stored", async () => {
    const append = () =>
      Promise.reject(new Error("the journal could not be written (ENOSPC). Free some disk space."));
    const ingest = createTestIngest({ journal: { append } });
    expect(await ingest.accept(envelope({ id: "1" }))).toEqual({
      outcome: "not-stored",
      reason: "not stored: the journal could not be written (ENOSPC). Free some disk space.",
    });
    expect(dispatched).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test("that could not be journalled is accepted when it is sent again", async () => {
    let isFull = true;
    const append: Journal["append"] = (entry) =>
      isFull ? Promise.reject(new Error("full")) : journal.append(entry);
    const ingest = createTestIngest({ journal: { append } });
    expect((await ingest.accept(envelope({ id: "1" }))).outcome).toBe("not-stored");
    isFull = false;
    expect((await ingest.accept(envelope({ id: "1" }))).outcome).toBe("accepted");
    expect(dispatched).toHaveLength(1);
  });

  test("that the state cannot apply is still journalled and acknowledged", async () => {
    const dispatch = () => {
      throw new Error("oops");
    };
    expect(await createTestIngest({ dispatch }).accept(envelope({ id: "1" }))).toEqual({
      outcome: "accepted",
    });
    expect(readJournal()).toHaveLength(1);
    expect(errors).toEqual(["could not apply UserPromptSubmit of s: oops"]);
  });

  test("is masked before it is journalled and dispatched", async () => {
    const key = "AKIAIOSFODNN7EXAMPLE";
    await createTestIngest().accept(envelope({ id: "1" }, { prompt: `use ${key} now` }));
    expect(JSON.stringify(readJournal())).not.toContain(key);
    expect(JSON.stringify(dispatched)).not.toContain(key);
    expect(dispatched[0]?.change).toMatchObject({ text: "use ••• now" });
  });

  test("is journalled without what its tool returned", async () => {
    const call = { hook_event_name: "PostToolUse", tool_name: "Read", tool_use_id: "toolu_1" };
    const secret = "what the file says";
    const ingest = createTestIngest();
    await ingest.accept(envelope({ id: "1" }, { ...call, tool_response: { file: { content: secret } } }));
    await ingest.accept(envelope({ id: "2" }, { ...call, tool_use_id: "toolu_2", tool_result: secret }));
    await ingest.accept(
      JSON.stringify({ ...payload, ...call, tool_use_id: "toolu_3", tool_response: [secret] }),
    );
    expect(dispatched.map((event) => event.change.kind)).toEqual(["tool-end", "tool-end", "tool-end"]);
    expect(JSON.stringify([readJournal(), dispatched])).not.toContain(secret);
    expect(readJournal()[0]?.body).toMatchObject({ payload: { ...call, tool_response: null } });
  });

  test("of a batch is journalled without what its tools returned", async () => {
    const batch = (id: string, content: string) =>
      envelope(
        { id },
        { hook_event_name: "PostToolBatch", tool_calls: [{ tool_use_id: "t", tool_response: content }] },
      );
    const ingest = createTestIngest();
    await ingest.accept(batch("1", "what the file says"));
    await ingest.accept(batch("2", "what another says"));
    expect(JSON.stringify(readJournal())).not.toContain("says");
    expect(new Set(dispatched.map((event) => event.payloadKey)).size).toBe(2);
  });

  test("is masked if its sender writes a space before the colon", async () => {
    const text = envelope({ id: "1" }, { prompt: "DB_PASSWORD=hunter2hunter2", x: { payload: 1 } });
    await createTestIngest().accept(text.replace('"payload":', '"payload" :'));
    expect(JSON.stringify([readJournal(), dispatched])).not.toContain("hunter2");
  });

  test("keeps a key of its own if the text before its payload was masked", async () => {
    const ingest = createTestIngest();
    const sent = (id: string, prompt: string) =>
      JSON.stringify({
        _meta: { id, env: { API_TOKEN: "x".repeat(900) } },
        payload: { ...payload, prompt },
      });
    for (const [id, prompt] of [
      ["1", "one"],
      ["2", "two"],
    ] as const)
      await ingest.accept(sent(id, prompt));
    expect(new Set(dispatched.map((event) => event.payloadKey)).size).toBe(2);
  });

  test("without a provider belongs to the default provider, and is rejected if that is unknown", async () => {
    const ingest = createTestIngest({ defaultProvider: "somebody" });
    expect(await ingest.accept(JSON.stringify(payload))).toEqual({
      outcome: "rejected",
      reason: "unknown provider",
    });
    expect((await ingest.accept(envelope({}))).outcome).toBe("accepted");
  });
});

describe("the same event", () => {
  test("is journalled once if it arrives twice at the same time", async () => {
    const ingest = createTestIngest();
    const both = await Promise.all([
      ingest.accept(envelope({ id: "1" })),
      ingest.accept(envelope({ id: "1" })),
    ]);
    expect(both).toEqual([{ outcome: "accepted" }, { outcome: "accepted" }]);
    expect((await ingest.accept(envelope({ id: "1" }))).outcome).toBe("accepted");
    expect(readJournal()).toHaveLength(1);
    expect(dispatched).toHaveLength(1);
  });

  test("is reported as not stored twice if it arrives twice at the same time and cannot be journalled", async () => {
    const append = () => Promise.reject(new Error("full"));
    const ingest = createTestIngest({ journal: { append } });
    const both = [ingest.accept(envelope({ id: "1" })), ingest.accept(envelope({ id: "1" }))];
    expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(["not-stored", "not-stored"]);
  });

  test("is not reported as accepted if its first copy has just failed to be journalled", async () => {
    const refused = Promise.reject(new Error("full"));
    refused.catch(() => {});
    const writes = [refused, Promise.resolve()];
    const append = () => writes.shift() ?? Promise.resolve();
    const ingest = createTestIngest({ journal: { append } });
    const all = ["1", "2", "1"].map((id) => ingest.accept(envelope({ id })));
    expect((await Promise.all(all)).map(({ outcome }) => outcome)).toEqual([
      "not-stored",
      "accepted",
      "not-stored",
    ]);
  });

  test("is accepted again after the first attempt threw", async () => {
    let isBroken = true;
    const append: Journal["append"] = (entry) => {
      if (isBroken) throw new RangeError("out of memory");
      return journal.append(entry);
    };
    const ingest = createTestIngest({ journal: { append } });
    expect(() => ingest.accept(envelope({ id: "1" }))).toThrow("out of memory");
    isBroken = false;
    expect((await ingest.accept(envelope({ id: "1" }))).outcome).toBe("accepted");
    expect(readJournal()).toHaveLength(1);
  });

  test("sent by two hooks has one key, also in a project called payload", async () => {
    const ingest = createTestIngest();
    for (const id of ["1", "2"]) await ingest.accept(envelope({ workspace_id: "payload", id }));
    expect(new Set(dispatched.map((event) => event.payloadKey)).size).toBe(1);
  });

  test("is ignored if the journal had its id before the start", async () => {
    const ingest = createTestIngest();
    ingest.rememberIds(["1"]);
    expect((await ingest.accept(envelope({ id: "1" }))).outcome).toBe("accepted");
    expect(dispatched).toEqual([]);
  });

  test("of a tool call has one key, different from the key of its end and of other calls", async () => {
    const ingest = createTestIngest();
    const call = (name: string, id: string, n: number) =>
      ingest.accept(envelope({ id: `${name}${id}${n}` }, { hook_event_name: name, tool_use_id: id }));
    for (const n of [1, 2]) {
      await call("PreToolUse", "a", n);
      await call("PostToolUse", "a", n);
      await call("PreToolUse", "b", n);
      await call("PermissionRequest", "a", n);
    }
    const keys = dispatched.map((event) => event.payloadKey);
    expect(keys.slice(0, 4)).toEqual(keys.slice(4));
    expect(new Set(keys).size).toBe(4);
  });

  test("sent by two forwarders has one key, whatever their metadata", async () => {
    const ingest = createTestIngest();
    await ingest.accept(envelope({ id: "1", pid: 7, at: 1 }));
    await ingest.accept(envelope({ id: "2", pid: 8 }));
    await ingest.accept(envelope({ id: "3" }, { prompt: "other" }));
    const [first, second, third] = dispatched.map((event) => event.payloadKey);
    expect(second).toBe(first ?? "none");
    expect(third).not.toBe(first);
  });

  test("is not confused with an event that only ends with the same text", async () => {
    const ingest = createTestIngest();
    const tool = { tool_name: "Post", tool_input: { payload: { a: 1 } } };
    await ingest.accept(JSON.stringify({ session_id: "s", hook_event_name: "PreToolUse", ...tool }));
    await ingest.accept(JSON.stringify({ session_id: "s", hook_event_name: "PostToolUse", ...tool }));
    const [first, second] = dispatched.map((event) => event.payloadKey);
    expect(second).not.toBe(first);
  });
});

describe("replaying the journal", () => {
  const line = (more: Partial<JournalLine>): JournalLine => ({
    id: "1",
    at: now.at - 60_000,
    t: 440_000,
    boot: "boot-2",
    key: "k",
    body: { _meta: { pid: 7, host: "boot-2/pid:[1]" }, payload },
    ...more,
  });

  test("dispatches each event with its own time, and journals none again", () => {
    createTestIngest().replay(line({}));
    expect(dispatched).toMatchObject([{ id: "1", t: 440_000, payloadKey: "k" }]);
    expect(readJournal()).toEqual([]);
  });

  test("makes its events known, so that they are ignored if they arrive again", async () => {
    const ingest = createTestIngest();
    ingest.replay(line({}));
    await ingest.accept(envelope({ id: "1" }));
    expect(dispatched).toHaveLength(1);
  });

  test("orders events of an earlier boot before this one, by the wall clock", () => {
    const earlier = { boot: "boot-1", t: 9_000_000, at: now.at - 3_600_000 };
    createTestIngest().replay(line(earlier));
    expect(dispatched[0]?.t).toBe(500_000 - 3_600_000);
  });

  test("treats processes of an earlier boot as local, but not those of a container", () => {
    const ingest = createTestIngest();
    const lineFrom = (host: string, id: string) =>
      line({ id, boot: "boot-1", body: { _meta: { pid: 7, host }, payload } });
    ingest.replay(lineFrom("boot-1/pid:[1]", "1"));
    ingest.replay(lineFrom("boot-1/pid:[9]", "2"));
    ingest.replay(lineFrom("boot-9/pid:[1]", "3"));
    expect(dispatched.map((event) => event.place?.local)).toEqual([true, false, false]);
  });

  test("skips lines that are not events", () => {
    const ingest = createTestIngest();
    for (const body of [null, 7, {}, { provider: "nobody", ...payload }]) ingest.replay(line({ body }));
    expect(dispatched).toEqual([]);
  });
});
