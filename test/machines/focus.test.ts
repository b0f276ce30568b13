/** From a session on a machine behind ssh to the terminal here that shows it, on a real desktop with a real sshd. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import type { Carrier } from "../../src/machines/carrier.ts";
import { createLink } from "../../src/machines/link.ts";
import { schedule } from "../../src/system/schedule.ts";
import { home } from "../agent/namespace.ts";
import { desktopNeeds, notifyd, type VirtualDesktop } from "../desktop/desktop-harness.ts";
import { hasAll, testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { type Laptop, openLaptop } from "./claude-host.ts";
import { type Host, type Lab, labNeeds, openLab } from "./lab.ts";

const needs = [...labNeeds, ...desktopNeeds, notifyd, "xterm", "ss"] as const;
const onDesktop = testWith(...needs);
const limitMs = 60_000;
const noPlace = { local: false, pid: null, procStart: null, tty: null, terminalSessionId: null };
const soonMs = 20_000;

describe("a session behind ssh", () => {
  let lab: Lab;
  let devbox: Host;
  let laptop: Laptop;
  let screen: VirtualDesktop;
  const opened: Bun.Subprocess[] = [];

  const tmuxThere = async (...args: string[]) =>
    (await devbox.run(["tmux", "-S", `${home}/tmux`, "-f", "/dev/null", ...args])).stdout.trim();
  /** The name of the window that the tmux session there shows. */
  const shownThere = (session: string) =>
    tmuxThere("display-message", "-p", "-t", `=${session}:`, "#{window_name}");
  const activeTitle = () => screen.run("xdotool", "getactivewindow", "getwindowname").catch(() => "");
  const ssh = (...args: string[]) => [join(lab.bin, "ssh"), ...args];
  const attach = (session: string) => `tmux -S ${home}/tmux attach -t =${session}`;
  /** An agent that reports its start with the real hook, and stays. */
  const agent = (id: string) => `sh ${home}/agent.sh ${id}`;

  async function open(title: string, ...command: string[]): Promise<void> {
    opened.push(screen.spawn(["xterm", "-T", title, "-e", ...command]));
    await waitUntil(async () => (await activeTitle()).includes(title), soonMs, title);
  }
  /** Opens a terminal here with a login that shows the tmux session there. */
  async function openLogin(title: string, session: string, ...options: string[]): Promise<void> {
    const count = async () =>
      (await tmuxThere("list-clients", "-t", `=${session}`)).split("\n").filter(Boolean).length;
    const before = await count();
    await open(title, ...ssh("-t", ...options, "devbox", attach(session)));
    await waitUntil(async () => (await count()) > before, soonMs, `a login in ${title}`);
  }
  /** What that machine answers to a linked one: the logins that show the session's pane. */
  async function look(sessionId: string): Promise<readonly string[]> {
    const answered = Promise.withResolvers<readonly string[]>();
    const link: Carrier = createLink({
      machine: "devbox",
      ownName: "a test",
      argv: [...ssh("-T", "devbox"), "exec ~/.local/bin/beckon link"],
      onOpened: () => void link.send({ kind: "look", id: "1", agent: "claude", sessionId }),
      onMessage(message) {
        if (message.kind === "reply") answered.resolve((message.outcome.ok && message.outcome.logins) || []);
      },
      onLost() {},
      onFailure: answered.reject,
      onProblem() {},
      schedule,
    });
    return answered.promise.finally(link.stop);
  }
  const waitForSession = (id: string) =>
    waitUntil(async () => (await laptop.fetchSession(id)) !== undefined, soonMs, `the session ${id}`);
  async function focus(id: string) {
    const response = await laptop.post({}, `/api/sessions/devbox%2Fclaude%3A${id}/focus`);
    return (await response.json()) as { result: string; by: string; why: string | null };
  }

  beforeAll(async () => {
    if (!hasAll(needs)) return;
    lab = await openLab();
    devbox = await lab.openHost("devbox", { ".local/bin/beckon": binary });
    const event = { session_id: "$1", hook_event_name: "SessionStart", cwd: home, source: "startup" };
    writeFileSync(
      join(devbox.folder, "agent.sh"),
      `printf '%s' '${JSON.stringify(event)}' | sed "s/[$]1/$1/" | ${home}/.local/bin/beckon hook claude\nexec sleep 1000\n`,
    );
    laptop = await openLaptop(lab, ["devbox"]);
    screen = laptop.desktop.screen;
    for (const session of ["one", "two"]) {
      await tmuxThere("new-session", "-d", "-s", session, "-n", "shell", "sleep 1000");
      await tmuxThere("new-window", "-d", "-t", `=${session}:`, "-n", "agent", agent(session));
      await waitForSession(session);
    }
  }, limitMs);
  afterEach(async () => {
    for (const child of opened.splice(0)) {
      child.kill();
      await child.exited;
    }
    for (const session of ["one", "two"]) {
      await waitUntil(async () => (await tmuxThere("list-clients")) === "", soonMs, "no login");
      await tmuxThere("select-window", "-t", `=${session}:shell`);
    }
  });
  afterAll(async () => {
    await laptop?.destroy();
    await lab?.close();
  });

  onDesktop(
    "each of two logins comes to the front, and its pane is selected there",
    async () => {
      await openLogin("t-one", "one");
      await openLogin("t-two", "two");
      for (const session of ["one", "two", "one"]) {
        expect(await focus(session)).toMatchObject({ result: "exact", by: "ssh, xterm, X11", why: null });
        expect(await activeTitle()).toBe(`t-${session}`);
        expect(await shownThere(session)).toBe("agent");
      }
    },
    limitMs,
  );

  onDesktop(
    "with tmux here and there, both panes are selected",
    async () => {
      const socket = join(screen.home, "tmux");
      const tmuxHere = (...args: string[]) => screen.run("tmux", "-S", socket, "-f", "/dev/null", ...args);
      opened.push(screen.spawn(["tmux", "-S", socket, "-f", "/dev/null", "-D"]));
      await waitUntil(() => existsSync(socket), soonMs);
      const login = (session: string) => `exec ${ssh("-t", "devbox").join(" ")} '${attach(session)}'`;
      await tmuxHere("new-session", "-d", "-s", "out", login("one"));
      await tmuxHere("split-window", "-t", "=out:", login("two"));
      await open("t-out", "tmux", "-S", socket, "attach", "-t", "=out");
      await waitUntil(async () => (await tmuxHere("list-clients")) !== "", soonMs);
      await waitUntil(async () => (await tmuxThere("list-clients")).split("\n").length === 2, soonMs);
      for (const [pane, session] of ["one", "two"].entries()) {
        expect(await focus(session)).toMatchObject({
          result: "exact",
          by: "ssh, tmux, xterm, X11",
          why: null,
        });
        expect(await tmuxHere("display-message", "-p", "-t", "=out:", "#{pane_index}")).toBe(String(pane));
        expect(await shownThere(session)).toBe("agent");
      }
    },
    limitMs,
  );

  onDesktop(
    "without tmux, the terminal with the login comes to the front",
    async () => {
      await open("t-plain", ...ssh("-t", "devbox", agent("plain")));
      await waitForSession("plain");
      await open("t-other", "sleep", "1000");
      expect(await focus("plain")).toMatchObject({ result: "exact", by: "ssh, xterm, X11", why: null });
      expect(await activeTitle()).toBe("t-plain");
    },
    limitMs,
  );

  onDesktop(
    "its pane counts as seen while its login has the focus and shows it, and not otherwise",
    async () => {
      await openLogin("t-one", "one");
      await openLogin("t-two", "two");
      const terminals = createTerminals({ env: screen.env, platform: "linux", visibilityTimeoutMs: soonMs });
      const isSeen = async (session: string) => {
        const place = { ...noPlace, env: {} };
        const logins = await look(session);
        const targets = logins.map((login) => ({
          ...{ place, cwd: null, title: null },
          elsewhere: { logins: [login], host: "devbox", isSelected: true },
        }));
        return (await Promise.all(targets.map(terminals.isPaneVisible))).includes(true);
      };
      // Both show the shell, and nothing else, until the user goes to the agent.
      expect(await look("one")).toEqual([]);
      await focus("one");
      expect(await look("one")).toHaveLength(1);
      expect(await isSeen("one")).toBe(true);
      await focus("two");
      expect([await isSeen("one"), await isSeen("two")]).toEqual([false, true]);
    },
    limitMs,
  );

  onDesktop(
    "if nobody is logged in, beckon says what to do there",
    async () => {
      const { result, why } = await focus("one");
      expect(result).toBe("impossible");
      expect(why).toBe(
        `on devbox: no terminal is attached to the tmux session one: run \`tmux -S ${home}/tmux attach -t one\` in one`,
      );
    },
    limitMs,
  );

  for (const persist of ["60", "no"])
    onDesktop(
      `of a shared connection (ControlPersist ${persist}), the only terminal is found, and of several none is raised`,
      async () => {
        const path = join(screen.home, `control-${persist}`);
        const shared = [
          "-o",
          "ControlMaster=auto",
          "-o",
          `ControlPath=${path}`,
          "-o",
          `ControlPersist=${persist}`,
        ];
        try {
          await openLogin("t-one", "one", ...shared);
          await open("t-other", "sleep", "1000");
          expect(await focus("one")).toMatchObject({ result: "exact", by: "ssh, xterm, X11", why: null });
          expect(await activeTitle()).toBe("t-one");
          await openLogin("t-two", "two", ...shared);
          await open("t-third", "sleep", "1000");
          for (const session of ["one", "two"]) {
            expect(await focus(session)).toMatchObject({
              result: "impossible",
              why: "several terminals may use one SSH connection to devbox (ControlMaster): ssh does not say which of the 2 shows it",
            });
            expect(await activeTitle()).toBe("t-third");
          }
        } finally {
          await screen.run(...ssh("-o", `ControlPath=${path}`, "-O", "exit", "devbox")).catch(() => {});
        }
      },
      limitMs,
    );

  onDesktop(
    "behind an address translator, the only login to that machine is raised as such, and of several none",
    async () => {
      const translator = startTranslator(devbox.address);
      try {
        const through = [
          "-o",
          "HostName=127.0.0.1",
          "-o",
          `Port=${translator.port}`,
          "-o",
          "HostKeyAlias=devbox",
        ];
        await openLogin("t-one", "one", ...through);
        await open("t-other", "sleep", "1000");
        const outcome = await focus("one");
        expect(outcome).toMatchObject({ result: "window", by: "ssh, xterm, X11" });
        expect(outcome.why).toContain("this is the only terminal here with an `ssh devbox`");
        expect(await activeTitle()).toBe("t-one");
        await openLogin("t-two", "two", ...through);
        await open("t-third", "sleep", "1000");
        const several = await focus("one");
        expect(several.result).toBe("impossible");
        expect(several.why).toContain("2 terminals here have an `ssh devbox`: any of them may show it");
        expect(await activeTitle()).toBe("t-third");
      } finally {
        translator.stop();
      }
    },
    limitMs,
  );
});

/** Connects to the machine with addresses and ports of its own, as a router does. */
function startTranslator(address: string) {
  type Side = Bun.Socket<{ other: Promise<Side> | null }>;
  const copy = {
    data: async (socket: Side, bytes: Buffer) => void (await socket.data.other)?.write(bytes),
    close: async (socket: Side) => void (await socket.data.other)?.end(),
  };
  const server = Bun.listen<{ other: Promise<Side> | null }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      ...copy,
      open(socket) {
        const data = { other: Promise.resolve(socket) };
        socket.data = { other: Bun.connect({ hostname: address, port: 22, data, socket: copy }) };
      },
    },
  });
  return { port: server.port, stop: () => server.stop(true) };
}
