/** What tests of doctor share: hooks as install writes them, and the binary that they call. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hooksFor } from "../../src/agents/claude/hooks.ts";
import { claudeSetup } from "../../src/agents/claude/setup/index.ts";
import type { Finding } from "../../src/agents/finding.ts";
import { createHooks } from "../../src/agents/setup/hooks-setup.ts";
import { addHooks } from "../../src/user-files/hooks.ts";
import { binary } from "../repo.ts";
import { waitForValue } from "../wait-until.ts";

const claudeVersion = "2.1.325";

/** A `claude` program that prints its version. */
export function writeClaude(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "claude"), `#!/bin/sh\necho '${claudeVersion} (Claude Code)'\n`, {
    mode: 0o755,
  });
}

export function createSettingsText(home: string, called = binary): string {
  const options = { version: claudeVersion, binary: called, home, platform: "linux" } as const;
  return addHooks(null, createHooks("claude", hooksFor(claudeVersion), options, true)).text;
}

/** How doctor tests an agent that is not there. */
export const createLiveTest = () =>
  claudeSetup.examine({
    env: { HOME: "/nowhere", PATH: "" },
    cwd: null,
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    version: "1.0.0",
    state: "/nowhere",
    program: null,
    binary: null,
    readSessionIds: async () => null,
    readVersion: async () => null,
  }).liveTest;

export function writeSettings(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

type Doctor = Bun.Subprocess<"ignore", "pipe", "pipe">;

const retryMs = 20_000;

export interface DoctorReport {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly code: number;
  readonly ms: number;
  /** Failures and warnings, like `fail hooks.none`, except for `app.slow`, which a busy machine causes. */
  readonly problems: readonly string[];
  readonly ids: readonly string[];
  of(id: string): Finding;
}

/** Runs doctor, and again for as long as it finds the machine too busy to judge: that is what it tells the user to do. */
export const runDoctor = (start: () => Doctor): Promise<DoctorReport> =>
  waitForValue(
    () => readReport(start()),
    ({ ids }) => !ids.includes("live.slow"),
    retryMs,
  );

async function readReport(child: Doctor): Promise<DoctorReport> {
  const started = performance.now();
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (err !== "") throw new Error(err);
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  return {
    ok,
    findings,
    code,
    ms: performance.now() - started,
    problems: findings
      .filter(({ state, id }) => (state === "fail" || state === "warn") && id !== "app.slow")
      .map(({ state, id }) => `${state} ${id}`)
      .sort(),
    ids: findings.map(({ id }) => id),
    of(id) {
      const match = findings.find((finding) => finding.id === id);
      if (!match) throw new Error(`no ${id} in ${findings.map((finding) => finding.id)}`);
      return match;
    },
  };
}
