import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../package.json";
import { testWith } from "./needs.ts";
import { binary, releaseBinary } from "./repo.ts";
import { waitUntil } from "./wait-until.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-build-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Status {
  readonly sessions: { readonly provider: string; readonly sessionId: string }[];
}

const prompt = (sessionId: string, cwd: string): string =>
  JSON.stringify({ session_id: sessionId, hook_event_name: "UserPromptSubmit", cwd, prompt: "hello" });

describe("the binary", () => {
  testWith(
    "linux",
    "root",
    "unshare",
    "ip",
  )("runs in a root with nothing but itself, glibc, /proc and /dev", async () => {
    const apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"];
    const run = Bun.spawn(
      [...apart, "sh", join(import.meta.dir, "fixtures/empty-root.sh"), releaseBinary, folder],
      {
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()]);
    const [first, ...rest] = stdout.split("\n");
    expect({ first, stderr, exitCode: await run.exited }).toEqual({
      first: `beckon ${version}`,
      stderr: "",
      exitCode: 0,
    });
    const status: Status = JSON.parse(rest.join("\n"));
    expect(status.sessions).toMatchObject([{ provider: "claude", sessionId: "empty-root-1" }]);
  });
});

describe("in a folder whose bunfig.toml and .env are hostile", () => {
  let project = "";
  let home = "";
  let trap = "";
  let elsewhere = "";

  /** The environment of a user's shell, without a variable that would override the .env. */
  const environment = () => ({ HOME: home, PATH: process.env.PATH ?? "", BECKON_PORT: "14488" });
  const start = (...command: string[]) =>
    Bun.spawn(command, { cwd: project, env: environment(), stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  const endpoint = () => [...new Bun.Glob("**/endpoint.json").scanSync({ cwd: home, dot: true })][0];

  beforeEach(() => {
    project = join(folder, "project");
    home = join(folder, "home");
    trap = join(folder, "preload-was-run");
    elsewhere = join(folder, "elsewhere");
    mkdirSync(project);
    mkdirSync(home);
    writeFileSync(join(project, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(project, "preload.ts"), `await Bun.write(${JSON.stringify(trap)}, "");\n`);
    const variables = {
      BECKON_HOME: elsewhere,
      BECKON_URL: "http://127.0.0.1:9",
      BECKON_PROVIDER: "nobody",
      NODE_OPTIONS: "--require ./preload.ts",
      BUN_OPTIONS: "--preload ./preload.ts",
    };
    writeFileSync(
      join(project, ".env"),
      Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
    );
  });

  test("the trap is real: bun itself walks into it", async () => {
    const bun = start(process.execPath, "-e", "console.log(process.env.BECKON_HOME)");
    expect(await bun.stdout.text()).toBe(`${elsewhere}\n`);
    expect(existsSync(trap)).toBe(true);
  });

  test("the app, the forwarder and status take nothing from them", async () => {
    const app = start(binary);
    try {
      await waitUntil(
        () => endpoint() !== undefined || app.exitCode !== null,
        4_000,
        "endpoint.json under HOME",
      );
      expect(endpoint(), "endpoint.json under HOME").toBeDefined();

      const hook = start(binary, "hook", "claude");
      hook.stdin.write(prompt("trapped-1", project));
      hook.stdin.end();
      expect(await hook.exited).toBe(0);
      expect(await hook.stdout.text()).toBe("");

      const status: Status = await start(binary, "status", "--json").stdout.json();
      expect(status.sessions).toMatchObject([{ provider: "claude", sessionId: "trapped-1" }]);
    } finally {
      app.kill();
      await app.exited;
    }
    expect(existsSync(trap)).toBe(false);
    expect(existsSync(elsewhere)).toBe(false);
  });
});
