import { describe, expect, test } from "bun:test";
import { openEnvelope, stampEvent } from "../../src/agents/envelope.ts";
import { limits } from "../../src/core/limits.ts";

const payload = { session_id: "s", hook_event_name: "Stop" };
const open = (body: unknown) => openEnvelope(body, "claude", "this-host");

describe("a body", () => {
  test("with _meta and payload is an envelope", () => {
    const hook = open({ provider: "codex", _meta: { id: "1" }, payload });
    expect(hook).toMatchObject({ provider: "codex", payload, meta: { id: "1" } });
  });
  test("without _meta, or with _meta but no payload, is a payload", () => {
    expect(open(payload)).toMatchObject({ provider: "claude", payload, meta: { id: null, place: null } });
    const inside = { ...payload, _meta: { id: "2", workspace_id: "proj" } };
    expect(open(inside)).toMatchObject({ payload: inside, meta: { id: "2", workspace: "proj" } });
  });
  test("with a tool's own field called payload is not an envelope", () => {
    const body = { ...payload, payload: { a: 1 } };
    expect(open(body)?.payload).toBe(body);
  });
  test("may have _meta inside the payload, which overrides the forwarder's", () => {
    const hook = open({
      _meta: { id: "outer", workspace_id: "w" },
      payload: { ...payload, _meta: { id: "inner" } },
    });
    expect(hook?.meta).toMatchObject({ id: "inner", workspace: "w" });
  });
  test.each([[null], [7], ["text"], [[]], [[payload]], [true]])("%j is refused", (body) => {
    expect(open(body)).toBeNull();
  });
  test.each([
    [undefined, "claude"],
    [null, "claude"],
    [7, "claude"],
    ["", ""],
    ["nobody", "nobody"],
  ])("provider %j is %j", (provider, expected) => {
    expect(open({ ...payload, provider })?.provider).toBe(expected);
  });
});

test("the process and the pane may be in the payload; those in _meta win", () => {
  const payload = { session_id: "s", pid: 12, tmux_pane: "%4" };
  expect(openEnvelope(payload, "claude", "h")?.meta.place).toMatchObject({
    pid: 12,
    env: { TMUX_PANE: "%4" },
  });
  const _meta = { pid: 13, env: { TMUX_PANE: "%5" } };
  expect(openEnvelope({ _meta, payload }, "claude", "h")?.meta.place).toMatchObject({
    pid: 13,
    env: { TMUX_PANE: "%5" },
  });
  const odd = { session_id: "s", pid: "12", tmux_pane: 4 };
  expect(openEnvelope(odd, "claude", "h")?.meta.place).toBeNull();
});

describe("_meta", () => {
  const meta = (fields: Record<string, unknown>) => open({ _meta: fields, payload })?.meta;

  test("contains what the forwarder saw", () => {
    const seen = {
      id: "id-1",
      at: 1_790_000_000_000,
      seq: 5_000_000,
      boot: "b",
      workspace_id: "proj",
      attended: true,
      pid: 77,
      procStart: "123",
      tty: "/dev/pts/1",
      terminal_session_id: "t1",
      host: "this-host",
      env: { TERM_PROGRAM: "kitty" },
    };
    expect(meta(seen)).toEqual({
      id: "id-1",
      at: 1_790_000_000_000,
      seq: 5_000_000,
      boot: "b",
      workspace: "proj",
      attended: true,
      place: {
        local: true,
        pid: 77,
        procStart: "123",
        tty: "/dev/pts/1",
        terminalSessionId: "t1",
        env: { TERM_PROGRAM: "kitty" },
      },
    });
  });

  test("uses collected_at if there is no at", () => {
    expect(meta({ collected_at: "2026-02-20T15:00:00.000Z" })?.at).toBe(Date.UTC(2026, 1, 20, 15));
    expect(meta({ collected_at: "yesterday" })?.at).toBeNull();
    expect(meta({ at: 5, collected_at: "2026-02-20T15:00:00.000Z" })?.at).toBe(5);
  });

  test("a process is local only on this host and in this pid namespace", () => {
    expect(meta({ pid: 77, host: "other-host" })?.place?.local).toBe(false);
    expect(meta({ pid: 77 })?.place?.local).toBe(false);
    const nowhere = openEnvelope({ _meta: { pid: 77, host: null }, payload }, "claude", null);
    expect(nowhere?.meta.place?.local).toBe(false);
  });

  test("a start time may be a number; an invalid pid is ignored", () => {
    expect(meta({ pid: 77, procStart: 123 })?.place?.procStart).toBe("123");
    for (const pid of [0, -1, "77", Number.NaN, 2 ** 40, null, {}]) {
      expect(meta({ pid, tty: "/dev/pts/1" })?.place?.pid ?? null).toBeNull();
    }
  });

  test("fields of the wrong type or size are ignored", () => {
    const wrong = {
      id: 7,
      at: "now",
      seq: -1,
      boot: "",
      workspace_id: "w".repeat(limits.maxIdLength + 1),
      attended: "yes",
    };
    expect(meta(wrong)).toEqual({
      id: null,
      at: null,
      seq: null,
      boot: null,
      workspace: null,
      attended: null,
      place: null,
    });
    const env = { A: 7, B: "", C: "c".repeat(limits.maxEnvLength + 1), D: "d" };
    expect(meta({ env })?.place?.env).toEqual({ D: "d" });
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`V${n}`, "v"]));
    expect(Object.keys(meta({ env: many })?.place?.env ?? {})).toHaveLength(limits.maxEnv);
  });
});

describe("the time of an event", () => {
  const here = { at: 1_790_000_000_000, t: 100_000, boot: "boot-1", host: null };
  const readTime = (at: number | null, seq: number | null, boot: string | null = "boot-1") =>
    stampEvent({ at, seq, boot }, here);

  test("is the arrival if the forwarder sent none", () => {
    expect(readTime(null, null)).toEqual({ at: here.at, t: here.t });
  });
  test("is the forwarder's, on both clocks", () => {
    expect(readTime(here.at - 500, 99_500_000)).toEqual({ at: here.at - 500, t: 99_500 });
  });
  test("comes from the finer clock while both agree", () => {
    expect(readTime(here.at - 503, 99_490_000).t).toBe(99_497);
  });
  test("comes from the clock since boot if the wall clock was set", () => {
    for (const at of [here.at - 3_600_000, here.at + 3_600_000]) {
      expect(readTime(at, 99_500_000)).toEqual({ at: here.at - 500, t: 99_500 });
    }
  });
  test("comes from the wall clock for an earlier boot, and without a boot id", () => {
    expect(readTime(here.at - 500, 7_000_000, "boot-0").t).toBe(99_500);
    expect(readTime(here.at - 200_000, 7_000_000, null).t).toBe(-100_000);
  });
  test("is the arrival if the stamp is older than a year", () => {
    const day = 24 * 60 * 60_000;
    expect(readTime(0, null)).toEqual({ at: here.at, t: here.t });
    expect(readTime(here.at - 366 * day, null).at).toBe(here.at);
    expect(readTime(here.at - 364 * day, null).at).toBe(here.at - 364 * day);
  });
  test("is never in the future", () => {
    expect(readTime(here.at + 1_000, null).t).toBe(here.t);
    expect(readTime(here.at, 101_000_000).t).toBeLessThanOrEqual(here.t);
    expect(readTime(here.at, 999_000_000).t).toBe(here.t);
  });
});
