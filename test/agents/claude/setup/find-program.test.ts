/** Claude Code is found where users install it, also by a program without the user's PATH. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { claudeSetup, createClaudeSetup } from "../../../../src/agents/claude/setup/index.ts";
import type { SearchOptions } from "../../../../src/agents/setup/find-program.ts";
import { exec } from "../../../../src/system/exec.ts";
import { testWith } from "../../../needs.ts";
import { type Home, removeHomes, temporaryHome } from "../../../setup/home.ts";

afterAll(removeHomes);

const find = ({ env }: Home, more: Partial<SearchOptions> = {}) =>
  createClaudeSetup({ systemPaths: more.systemPaths ?? [] }).findProgram({
    env,
    exec,
    remembered: null,
    ...more,
  });
const says = "2.1.325 (Claude Code)";

describe("Claude Code is found", () => {
  test.each([
    ["in PATH", ["programs", "claude"]],
    ["where its own installer puts it", [".local", "bin", "claude"]],
    ["where its older installer put it", [".claude", "local", "claude"]],
    ["in the user's own folder, which a login without a terminal has not in PATH", ["bin", "claude"]],
    ["in the user's npm folder", [".npm-global", "bin", "claude"]],
    ["in nvm's newest node", [".nvm", "versions", "node", "v22.10.0", "bin", "claude"]],
  ])("%s", async (_, place) => {
    const home = temporaryHome();
    home.script(home.at(".nvm", "versions", "node", "v9.11.0", "bin", "claude"), "1.0.0 (Claude Code)");
    const path = home.script(home.at(...place), says);
    expect((await find(home)).program).toEqual({ path, version: "2.1.325" });
  });

  test("where npm's settings say", async () => {
    const home = temporaryHome();
    const path = home.script(home.at("tools", "bin", "claude"), says);
    home.put(home.at(".npmrc"), "registry=https://example.org/\nprefix = $HOME/tools\n");
    expect((await find(home)).program?.path).toBe(path);
  });

  test("in PATH first, then where it was at the last install, then in the usual folders", async () => {
    const home = temporaryHome();
    const systemPaths = [home.script(home.at("usr", "claude"), "1.0.0")];
    const last = home.script(home.at("last", "claude"), "1.2.3");
    const remembered = { path: last, version: "1.2.0" };
    expect((await find(home, { systemPaths, remembered })).program).toEqual({ path: last, version: "1.2.3" });
    const path = home.claude("2.1.325");
    expect((await find(home, { systemPaths, remembered })).program?.path).toBe(path);
  });

  test("in the next folder if the first one does not print its version", async () => {
    const home = temporaryHome();
    const broken = home.put(home.at("programs", "claude"), "#!/no/such/interpreter\n", 0o755);
    const path = home.script(home.at(".local", "bin", "claude"), says);
    expect(await find(home)).toEqual({ program: { path, version: "2.1.325" }, silent: [broken] });
  });
});

test("a program that does not print its version is not called missing", () => {
  const search = { program: null, silent: ["/usr/bin/claude"] };
  const found = "Found Claude Code at /usr/bin/claude, but it did not print its version";
  expect(claudeSetup.describeProgram(search, "2.1.325")).toEqual([
    `${found}: beckon assumes 2.1.325, as at the last install.`,
  ]);
  expect(claudeSetup.describeProgram(search, null)[0]).toStartWith(
    `${found}: beckon registers the hooks that`,
  );
  expect(claudeSetup.describeProgram({ program: null, silent: [] }, null)[0]).toStartWith(
    "Claude Code was not found",
  );
});

testWith("linux")("a running session shows which program it is", async () => {
  const home = temporaryHome();
  // Any program that says a version and can also stay.
  const path = home.put(home.at("odd", "claude"), readFileSync(process.execPath), 0o755);
  const session = Bun.spawn([path, "-e", "console.log(1); setTimeout(() => {}, 600_000)"], {
    stdout: "pipe",
  });
  try {
    await session.stdout.getReader().read();
    const stat = readFileSync(`/proc/${session.pid}/stat`, "utf8");
    const procStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const file = home.at(".claude", "sessions", `${session.pid}.json`);
    home.put(file, JSON.stringify({ pid: session.pid, procStart }));
    expect((await find(home)).program).toEqual({ path, version: Bun.version });
    home.put(file, JSON.stringify({ pid: session.pid, procStart: "1" }));
    expect((await find(home)).program).toBeNull();
  } finally {
    session.kill("SIGKILL");
  }
});

describe("it is not", () => {
  test.each([
    ["a folder", (home: Home) => mkdirSync(home.at("programs", "claude"), { recursive: true })],
    ["a file that cannot be run", (home: Home) => chmodSync(home.claude("2.1.325"), 0o644)],
  ])("%s", async (_, make) => {
    const home = temporaryHome();
    make(home);
    expect(await find(home)).toEqual({ program: null, silent: [] });
  });

  test.each(["Hello", "", "version two", "2.1"])("a program that says %j", async (text) => {
    const home = temporaryHome();
    const path = home.script(home.at("programs", "claude"), text);
    expect(await find(home)).toEqual({ program: null, silent: [path] });
  });

  test("a program that does not answer in time", async () => {
    const home = temporaryHome();
    const path = home.put(home.at("programs", "claude"), "#!/bin/sh\nexec sleep 600\n", 0o755);
    expect(await find(home, { timeoutMs: 200 })).toEqual({ program: null, silent: [path] });
  });

  test("a program of the current project", async () => {
    const home = temporaryHome();
    home.script(home.at("claude"), says);
    for (const PATH of [".", "", "../../install/", "node_modules/.bin:"]) {
      expect((await find(home, { env: { ...home.env, PATH } })).program).toBeNull();
    }
  });

  test("the one of Windows, in WSL", async () => {
    const home = temporaryHome();
    const asked: string[] = [];
    const env = { ...home.env, WSL_DISTRO_NAME: "Debian", PATH: "/mnt/c/Users/ann/AppData/Roaming/npm" };
    const watching: SearchOptions["exec"] = async ([program = ""]) => {
      asked.push(program);
      return { code: 0, stdout: says, stderr: "" };
    };
    await find(home, { env, exec: watching });
    expect(asked).toEqual([]);
  });
});
