/** A session that starts while beckon is down starts it: once, for those who can see it, and never against their will. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
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
import { hasAll, testWith } from "../needs.ts";
import { until } from "../world.ts";
import {
  argvOf,
  binary,
  createLaunchWorld,
  environOf,
  type LaunchWorld,
  launchNeeds,
  type Screen,
  startScreen,
} from "./launch-world.ts";

const onScreen = testWith(...launchNeeds);
const limitMs = 30_000;
const agents = listVariables();
const silence = { stdout: "", stderr: "", code: 0 };
let screen: Screen;
let world: LaunchWorld;
beforeAll(async () => {
  if (hasAll(launchNeeds)) screen = await startScreen();
});
afterAll(() => screen?.stop());
beforeEach(() => {
  if (screen) world = createLaunchWorld(screen);
});
afterEach(() => world?.destroy());

/** Decided before the hook ends: there is nothing to wait for. */
function expectNothingStarted(): void {
  expect(existsSync(world.places.launchMarker)).toBe(false);
  expect(world.apps()).toEqual([]);
  expect(world.spool()).toHaveLength(1);
}

describe("a session starts while beckon is down", () => {
  onScreen(
    "thirty at once start one app, and it knows all thirty",
    async () => {
      const count = 30;
      const hooks = Array.from({ length: count }, (_, n) => world.hook(world.payload(`s${n}`)));
      const watching = setInterval(world.apps, 10);
      const ran = await Promise.all(hooks);
      await world.started();
      await until(async () => (await world.sessions()).length === count, 10_000);
      clearInterval(watching);
      expect(ran).toEqual(Array.from({ length: count }, () => silence));
      expect(world.apps()).toHaveLength(1);
      expect(world.seen()).toBe(1);
    },
    limitMs,
  );

  onScreen(
    "the hook does not wait for it, and the agent's pipes are not held open",
    async () => {
      const child = world.agent('"$BECKON" hook claude 9>&1');
      child.stdin.write(world.payload("s"));
      await child.stdin.end();
      // Both end when nobody has them open any more: the app lives on.
      expect([await child.stdout.text(), await child.stderr.text(), await child.exited]).toEqual(["", "", 0]);
      expect(existsSync(world.places.endpoint)).toBe(false);
      await world.started();
      await until(async () => (await world.sessions()).includes("s"), 5_000);
    },
    limitMs,
  );

  onScreen(
    "it stands on its own: its own session, no folder, no file, nothing of the agent's",
    async () => {
      const secrets = {
        ANTHROPIC_API_KEY: "sk",
        GITHUB_TOKEN: "gh",
        TMUX: "/tmp/x,1,0",
        CLAUDECODE: "1",
        TERM_PROGRAM: "tmux",
      };
      await world.hook(world.payload("s"), { ...secrets, LANG: "de_DE.UTF-8" });
      const pid = await world.started();
      expect(argvOf(pid).slice(1)).toEqual(["run", "--from-hook"]);
      const environ = environOf(pid);
      expect(environ).toContain("LANG=de_DE.UTF-8");
      expect(environ).toContain(`CLAUDE_CONFIG_DIR=${world.env.CLAUDE_CONFIG_DIR}`);
      for (const name of Object.keys(secrets)) expect(environ.join("\n")).not.toContain(`${name}=`);
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
      for (const fd of [0, 1, 2]) expect(readlinkSync(`/proc/${pid}/fd/${fd}`)).toBe("/dev/null");
      const [, , , session] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      expect(Number(session)).toBe(pid);
      const folders = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
      expect(folders.filter((path) => path.startsWith("pipe:"))).toEqual([]);
    },
    limitMs,
  );

  onScreen(
    "after `beckon stop` it stays down until its person starts it; killed after that, it comes back",
    async () => {
      await world.hook(world.payload("one"));
      await world.started();
      expect(await world.beckon("stop")).toStartWith("beckon is stopped.");
      expect(await world.hook(world.payload("two"))).toEqual(silence);
      expectNothingStarted();

      expect(await launchDetached(binary, world.env, { agents })).toBe(true);
      const pid = await world.started();
      expect(existsSync(world.places.offMarker)).toBe(false);
      expect(await launchDetached(binary, world.env, { agents })).toBe(true);
      expect(world.apps()).toEqual([pid]);
      process.kill(pid, "SIGKILL");
      await until(() => !isAlive(pid, null), 5_000);
      // The last of its threads takes the lock with it.
      await stopRunning(world.places);
      await world.hook(world.payload("three"));
      await until(async () => world.apps().length === 1 && (await world.started()) !== pid, 10_000);
      await until(async () => (await world.sessions()).length === 3, 5_000);
      expect(await stopRunning(world.places)).toBe("stopped");
      expect(await stopRunning(world.places)).toBe("not running");
      expect(world.apps()).toEqual([]);
    },
    limitMs,
  );

  onScreen(
    "installed with a folder of its own, which only the hook's command names, it is started there",
    async () => {
      const places = resolvePaths({ BECKON_HOME: join(world.home, "own") });
      expect(await launchDetached(binary, { ...world.env, BECKON_HOME: places.state }, { agents })).toBe(
        true,
      );
      expect(await stopRunning(places)).toBe("stopped");
      await world.hook(world.payload("s"), {}, "export BECKON_HOME=own");
      await until(() => existsSync(places.endpoint), 10_000);
      await until(
        () => existsSync(places.snapshot) && readFileSync(places.snapshot, "utf8").includes('"s"'),
        10_000,
      );
      expect(existsSync(world.places.state)).toBe(false);
      expect(await stopRunning(places)).toBe("stopped");
    },
    limitMs,
  );

  onScreen(
    "a start that came to nothing is tried again, but not at once",
    async () => {
      mkdirSync(world.places.state, { recursive: true, mode: 0o700 });
      writeFileSync(world.places.launchMarker, "");
      await world.hook(world.payload("one"));
      expect(world.apps()).toEqual([]);
      const old = new Date(Date.now() - 20_000);
      utimesSync(world.places.launchMarker, old, old);
      await world.hook(world.payload("two"));
      await world.started();
      await until(async () => (await world.sessions()).length === 2, 5_000);
    },
    limitMs,
  );
});

describe("it is left down", () => {
  const cases: Record<string, [more: Record<string, string | undefined>, payload?: object]> = {
    "where there is no desktop": [{ DISPLAY: undefined }],
    "where there is only a session bus": [
      { DISPLAY: undefined, DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus" },
    ],
    "where the desktop is gone": [
      { DISPLAY: ":64999", WAYLAND_DISPLAY: "wayland-9", XDG_RUNTIME_DIR: "/nowhere" },
    ],
    "where the desktop is another machine's": [{ DISPLAY: "localhost:10.0" }],
    "over ssh": [{ SSH_CONNECTION: "10.0.0.1 5 10.0.0.2 22" }],
    "in CI": [{ CI: "true" }],
    "in a run that nobody sits at": [{ CLAUDE_CODE_SESSION_ATTENDED: "0" }],
    "under sudo": [{ SUDO_UID: "1000" }],
    "where hooks go elsewhere": [{ BECKON_URL: "http://127.0.0.1:9" }],
    "in a folder of its own that it has never been in": [{ BECKON_HOME: "/tmp/beckon-launch-never" }],
    "when a conversation is compacted": [{}, { source: "compact" }],
    "for any other event": [{}, { hook_event_name: "UserPromptSubmit", prompt: "go" }],
  };
  for (const [where, [more, payload]] of Object.entries(cases)) {
    onScreen(where, async () => {
      const given = { ...more, ...(more.BECKON_HOME ? { BECKON_HOME: join(world.home, "never") } : {}) };
      expect(await world.hook(world.payload("s", payload), given)).toEqual(silence);
      if (!more.BECKON_HOME) return expectNothingStarted();
      expect(world.apps()).toEqual([]);
      expect(readdirSync(join(world.home, "never"))).toEqual(["spool.jsonl"]);
    });
  }

  onScreen("where the person's settings say so", async () => {
    mkdirSync(dirname(world.places.config), { recursive: true });
    writeFileSync(world.places.config, '{ "autoLaunch": false }');
    await world.hook(world.payload("s"));
    expectNothingStarted();
  });

  test("by everything that says that its person is not here", () => {
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

describe("what a project's settings could try", () => {
  onScreen(
    "variables that the agent's settings set do not reach the app",
    async () => {
      const evil = join(world.home, "evil");
      mkdirSync(join(evil, "beckon"), { recursive: true });
      writeFileSync(join(evil, "beckon/config.json"), '{ "alerts": { "blocked": false } }');
      const first = `export PATH=${evil}:$PATH XDG_CONFIG_HOME=${evil} DBUS_SESSION_BUS_ADDRESS=tcp:host=evil.example,port=1 LD_LIBRARY_PATH=${evil}`;
      expect(await world.hook(world.payload("s"), {}, first)).toEqual(silence);
      const pid = await world.started();
      expect(environOf(pid).join("\n")).not.toContain("evil");
    },
    limitMs,
  );

  onScreen("another state folder gets no app", async () => {
    const folder = join(world.home, "elsewhere");
    expect(await world.hook(world.payload("s"), {}, `export XDG_STATE_HOME=${folder}`)).toEqual(silence);
    expect(world.apps()).toEqual([]);
    expect(readdirSync(join(folder, "beckon"))).toEqual(["spool.jsonl"]);
  });

  test("what is shown goes to this machine's screen only", () => {
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
  /** The hook runs already, and waits for its event, when something happens to its binary. */
  async function spoiled(spoil: (copy: string) => void) {
    const copy = join(world.home, "bin/beckon");
    copyFileSync(binary, copy);
    chmodSync(copy, 0o755);
    const child = world.agent('"$BECKON" hook claude', { BECKON: copy });
    const hook = () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
    await until(() => hook() > 0 && isWaiting(hook()), 5_000);
    spoil(copy);
    child.stdin.write(world.payload("s"));
    await child.stdin.end();
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect({ stdout, stderr, code: await child.exited }).toEqual(silence);
    expect(world.spool()).toHaveLength(1);
    expect(world.apps()).toEqual([]);
    return readFileSync(world.places.hookLog, "utf8");
  }
  /** It has set up its signals, the last thing before it reads. */
  function isWaiting(pid: number): boolean {
    const caught = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & (1n << 14n)) !== 0n;
  }

  onScreen(
    "a binary that may not be run any more: said in the log alone, and the event is kept",
    async () => {
      expect(await spoiled((copy) => chmodSync(copy, 0o644))).toContain(
        "beckon could not be started (EACCES)",
      );
    },
  );

  onScreen("a binary that is gone: the same", async () => {
    expect(await spoiled((copy) => rmSync(copy))).toContain("beckon could not be started (ENOENT)");
  });
});
