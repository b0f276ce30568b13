/** The real Claude Code on one of three machines that only share a server of Redis, answered on another, as a user types it. */
import { expect } from "bun:test";
import { cliVersion, isCliCached } from "../../agent/cli.ts";
import { dialog } from "../../agent/scenario.ts";
import { testWith } from "../../needs.ts";
import { binary } from "../../repo.ts";
import { waitForValue, waitUntil } from "../../wait-until.ts";
import { openClaudeHost } from "../claude-host.ts";
import { type Host, labNeeds, openLab } from "../lab.ts";
import { startRedis } from "./redis-server.ts";

const soonMs = 30_000;
const needs = [
  ...labNeeds,
  "redis-server",
  ...(isCliCached(cliVersion) ? [] : [`Claude Code ${cliVersion}`]),
] as const;

async function must(host: Host, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await host.run(["beckon", ...args]);
  if (code !== 0) throw new Error(`${host.name}: beckon ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

interface ListedSession {
  readonly machine: string | null;
  readonly sessionId: string;
  readonly asks: readonly { readonly answerable: boolean; readonly summary: string }[];
}

const listSessions = async (host: Host): Promise<ListedSession[]> =>
  JSON.parse(await must(host, "status", "--json")).sessions;

testWith(...needs)(
  "Claude Code on one of three machines is seen on the others, and answered from one of them",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const lab = cleanUp.adopt(await openLab(), (opened) => opened.close());
    const devbox = await openClaudeHost(lab, "devbox");
    const laptop = await lab.openHost("laptop", { ".local/bin/beckon": binary });
    const desktop = await lab.openHost("desktop", { ".local/bin/beckon": binary });
    const address = devbox.address.replace(/\d+$/, "1");
    const server = cleanUp.adopt(
      await startRedis(["--bind", "127.0.0.1", address, "--protected-mode", "no"]),
      (started) => started.destroy(),
    );

    const created = await must(
      devbox,
      "fleet",
      "create",
      "home",
      "--url",
      `redis://${address}:${server.port}/0`,
    );
    const findInvitation = (text: string) => /beckon-fleet-[\w-]+/.exec(text)?.[0] ?? "";
    const invitations = [findInvitation(created), findInvitation(await must(devbox, "fleet", "invite"))];
    for (const [index, host] of [laptop, desktop].entries()) {
      const joining = must(host, "fleet", "join", invitations[index] ?? "");
      await waitUntil(
        async () => (await must(devbox, "fleet", "approve", "--json")).includes(`"${host.name}"`),
        soonMs,
        `${host.name} waits`,
      );
      await must(devbox, "fleet", "approve", "--yes");
      expect(await joining).toContain("Joined home");
    }
    for (const host of [devbox, laptop, desktop]) await must(host, "start");
    await devbox.startCli();
    await devbox.terminal.typeLine("DO bash touch answered");
    await devbox.terminal.waitForScreen(dialog.permission);
    for (const host of [laptop, desktop])
      await waitForValue(
        () => listSessions(host),
        (sessions) => sessions.some(({ machine, asks }) => machine === "devbox" && asks[0]?.answerable),
        soonMs,
      );
    const [session] = await listSessions(desktop);
    await must(desktop, "answer", session?.sessionId ?? "", "allow");
    await devbox.waitForFile("proj/answered");
    await waitForValue(
      () => listSessions(laptop),
      (sessions) => sessions.every(({ asks }) => asks.length === 0),
      soonMs,
    );
    expect(await must(devbox, "log")).toContain("desktop");
    expect(
      await must(laptop, "send", session?.sessionId ?? "", "--when", "idle", "SAY from the laptop"),
    ).toMatch(/^(Delivered|Queued|Sent)/);
    await devbox.terminal.waitForScreen(/● from the laptop/);
    expect((await must(devbox, "log", "--json")).match(/"what":"prompt"/g)).toHaveLength(1);
    expect(await must(laptop, "fleet", "list")).toMatch(/devbox +\S+ +there/);
  },
  120_000,
);
