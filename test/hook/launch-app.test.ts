/** A session that starts while beckon is down starts beckon: once, only with a desktop, and never if the user turned it off. */

import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { listVariables } from "../../src/agents/index.ts";
import { stopRunning } from "../../src/cli/stop.ts";
import { isUserHere } from "../../src/hook/launch-app.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { createAppEnvironment } from "../../src/system/app-environment.ts";
import { launchDetached } from "../../src/system/launch.ts";
import { isAlive } from "../../src/system/processes.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { catchesSigterm } from "./harness.ts";
import { readArguments, readEnvironment } from "./launch-harness.ts";
import { createLaunchTests } from "./launch-tests.ts";

const { onScreen, harness } = createLaunchTests();
const limitMs = 30_000;
const agents = listVariables();
const silence = { stdout: "", stderr: "", code: 0 };

/** The hook decides before it exits, so there is nothing to wait for. */
function expectNothingStarted(): void {
  expect(existsSync(harness.places.launchMarker)).toBe(false);
  expect(harness.apps()).toEqual([]);
  expect(harness.spool()).toHaveLength(1);
}

/** "" if the app, which is starting, has closed it meanwhile. */
function readOpenFile(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

describe("a session starts while beckon is down", () => {
  onScreen(
    "thirty at once start one app, which knows all thirty",
    async () => {
      const count = 30;
      const hooks = Array.from({ length: count }, (_, n) => harness.hook(harness.payload(`s${n}`)));
      const watching = setInterval(harness.apps, 10);
      const result = await Promise.all(hooks);
      await harness.started();
      await waitUntil(async () => (await harness.sessions()).length === count, 10_000);
      clearInterval(watching);
      expect(result).toEqual(Array.from({ length: count }, () => silence));
      expect(harness.apps()).toHaveLength(1);
      expect(harness.seen()).toBe(1);
    },
    limitMs,
  );

  onScreen(
    "the hook does not wait for the app, and the app does not keep the agent's pipes open",
    async () => {
      const child = harness.agent('"$BECKON" hook claude 9>&1');
      child.stdin.write(harness.payload("s"));
      await child.stdin.end();
      // Both streams end when no process has them open. The app keeps running.
      expect([await child.stdout.text(), await child.stderr.text(), await child.exited]).toEqual(["", "", 0]);
      expect(existsSync(harness.places.endpoint)).toBe(false);
      await harness.started();
      await waitUntil(async () => (await harness.sessions()).includes("s"), 5_000);
    },
    limitMs,
  );

  onScreen(
    "the app is independent: its own session, no folder, no file, no variable of the agent's",
    async () => {
      const secrets = {
        ANTHROPIC_API_KEY: "sk",
        GITHUB_TOKEN: "gh",
        TMUX: "/tmp/x,1,0",
        CLAUDECODE: "1",
        TERM_PROGRAM: "tmux",
      };
      await harness.hook(harness.payload("s"), { ...secrets, LANG: "de_DE.UTF-8" });
      const pid = await harness.started();
      expect(readArguments(pid).slice(1)).toEqual(["run", "--from-hook"]);
      const environ = readEnvironment(pid);
      expect(environ).toContain("LANG=de_DE.UTF-8");
      expect(environ).toContain(`CLAUDE_CONFIG_DIR=${harness.env.CLAUDE_CONFIG_DIR}`);
      for (const name of Object.keys(secrets)) expect(environ.join("\n")).not.toContain(`${name}=`);
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
      for (const fd of [0, 1, 2]) expect(readlinkSync(`/proc/${pid}/fd/${fd}`)).toBe("/dev/null");
      const [, , , session] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      expect(Number(session)).toBe(pid);
      const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readOpenFile(`/proc/${pid}/fd/${fd}`));
      expect(files.filter((path) => path.startsWith("pipe:"))).toEqual([]);
    },
    limitMs,
  );

  onScreen(
    "after `beckon stop` it stays down until the user starts it; killed after that, it is started again",
    async () => {
      await harness.hook(harness.payload("one"));
      await harness.started();
      expect(await harness.beckon("stop")).toStartWith("beckon is stopped.");
      expect(await harness.hook(harness.payload("two"))).toEqual(silence);
      expectNothingStarted();

      expect(await launchDetached(binary, harness.env, { agents })).toBe(true);
      const pid = await harness.started();
      // The app answers a moment before it removes the marker.
      await waitUntil(() => !existsSync(harness.places.offMarker), 5_000);
      expect(await launchDetached(binary, harness.env, { agents })).toBe(true);
      expect(harness.apps()).toEqual([pid]);
      process.kill(pid, "SIGKILL");
      await waitUntil(() => !isAlive(pid, null), 5_000);
      // The lock is released with the last of its threads.
      await stopRunning(harness.places);
      await harness.hook(harness.payload("three"));
      await waitUntil(async () => harness.apps().length === 1 && (await harness.started()) !== pid, 10_000);
      await waitUntil(async () => (await harness.sessions()).length === 3, 5_000);
      expect(await stopRunning(harness.places)).toBe("stopped");
      expect(await stopRunning(harness.places)).toBe("not running");
      expect(harness.apps()).toEqual([]);
    },
    limitMs,
  );

  onScreen(
    "with a BECKON_HOME that only the hook's command sets, the app is started there",
    async () => {
      const places = resolvePaths({ BECKON_HOME: join(harness.home, "own") });
      expect(await launchDetached(binary, { ...harness.env, BECKON_HOME: places.state }, { agents })).toBe(
        true,
      );
      expect(await stopRunning(places)).toBe("stopped");
      await harness.hook(harness.payload("s"), {}, `export BECKON_HOME=${places.state}`);
      await waitUntil(() => existsSync(places.endpoint), 10_000);
      await waitUntil(
        () => existsSync(places.snapshot) && readFileSync(places.snapshot, "utf8").includes('"s"'),
        10_000,
      );
      expect(readdirSync(harness.places.state)).toEqual(["beckon-folders"]);
      expect(await stopRunning(places)).toBe("stopped");
    },
    limitMs,
  );

  onScreen(
    "a start that failed is tried again, but not at once",
    async () => {
      mkdirSync(harness.places.state, { recursive: true, mode: 0o700 });
      writeFileSync(harness.places.launchMarker, "");
      await harness.hook(harness.payload("one"));
      expect(harness.apps()).toEqual([]);
      const old = new Date(Date.now() - 20_000);
      utimesSync(harness.places.launchMarker, old, old);
      await harness.hook(harness.payload("two"));
      await harness.started();
      await waitUntil(async () => (await harness.sessions()).length === 2, 5_000);
    },
    limitMs,
  );
});

describe("beckon is not started", () => {
  const cases: Record<string, [more: Record<string, string | undefined>, payload?: object]> = {
    "without a desktop": [{ DISPLAY: undefined }],
    "with nothing but a session bus": [
      { DISPLAY: undefined, DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus" },
    ],
    "if the desktop is gone": [
      { DISPLAY: ":64999", WAYLAND_DISPLAY: "wayland-9", XDG_RUNTIME_DIR: "/nowhere" },
    ],
    "if the desktop is on another machine": [{ DISPLAY: "localhost:10.0" }],
    "over ssh": [{ SSH_CONNECTION: "10.0.0.1 5 10.0.0.2 22" }],
    "in CI": [{ CI: "true" }],
    "in an unattended run": [{ CLAUDE_CODE_SESSION_ATTENDED: "0" }],
    "under sudo": [{ SUDO_UID: "1000" }],
    "if BECKON_URL sends events elsewhere": [{ BECKON_URL: "http://127.0.0.1:9" }],
    "when a conversation is compacted": [{}, { source: "compact" }],
    "for any other event": [{}, { hook_event_name: "UserPromptSubmit", prompt: "go" }],
  };
  for (const [where, [more, payload]] of Object.entries(cases)) {
    onScreen(where, async () => {
      expect(await harness.hook(harness.payload("s", payload), more)).toEqual(silence);
      expectNothingStarted();
    });
  }

  onScreen("if the user's settings say so", async () => {
    mkdirSync(dirname(harness.places.config), { recursive: true });
    writeFileSync(harness.places.config, '{ "autoLaunch": false }');
    await harness.hook(harness.payload("s"));
    expectNothingStarted();
  });

  test("if anything shows that the user is not here", () => {
    expect(isUserHere({ SUDO_UID: "1000" }, 1000)).toBe(true);
    expect(isUserHere({ CI: "false" }, 1000)).toBe(true);
    for (const env of [
      { SUDO_UID: "1000" },
      { PKEXEC_UID: "1000" },
      { DOAS_USER: "ann" },
      { SSH_TTY: "/dev/pts/1" },
      { SSH_CLIENT: "10.0.0.1 5 22" },
      { CI: "1" },
      { BECKON_URL: "https://elsewhere.example" },
      ...(existsSync("/mnt/wslg") ? [] : [{ WSL_DISTRO_NAME: "Debian" }]),
    ]) {
      expect(isUserHere(env, 0), JSON.stringify(env)).toBe(false);
    }
  });
});

describe("a project's settings", () => {
  onScreen(
    "cannot pass variables to the app",
    async () => {
      const evil = join(harness.home, "evil");
      mkdirSync(join(evil, "beckon"), { recursive: true });
      writeFileSync(join(evil, "beckon/config.json"), '{ "alerts": { "blocked": false } }');
      const first = `export PATH=${evil}:$PATH XDG_CONFIG_HOME=${evil} DBUS_SESSION_BUS_ADDRESS=tcp:host=evil.example,port=1 LD_LIBRARY_PATH=${evil}`;
      expect(await harness.hook(harness.payload("s"), {}, first)).toEqual(silence);
      const pid = await harness.started();
      expect(readEnvironment(pid).join("\n")).not.toContain("evil");
    },
    limitMs,
  );

  for (const name of ["BECKON_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]) {
    onScreen(`cannot start an app in another folder: ${name}`, async () => {
      const folder = join(harness.home, "elsewhere");
      expect(await harness.hook(harness.payload("s"), {}, `export ${name}=${folder}`)).toEqual(silence);
      await harness.started();
      await waitUntil(async () => (await harness.sessions()).includes("s"), 5_000);
      expect(existsSync(folder)).toBe(false);
    });
  }

  test("cannot send what the app shows to another machine", () => {
    const abroad = {
      DISPLAY: "evil.example:0",
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/x;tcp:host=evil.example",
    };
    expect(createAppEnvironment(abroad, agents)).toEqual({});
    const here = { DISPLAY: ":1", DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus,guid=1" };
    expect(createAppEnvironment(here, agents)).toEqual(here);
  });
});

describe("a start that fails", () => {
  /** Changes the binary while the hook runs and waits for its event. */
  async function spoiled(spoil: (copy: string) => void) {
    const copy = join(harness.home, "bin/beckon");
    copyFileSync(binary, copy);
    chmodSync(copy, 0o755);
    const child = harness.agent('"$BECKON" hook claude', { BECKON: copy });
    const hook = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
    await waitUntil(() => hook() > 0 && catchesSigterm(hook()), 5_000);
    spoil(copy);
    child.stdin.write(harness.payload("s"));
    await child.stdin.end();
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ stdout, stderr, code: await child.exited }).toEqual(silence);
    expect(harness.spool()).toHaveLength(1);
    expect(harness.apps()).toEqual([]);
    return readFileSync(harness.places.hookLog, "utf8");
  }
  onScreen("a binary that is no longer executable is logged, and the event is spooled", async () => {
    expect(await spoiled((copy) => chmodSync(copy, 0o644))).toContain("beckon could not be started (EACCES)");
  });

  onScreen("a binary that is gone is logged, and the event is spooled", async () => {
    expect(await spoiled((copy) => rmSync(copy))).toContain("beckon could not be started (ENOENT)");
  });
});
