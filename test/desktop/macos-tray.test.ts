import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { Tray } from "../../src/core/interfaces/index.ts";
import type { MacSettings } from "../../src/desktop/macos/index.ts";
import { openMacTrayWith } from "../../src/desktop/tray/macos.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { createView, focus, type HelperHarness, quit, startHarness } from "./macos/helper-harness.ts";

const program = join(import.meta.dir, "../fixtures/mac-app.ts");
const limitMs = 20_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

interface Opened {
  readonly harness: HelperHarness;
  readonly tray: Tray;
  readonly actions: UserAction[];
  readonly problems: string[];
}

async function open(over: Partial<MacSettings> = {}): Promise<Opened> {
  const harness = await startHarness(over);
  const actions: UserAction[] = [];
  const problems: string[] = [];
  const tray = await openMacTrayWith(
    {
      folder: harness.folder,
      onAction: (action) => actions.push(action),
      onProblem: (text) => problems.push(text),
    },
    harness.settings,
  );
  cleanups.push(harness.stop, tray.stop);
  return { harness, tray, actions, problems };
}

test("icon, number and menu are shown, and a choice is reported as its action", async () => {
  const { harness, tray, actions, problems } = await open();
  tray.show(
    createView("web waits", {
      icon: { phase: "blocked", count: 3 },
      items: [
        { kind: "entry", id: "head", label: "Needs you (3)", action: null },
        { kind: "entry", id: "web", label: "Go to web", action: focus },
        { kind: "separator", id: "line" },
        { kind: "entry", id: "quit", label: "Quit", action: quit },
      ],
    }),
  );
  await harness.waitForScreen(({ tooltip }) => tooltip === "web waits");
  const seen = await harness.perform({ do: "openMenu" });
  expect(seen).toMatchObject({ number: "3", labels: ["Needs you (3)", "Go to web", "separator", "Quit"] });
  await harness.perform({ do: "choose", label: "Go to web" });
  await waitUntil(() => actions.length > 0, limitMs);
  expect(actions).toEqual([focus]);
  expect(problems).toEqual([]);
});

test("a choice in an open menu means what the user read, not what the menu would be now", async () => {
  const { harness, tray, actions } = await open();
  const mute = (on: boolean): UserAction => ({ do: "mute", session: "claude:1", on });
  const view = (on: boolean, tooltip: string) =>
    createView(tooltip, {
      items: [{ kind: "entry", id: "mute", label: on ? "Mute" : "Unmute", action: mute(on) }],
    });
  tray.show(view(true, "one"));
  await harness.waitForScreen(({ tooltip }) => tooltip === "one");
  await harness.perform({ do: "openMenu" });
  for (const tooltip of ["two", "three", "four"]) {
    tray.show(view(false, tooltip));
    await harness.waitForScreen((screen) => screen.tooltip === tooltip);
  }
  await harness.perform({ do: "choose", label: "Mute" });
  await waitUntil(() => actions.length > 0, limitMs);
  expect(actions).toEqual([mute(true)]);
  await harness.perform({ do: "openMenu" });
  await harness.perform({ do: "choose", label: "Unmute" });
  await waitUntil(() => actions.length > 1, limitMs);
  expect(actions[1]).toEqual(mute(false));
});

test("a killed helper is restarted with the same icon and menu", async () => {
  const { harness, tray, actions, problems } = await open();
  tray.show(createView("still here", { icon: { phase: "blocked", count: 2 } }));
  const { pid } = await harness.waitForScreen(({ tooltip }) => tooltip === "still here");
  process.kill(pid, "SIGKILL");
  const again = await harness.waitForScreen(
    (screen) => screen.pid !== pid && screen.tooltip === "still here",
  );
  expect(again.number).toBe("2");
  await harness.perform({ do: "openMenu" });
  await harness.perform({ do: "choose", label: "Quit" });
  await waitUntil(() => actions.length > 0, limitMs);
  expect(problems).toEqual([
    "the menu-bar helper (osascript) was killed by SIGKILL. beckon starts it again in 0.02 s.",
  ]);
});

test("the last error of the helper is in the log", async () => {
  const { harness, tray, problems } = await open();
  tray.show(createView("a"));
  await harness.waitForScreen(({ tooltip }) => tooltip === "a");
  await harness
    .perform({ do: "exit", code: 1, stderr: "\nexecution error: Error: no such thing (-2700)\n" })
    .catch(() => {});
  await waitUntil(() => problems.length > 0, limitMs);
  expect(problems[0]).toContain("ended with 1: execution error: Error: no such thing (-2700)");
});

test("a helper that hangs is killed and restarted", async () => {
  const { harness, tray, problems } = await open({ answerTimeoutMs: 2_000 });
  tray.show(createView("a"));
  const { pid } = await harness.waitForScreen(({ tooltip }) => tooltip === "a");
  await harness.perform({ do: "freeze" });
  await harness.waitForScreen((screen) => screen.pid !== pid && screen.tooltip === "a");
  expect(isAlive(pid)).toBe(false);
  expect(problems[0]).toContain("did not answer within 2 s");
});

test("unknown lines are reported once and ignored, and split lines are joined", async () => {
  const { harness, tray, actions, problems } = await open();
  tray.show(createView("a"));
  await harness.waitForScreen(({ tooltip }) => tooltip === "a");
  await harness.perform({ do: "openMenu" });
  await harness.perform({
    do: "print",
    text: 'garbage\n{"type":"action"}\n[1]\n{"type":"pong","batch":-1}\n',
  });
  await harness.perform({ do: "print", text: "a line without end ", times: 20_000 });
  await harness.perform({ do: "print", text: "\n" });
  await harness.perform({ do: "print", text: '{"type":"action","batch":999,"id":"quit"}\n{"type":"acti' });
  const { views } = await harness.perform({
    do: "print",
    text: 'on","batch":1,"id":"nothing of that name"}\n',
  });
  await harness.perform({ do: "choose", label: "Quit" });
  await waitUntil(() => actions.length > 0, limitMs);
  expect(actions).toEqual([quit]);
  expect(views).toBe(1);
  expect(problems).toEqual(["the menu-bar helper (osascript) wrote a line that beckon does not understand."]);
  expect(harness.starts()).toBe(1);
});

test("of 10,000 views for a slow helper the last one is shown, and few are sent", async () => {
  const { harness, tray } = await open();
  tray.show(createView("first"));
  await harness.waitForScreen(({ tooltip }) => tooltip === "first");
  await harness.perform({ do: "delay", ms: 50 });
  for (let count = 1; count <= 10_000; count += 1) {
    tray.show(createView(`view ${count}`));
    if (count % 100 === 0) await letTimePass(1, "views come over a while, not in one turn");
  }
  const { views } = await harness.waitForScreen(({ tooltip }) => tooltip === "view 10000");
  expect(views).toBeLessThan(500);
});

test("if the helper does not stay up, each failure is reported with its reason, and so is the missing icon", async () => {
  const { tray, problems, harness } = await open({
    command: () => ["/bin/sh", "-c", "echo no window server >&2; exit 1"],
    maxFailures: 3,
  });
  tray.show(createView("one"));
  await waitUntil(() => problems.length === 4, limitMs);
  expect(problems[0]).toContain("ended with 1: no window server. beckon starts it again in 0.02 s.");
  expect(problems[1]).toContain("in 0.04 s.");
  expect(problems[2]).toContain("in 0.08 s.");
  expect(problems[3]).toStartWith("no icon in the menu bar: the helper (osascript) does not stay up");
  expect(harness.starts()).toBe(0);
  expect((await tray.report()).missing).toContain("does not stay up");
});

test("a missing icon is reported once, and the helper is tried again", async () => {
  let tries = 0;
  const { problems } = await open({
    command: () => {
      tries += 1;
      return ["/nowhere/osascript"];
    },
    firstRestartMs: 2,
    maxRestartMs: 5,
    maxFailures: 3,
  });
  await waitUntil(() => tries > 10, limitMs);
  expect(problems).toHaveLength(4);
  expect(problems[3]).toContain("goes on without it");
});

test("the helper ends with beckon, by itself", async () => {
  const { harness, tray } = await open();
  tray.show(createView("a"));
  const { pid } = await harness.waitForScreen(({ tooltip }) => tooltip === "a");
  await tray.stop();
  expect(isAlive(pid)).toBe(false);
  expect(harness.hasExited()).toBe(true);
  expect(harness.starts()).toBe(1);
});

test("if beckon is killed, its icon is gone", async () => {
  const harness = await startHarness();
  cleanups.push(harness.stop);
  const app = Bun.spawn(
    [process.execPath, program, harness.folder, ...harness.settings.command(harness.folder)],
    {
      stdout: "ignore",
      stderr: "inherit",
    },
  );
  cleanups.push(async () => app.kill("SIGKILL"));
  const { pid } = await harness.waitForScreen(({ tooltip }) => tooltip === "of an app");
  app.kill("SIGKILL");
  await waitUntil(() => !isAlive(pid), limitMs);
});
