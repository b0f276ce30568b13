/** What install says about trust, and what doctor sees of it. The hashes are those that Codex 0.166.0 wrote. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codexSetup } from "../../../src/agents/codex/setup/index.ts";
import { areHooksOff, findTrust } from "../../../src/agents/codex/setup/trust.ts";

const home = mkdtempSync(join(tmpdir(), "beckon-codex-trust-"));
const path = join(home, ".codex", "hooks.json");
const env = { HOME: home, PATH: "" };
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(join(home, ".codex"), { recursive: true, force: true });
  mkdirSync(join(home, ".codex"));
});

const command = "{ cd / && '/home/dev/.local/bin/beckon' hook codex; } 2>/dev/null; exit 0";
const hook = (timeout?: number) => ({
  hooks: [{ type: "command", command, ...(timeout ? { timeout } : {}) }],
});
const state = (event: string, hash: string, more = "") =>
  `[hooks.state."/home/dev/.codex/hooks.json:${event}"]\ntrusted_hash = "sha256:${hash}"\n${more}`;
/** Of the Stop and the Interrupt hook above. */
const stopHash = "17bf44d62b488023a8f0eab5d7e1690301fbc9ee731ee913c83ef1130a3258e0";
const interruptHash = "6b1265a0ce368229c22a2b828d4e0d1343d02d582a8aefc306ab180ee3e802ae";

describe("a hook is", () => {
  const file = "/home/dev/.codex/hooks.json";
  const hooks = JSON.stringify({ hooks: { Stop: [hook(5)], Interrupt: [hook(60)] } });
  const config = state("stop:0:0", stopHash) + state("interrupt:0:0", interruptHash);
  const trustOf = (text: string, settings: string) =>
    findTrust(file, text, settings).map(({ trust }) => trust);

  test("trusted if Codex keeps the hash of what is in the file, with the timeout that it allows", () => {
    expect(trustOf(hooks, config)).toEqual(["trusted", "trusted"]);
  });
  test("untrusted if Codex keeps nothing about it, or cannot read its settings", () => {
    expect(trustOf(hooks, "")).toEqual(["untrusted", "untrusted"]);
    expect(trustOf(hooks, "not = [toml")).toEqual(["untrusted", "untrusted"]);
  });
  test("modified after its timeout or its command changed", () => {
    const changed = JSON.stringify({ hooks: { Stop: [hook(6)], Interrupt: [hook(60)] } });
    expect(trustOf(changed, config)).toEqual(["modified", "trusted"]);
  });
  test("untrusted at another position: Codex keeps trust by position", () => {
    const other = { hooks: [{ type: "command", command: "echo hi" }] };
    const moved = JSON.stringify({ hooks: { Stop: [other, hook(5)] } });
    expect(trustOf(moved, config)).toEqual(["untrusted"]);
  });
  test("disabled if the user switched it off", () => {
    const off = state("stop:0:0", stopHash, "enabled = false\n");
    expect(trustOf(JSON.stringify({ hooks: { Stop: [hook(5)] } }), off)).toEqual(["disabled"]);
  });
});

test("hooks that are off in Codex's settings are noticed", () => {
  expect(areHooksOff("[features]\nhooks = false\n")).toBe(true);
  expect(areHooksOff("[features]\nhooks = true\n")).toBe(false);
});

const registration = codexSetup.createRegistration({
  version: null,
  binary: "/home/dev/.local/bin/beckon",
  home: null,
  platform: "linux",
});

test("install says exactly what to do about trust, and writes none", () => {
  const [warning = ""] = codexSetup.findWarnings("user", env, "/", registration.add(null));
  expect(warning).toContain("12 new or changed hooks");
  expect(warning).toContain('choose "2. Trust all and continue"');
  expect(warning).toContain("/hooks");
});

test("the user's own hooks survive install and uninstall byte for byte", () => {
  const own =
    '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]\n  }\n}\n';
  const installed = registration.add(own);
  expect(installed).toContain("say done");
  expect(codexSetup.entries.remove(installed)).toBe(own);
});

test("doctor names the hooks that Codex does not run, and how to trust them", async () => {
  writeFileSync(path, registration.add(null));
  const { parts } = codexSetup.examine({
    env,
    cwd: null,
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    version: "1",
    state: join(home, "state"),
    program: null,
    binary: null,
    readVersion: async () => null,
    readSessionIds: async () => null,
  });
  const findings = (await Promise.all(parts.map((part) => part.findings))).flat();
  expect(findings.find(({ id }) => id === "codex.untrusted")).toMatchObject({
    state: "fail",
    text: "the hooks are not trusted: Codex does not run them",
    fix: expect.stringContaining("Trust all"),
  });
});

test("the work guard's hook, which is added later, has a name of its own", () => {
  const platform = "linux" as const;
  const options = { version: null, binary: "/home/dev/.local/bin/beckon", home: null, platform };
  const hooks = { edits: true, starts: false, documents: true };
  const text = codexSetup.createGuardRegistration?.(options, hooks).add(registration.add(null)) ?? "";
  const events = findTrust(path, text, "").map(({ event }) => event);
  expect(events.filter((event) => event.startsWith("PreToolUse"))).toEqual([
    "PreToolUse",
    "PreToolUse of the work guard",
  ]);
});
