import { expect, test } from "bun:test";
import { checkMachines, type MachineLinkFacts } from "../../src/setup/doctor/machines.ts";

const report = {
  state: "linked",
  problem: null,
  fix: null,
  since: 1,
  version: "1.2.0",
  agents: ["Claude Code", "Codex"],
  sessions: 2,
} as const;

const check = (
  more: Partial<NonNullable<MachineLinkFacts["report"]>> | null,
  isRunning = true,
  version = "1.2.0",
) =>
  checkMachines({
    machines: [{ name: "devbox", report: more && { ...report, ...more } }],
    isRunning,
    version,
    formatTime: () => "14:02",
  }).map(({ id, state, text, fix }) => [id, state, text, fix]);

test("without another machine, doctor says nothing about machines", () => {
  expect(checkMachines({ machines: [], isRunning: true, version: "0.1.0", formatTime: String })).toEqual([]);
});

test("a machine that is linked is listed with since when, its version, agents and sessions", () => {
  const text = "devbox: linked since 14:02, beckon 1.2.0, Claude Code and Codex, 2 sessions";
  expect(check({})).toEqual([["machines.linked", "ok", text, null]]);
});

test("a machine with another version is named with the one command that helps", () => {
  const text =
    "devbox: linked since 14:02, beckon 1.2.0, Claude Code and Codex, 2 sessions; this machine has";
  expect(check({}, true, "1.3.0")).toEqual([
    ["machines.other-version", "warn", `${text} 1.3.0`, "Run: beckon machine update devbox"],
  ]);
  expect(check({}, true, "1.1.9")).toEqual([
    ["machines.other-version", "warn", `${text} 1.1.9`, "Run: beckon update"],
  ]);
});

test("a machine without a connected agent works, but shows nothing", () => {
  expect(check({ agents: [], sessions: 0 })[0]).toEqual([
    "machines.no-agent",
    "warn",
    "devbox: linked since 14:02, beckon 1.2.0, no agent is connected there, no session",
    "To connect it, once there is one: beckon machine update devbox",
  ]);
});

test("a machine that is not linked is a problem with what helps", () => {
  const fix = "Run: beckon machine update devbox";
  expect(check({ state: "not linked", problem: "the beckon there is too old", fix })[0]).toEqual([
    "machines.not-linked",
    "fail",
    "devbox: not linked since 14:02: the beckon there is too old",
    fix,
  ]);
});

test("while it is being linked, or beckon does not run, nothing is claimed", () => {
  expect(check({ state: "linking" })[0]?.slice(1, 3)).toEqual(["info", "devbox: being linked"]);
  expect(check(null, false)[0]?.[2]).toBe("devbox: not tried, because beckon is not running");
  expect(check(null)[0]?.[2]).toBe("devbox: not tried, because beckon does not use it yet");
});
