import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { OpenTray, Tray } from "../../src/core/ports.ts";
import type { MacSettings } from "../../src/desktop/macos/shared.ts";
import { openMacTrayWith } from "../../src/desktop/tray/macos.ts";
import { type Desk, focus, openDesk, quit, viewOf } from "./macos/desk.ts";

const program = join(import.meta.dir, "../fixtures/mac-app.ts");
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function until(isSo: () => boolean, timeoutMs = 8_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error("it did not come to that");
    await Bun.sleep(5);
  }
}

interface Set {
  readonly desk: Desk;
  readonly tray: Tray;
  readonly actions: UserAction[];
  readonly problems: string[];
}

async function open(over: Partial<MacSettings> = {}, other: OpenTray = async () => null): Promise<Set> {
  const desk = await openDesk(over);
  const actions: UserAction[] = [];
  const problems: string[] = [];
  const tray = await openMacTrayWith(
    {
      folder: desk.folder,
      onAction: (action) => actions.push(action),
      onProblem: (text) => problems.push(text),
    },
    desk.settings,
    other,
  );
  if (tray === null) throw new Error("no tray");
  ends.push(desk.stop, tray.stop);
  return { desk, tray, actions, problems };
}

test("icon, number and menu are shown, and a choice comes back as what it means", async () => {
  const { desk, tray, actions, problems } = await open();
  tray.show(
    viewOf("web waits", {
      icon: { phase: "blocked", count: 3 },
      items: [
        { kind: "entry", id: "head", label: "Needs you (3)", action: null },
        { kind: "entry", id: "web", label: "Go to web", action: focus },
        { kind: "separator", id: "line" },
        { kind: "entry", id: "quit", label: "Quit", action: quit },
      ],
    }),
  );
  await desk.until(({ tooltip }) => tooltip === "web waits");
  const seen = await desk.do({ do: "open" });
  expect(seen).toMatchObject({ number: "3", labels: ["Needs you (3)", "Go to web", "line", "Quit"] });
  await desk.do({ do: "choose", label: "Go to web" });
  await until(() => actions.length > 0);
  expect(actions).toEqual([focus]);
  expect(problems).toEqual([]);
});

test("what was chosen in an open menu means what the person read, not what has become of it", async () => {
  const { desk, tray, actions } = await open();
  const mute = (on: boolean): UserAction => ({ do: "mute", session: "claude:1", on });
  const view = (on: boolean, tooltip: string) =>
    viewOf(tooltip, {
      items: [{ kind: "entry", id: "mute", label: on ? "Mute" : "Unmute", action: mute(on) }],
    });
  tray.show(view(true, "one"));
  await desk.until(({ tooltip }) => tooltip === "one");
  await desk.do({ do: "open" });
  for (const tooltip of ["two", "three", "four"]) {
    tray.show(view(false, tooltip));
    await desk.until((seen) => seen.tooltip === tooltip);
  }
  await desk.do({ do: "choose", label: "Mute" });
  await until(() => actions.length > 0);
  expect(actions).toEqual([mute(true)]);
  await desk.do({ do: "open" });
  await desk.do({ do: "choose", label: "Unmute" });
  await until(() => actions.length > 1);
  expect(actions[1]).toEqual(mute(false));
});

test("killed, it comes back with the same icon and menu", async () => {
  const { desk, tray, actions, problems } = await open();
  tray.show(viewOf("still here", { icon: { phase: "blocked", count: 2 } }));
  const { pid } = await desk.until(({ tooltip }) => tooltip === "still here");
  process.kill(pid, "SIGKILL");
  const again = await desk.until((seen) => seen.pid !== pid && seen.tooltip === "still here");
  expect(again.number).toBe("2");
  await desk.do({ do: "open" });
  await desk.do({ do: "choose", label: "Quit" });
  await until(() => actions.length > 0);
  expect(problems).toEqual([
    "the menu-bar helper (osascript) was ended by SIGKILL. Starting it again in 0.02 s.",
  ]);
});

test("why it ended is in the log", async () => {
  const { desk, tray, problems } = await open();
  tray.show(viewOf("a"));
  await desk.until(({ tooltip }) => tooltip === "a");
  await desk
    .do({ do: "exit", code: 1, complaint: "\nexecution error: Error: no such thing (-2700)\n" })
    .catch(() => {});
  await until(() => problems.length > 0);
  expect(problems[0]).toContain("ended with 1: execution error: Error: no such thing (-2700)");
});

test("one that hangs is ended and started anew", async () => {
  const { desk, tray, problems } = await open({ silentMs: 400 });
  tray.show(viewOf("a"));
  const { pid } = await desk.until(({ tooltip }) => tooltip === "a");
  await desk.do({ do: "freeze" });
  await desk.until((seen) => seen.pid !== pid && seen.tooltip === "a");
  expect(isAlive(pid)).toBe(false);
  expect(problems[0]).toContain("gave no answer within 0.4 s");
});

test("lines that are not ours are told once and passed over, halves of lines put together", async () => {
  const { desk, tray, actions, problems } = await open();
  tray.show(viewOf("a"));
  await desk.until(({ tooltip }) => tooltip === "a");
  await desk.do({ do: "open" });
  await desk.do({ do: "say", text: 'garbage\n{"is":"action"}\n[1]\n{"is":"pong","batch":-1}\n' });
  await desk.do({ do: "say", text: "a line without end ", times: 20_000 });
  await desk.do({ do: "say", text: "\n" });
  await desk.do({ do: "say", text: '{"is":"action","batch":999,"id":"quit"}\n{"is":"acti' });
  const { views } = await desk.do({ do: "say", text: 'on","batch":1,"id":"nothing of that name"}\n' });
  await desk.do({ do: "choose", label: "Quit" });
  await until(() => actions.length > 0);
  expect(actions).toEqual([quit]);
  expect(views).toBe(1);
  expect(problems).toEqual(["the menu-bar helper (osascript) wrote a line that is not ours."]);
  expect(desk.starts()).toBe(1);
});

test("10,000 views for a slow child: the last one is shown, and hardly any is sent", async () => {
  const { desk, tray } = await open({ silentMs: 5_000 });
  tray.show(viewOf("first"));
  await desk.until(({ tooltip }) => tooltip === "first");
  await desk.do({ do: "slow", ms: 50 });
  for (let count = 1; count <= 10_000; count += 1) {
    tray.show(viewOf(`view ${count}`));
    if (count % 100 === 0) await Bun.sleep(1);
  }
  const { views } = await desk.until(({ tooltip }) => tooltip === "view 10000");
  expect(views).toBeLessThan(50);
});

test("a helper that never stays up is given up on, and another way is found", async () => {
  const shown: string[] = [];
  let stopped = 0;
  const { tray, problems, desk } = await open(
    { command: () => ["/bin/sh", "-c", "echo no window server >&2; exit 1"], maxFailures: 3 },
    async () => ({
      show: (view) => void shown.push(view.tooltip),
      report: async () => ({ way: "a fake", host: null, missing: null }),
      stop: async () => {
        stopped += 1;
      },
    }),
  );
  tray.show(viewOf("one"));
  await until(() => shown.length > 0);
  tray.show(viewOf("two"));
  expect(shown).toEqual(["one", "two"]);
  expect(problems).toHaveLength(4);
  expect(problems[0]).toContain("ended with 1: no window server. Starting it again in 0.02 s.");
  expect(problems[1]).toContain("in 0.04 s.");
  expect(problems[2]).toContain("in 0.08 s.");
  expect(problems[3]).toContain("systray2");
  expect(desk.starts()).toBe(0);
  await tray.stop();
  expect(stopped).toBe(1);
});

test("where there is no other way either, that is said once, and it is tried on", async () => {
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
  await until(() => tries > 10);
  expect(problems).toHaveLength(4);
  expect(problems[3]).toContain("goes on without one");
});

test("it ends with beckon, by itself", async () => {
  const { desk, tray } = await open();
  tray.show(viewOf("a"));
  const { pid } = await desk.until(({ tooltip }) => tooltip === "a");
  const started = performance.now();
  await tray.stop();
  expect(isAlive(pid)).toBe(false);
  expect(performance.now() - started).toBeLessThan(900);
  expect(desk.starts()).toBe(1);
});

test("beckon killed, no icon stays behind", async () => {
  const desk = await openDesk();
  ends.push(desk.stop);
  const app = Bun.spawn([process.execPath, program, desk.folder, ...desk.settings.command(desk.folder)], {
    stdout: "ignore",
    stderr: "inherit",
  });
  ends.push(async () => app.kill("SIGKILL"));
  const { pid } = await desk.until(({ tooltip }) => tooltip === "of an app");
  app.kill("SIGKILL");
  await until(() => !isAlive(pid));
});
