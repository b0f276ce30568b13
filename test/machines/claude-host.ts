/** The real Claude Code on a machine behind ssh, and the user's laptop with a desktop, which is linked to it. */
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AskView } from "../../src/core/view/session-view.ts";
import { claudeVariables, type FakeApi, startFakeApi, writeClaudeHome } from "../agent/claude-home.ts";
import { cliVersion, findCli, isCliCached } from "../agent/cli.ts";
import { openDesktop, type SandboxDesktop } from "../agent/desktop.ts";
import { home } from "../agent/namespace.ts";
import { defaultMode } from "../agent/sandbox.ts";
import { openTerminal, type SandboxTerminal } from "../agent/terminal.ts";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";
import { desktopNeeds, notifyd } from "../desktop/desktop-harness.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { type Host, type Lab, labNeeds, openLab } from "./lab.ts";

export const claudeOverSshNeeds = [
  ...labNeeds,
  ...desktopNeeds,
  notifyd,
  ...(isCliCached(cliVersion) ? [] : [`Claude Code ${cliVersion}`]),
] as const;

export interface ClaudeHost extends Host {
  /** The user's terminal there, in tmux. */
  readonly terminal: SandboxTerminal;
  readonly api: FakeApi;
  /** Starts the CLI in the terminal and waits until it accepts a prompt. */
  startCli(args?: string): Promise<void>;
  leaveCli(): Promise<void>;
  /** Those who are attached to the terminal's tmux, one each. */
  listClients(): Promise<readonly string[]>;
  hasFile(name: string): boolean;
  /** Waits until that file is in the home and returns its modification time. */
  waitForFile(name: string): Promise<number>;
}

export interface Laptop extends AppFixture {
  readonly desktop: SandboxDesktop;
  isLinked(): Promise<boolean>;
  /** The ask of the other machine that can be answered here; undefined if there is none. */
  findAsk(): Promise<(AskView & { readonly session: string }) | undefined>;
  waitForAsk(): Promise<AskView & { readonly session: string }>;
  /** Answers the one that is asked. */
  answer(answer: object): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  /** Waits until nothing is asked and no alert is on the screen. Returns how long that took, in ms. */
  waitUntilWithdrawn(): Promise<number>;
}

const soonMs = 15_000;
const idlePrompt = /\? for shortcuts|❯/;

/** A machine with the CLI, with the hooks that `beckon --install` has registered. */
export async function openClaudeHost(lab: Lab, name: string): Promise<ClaudeHost> {
  const host = await lab.openHost(name, { ".local/bin/beckon": binary, ...findCli(cliVersion).files });
  writeClaudeHome(host.folder, cliVersion);
  host.own(".claude", ".claude/settings.json", ".claude.json", "proj", "bin");
  const installed = await host.run(["beckon", "--install", "--no-login"]);
  if (installed.code !== 0) throw new Error(`beckon --install: ${installed.stdout}${installed.stderr}`);
  const api = await startFakeApi(host.space, join(dirname(host.folder), "requests.log"));
  const terminal = await openTerminal(host, {
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    ...claudeVariables,
  });
  const hasFile = (name: string) => existsSync(join(host.folder, name));
  return {
    ...host,
    terminal,
    api,
    async startCli(args = defaultMode) {
      await terminal.typeLine(`claude ${args}`);
      await terminal.waitForScreen(idlePrompt);
      await waitUntil(terminal.isRaw, soonMs, "a CLI that reads keys");
    },
    async leaveCli() {
      await terminal.typeLine("/exit");
      await terminal.waitForScreen(/Resume this session.*\n.*\n[^\n]*\$ *\n/);
    },
    async listClients() {
      const { stdout } = await host.run(["tmux", "-S", `${home}/tmux.sock`, "list-clients"]);
      return stdout.split("\n").filter(Boolean);
    },
    hasFile,
    async waitForFile(name) {
      await waitUntil(() => hasFile(name), soonMs, name);
      return statSync(join(host.folder, name)).mtimeMs;
    },
  };
}

/** The laptop's beckon, on a desktop, linked to these machines. */
export async function openLaptop(lab: Lab, machines: readonly string[]): Promise<Laptop> {
  const desktop = await openDesktop();
  const app = createAppFixture();
  mkdirSync(dirname(app.paths.config), { recursive: true });
  const rows = Object.fromEntries(machines.map((name) => [name, { ssh: name }]));
  writeFileSync(app.paths.config, JSON.stringify({ machines: rows }));
  const { HOME: _home, PATH: _path, ...onDesktop } = desktop.screen.env;
  const destroy = async () => {
    await app.destroy();
    await desktop.screen.stop();
  };

  async function findAsk() {
    for (const session of await app.fetchSessions())
      for (const ask of session.asks)
        if (session.machine !== null && ask.answerable)
          return { ...ask, session: `${session.machine}/claude:${session.sessionId}` };
    return undefined;
  }

  const laptop: Laptop = {
    ...app,
    desktop,
    async isLinked() {
      const { machines } = (await (await app.request("/api/machines")).json()) as {
        machines: { state: string }[];
      };
      return machines.every(({ state }) => state === "linked");
    },
    findAsk,
    async waitForAsk() {
      await waitUntil(async () => (await findAsk()) !== undefined, soonMs, "an ask that can be answered");
      return (await findAsk()) as AskView & { readonly session: string };
    },
    async answer(answer) {
      const { session, answerId } = await laptop.waitForAsk();
      const response = await app.post(
        { by: "command line", ask: answerId, ...answer },
        `/api/sessions/${encodeURIComponent(session)}/answer`,
      );
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    waitUntilWithdrawn: () =>
      waitUntil(async () => {
        const sessions = await app.fetchSessions();
        const isAsked = sessions.some(({ asks }) => asks.length > 0);
        return !isAsked && (await desktop.screen.findNotifications()).length === 0;
      }, soonMs),
    destroy,
  };
  try {
    await app.startProcess({ ...onDesktop, PATH: `${lab.bin}:${process.env.PATH}` });
    await waitUntil(laptop.isLinked, soonMs, async () => await (await app.request("/api/machines")).text());
  } catch (error) {
    await destroy();
    throw error;
  }
  return laptop;
}

/** One machine with the CLI, and the laptop. */
export async function openClaudeOverSsh() {
  const lab = await openLab();
  try {
    const devbox = await openClaudeHost(lab, "devbox");
    const laptop = await openLaptop(lab, ["devbox"]);
    return {
      lab,
      devbox,
      laptop,
      async close(): Promise<void> {
        await laptop.destroy();
        await lab.close();
      },
    };
  } catch (error) {
    await lab.close();
    throw error;
  }
}
