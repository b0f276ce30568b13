/** The program for Linux on arm64, emulated: it starts, and the app takes events. */
import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json";
import { compile, writePage } from "../../src/release/compile.ts";
import { findTarget } from "../../src/release/targets.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const needs = ["linux", "qemu-aarch64"] as const;
const emulated = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];
const limitMs = 240_000;
let folder = "";
let program = "";

beforeAll(async () => {
  if (!hasAll(needs)) return;
  folder = mkdtempSync(join(tmpdir(), "beckon-arm64-"));
  program = join(folder, "beckon");
  await writePage();
  await compile({ outfile: program, target: findTarget("linux-arm64") });
}, limitMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

testWith(...needs)(
  "prints its version, and its app lists a session that a hook reports",
  async () => {
    const said = Bun.spawnSync([...emulated, program, "--version"]);
    expect(said.stdout.toString()).toBe(`beckon ${version}\n`);

    const state = join(folder, "state");
    const env = { HOME: folder, PATH: process.env.PATH ?? "", BECKON_HOME: state };
    const app = Bun.spawn([...emulated, program], { env, stdout: "ignore", stderr: "pipe" });
    try {
      const endpoint = join(state, "endpoint.json");
      await waitUntil(() => existsSync(endpoint) || app.exitCode !== null, 120_000);
      const { url } = JSON.parse(readFileSync(endpoint, "utf8"));
      const authorization = readFileSync(join(state, "auth-header"), "utf8")
        .trim()
        .replace("Authorization: ", "");
      const headers = { authorization, "content-type": "application/json" };
      const payload = { session_id: "s", hook_event_name: "UserPromptSubmit", prompt: "go", cwd: "/tmp" };
      const body = JSON.stringify({ provider: "claude", _meta: { id: "e1" }, payload });
      expect((await fetch(`${url}/api/hook`, { method: "POST", headers, body })).status).toBe(200);
      const listed = await (await fetch(`${url}/api/sessions`, { headers })).json();
      expect(listed).toMatchObject({ sessions: [{ sessionId: "s", lastPrompt: "go" }] });
    } finally {
      app.kill("SIGKILL");
      await app.exited;
    }
  },
  limitMs,
);
