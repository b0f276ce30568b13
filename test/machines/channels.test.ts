/** One person is told once: by the channels of the session's own machine if they work, otherwise by those of this one. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MachineReport } from "../../src/machines/index.ts";
import { createPromptEvent } from "../app-fixture.ts";
import { writeChannelSettings } from "../channels/app-fixture.ts";
import { type NtfyServer, startNtfyServer } from "../channels/servers/ntfy.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { createTwoMachines } from "./two-machines.ts";

setDefaultTimeout(30_000);
const soonMs = 10_000;

describe("of a request on another machine", () => {
  let two: ReturnType<typeof createTwoMachines>;
  let theirs: NtfyServer;
  let ours: NtfyServer;
  beforeEach(async () => {
    two = createTwoMachines();
    [theirs, ours] = await Promise.all([startNtfyServer(), startNtfyServer()]);
  });
  afterEach(async () => {
    await two.destroy();
    await Promise.all([theirs.stop(), ours.stop()]);
  });

  const pidFile = () => join(two.laptop.home, "link.pid");
  const phone = (server: NtfyServer) => ({ phone: { type: "ntfy", server } });
  const isTold = ({ messages }: NtfyServer) => messages().some(({ text }) => text.includes("npm test"));

  async function start({
    hasTheirs,
    dropsAnswer = false,
  }: {
    hasTheirs: boolean;
    dropsAnswer?: boolean;
  }): Promise<void> {
    if (dropsAnswer) writeFileSync(`${pidFile()}.drop`, "");
    const drop = `if rm "$0.drop" 2>/dev/null; then sed -u '/"kind":"answer"/Q' | "$@"; exit; fi`;
    const script = `echo $$ >"$0"; while [ -e "$0.cut" ]; do sleep 0.1; done; ${drop}; exec "$@"`;
    const link = ["sh", "-c", script, pidFile(), ...two.link];
    writeChannelSettings(two.laptop.paths, phone(ours), { machines: { devbox: { command: link } } });
    if (hasTheirs) writeChannelSettings(two.devbox.paths, phone(theirs));
    await two.devbox.start();
    await two.laptop.start();
    await waitForReport((report) => report?.state === "linked" && report.hasChannels === hasTheirs);
  }
  const waitForReport = (isRight: (report: MachineReport | undefined) => boolean | undefined) =>
    waitUntil(async () => isRight((await two.report())[0]), soonMs);
  /** Returns what lets it be opened again. */
  function cutLink(): () => void {
    writeFileSync(`${pidFile()}.cut`, "");
    process.kill(Number(readFileSync(pidFile(), "utf8")));
    return () => rmSync(`${pidFile()}.cut`);
  }
  async function ask(): Promise<string> {
    await two.devbox.postHook(createPromptEvent("s"));
    return two.ask("s", { command: "npm test" });
  }
  async function answer(): Promise<void> {
    const [open] = (await two.devbox.fetchSession("s"))?.asks ?? [];
    await two.devbox.post({ by: "command line", do: "allow", ask: open?.answerId }, "/api/sessions/s/answer");
  }

  test("its own channels tell, and those of this machine are silent", async () => {
    await start({ hasTheirs: true });
    const decision = ask();
    await waitUntil(() => isTold(theirs), soonMs);
    await answer();
    await decision;
    await waitUntil(() => theirs.messages()[0]?.text.includes("Allowed"), soonMs);
    expect(ours.published()).toEqual([]);
  });

  test("those of this machine tell if its own fail", async () => {
    await start({ hasTheirs: true });
    theirs.misbehave("refuse", 1_000);
    const decision = ask();
    await waitUntil(() => isTold(ours), soonMs);
    await waitForReport((report) => report?.hasChannels === false);
    await answer();
    await decision;
    await waitUntil(() => ours.messages()[0]?.text.includes("Allowed"), soonMs);
  });

  test("those of this machine tell if it has none, and only once if the link is lost meanwhile", async () => {
    await start({ hasTheirs: false });
    const decision = ask();
    await waitUntil(() => isTold(ours), soonMs);
    const isReachable = async () => (await two.laptop.fetchSession("s"))?.reachable;
    const letLinkOpen = cutLink();
    await waitUntil(async () => (await isReachable()) === false, soonMs);
    await letTimePass(1_000, "a message whose ask is over is marked 0.7 s later");
    letLinkOpen();
    await waitUntil(async () => (await isReachable()) === true, soonMs);
    await answer();
    await decision;
    await waitUntil(() => ours.messages()[0]?.text.includes("Allowed"), soonMs);
    const said = ours.published().map(({ message }) => message);
    expect(said).toEqual([expect.stringContaining("npm test"), expect.stringContaining("Allowed")]);
  });

  test("a tap whose answer is lost on the way can be repeated", async () => {
    await start({ hasTheirs: false, dropsAnswer: true });
    const decision = ask();
    await waitUntil(() => isTold(ours), soonMs);
    await ours.tap("Allow");
    await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === false, soonMs);
    await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === true, soonMs);
    await ours.tap("Allow");
    expect(await decision).toContain('"behavior":"allow"');
  });

  test("what was asked while the link was down, and is still open, is told when it is back", async () => {
    await start({ hasTheirs: false });
    await two.devbox.postHook(createPromptEvent("s"));
    await waitUntil(async () => (await two.laptop.fetchSession("s")) !== undefined, soonMs);
    const letLinkOpen = cutLink();
    await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === false, soonMs);
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await two.devbox.fetchSession("s"))?.asks.length === 1, soonMs);
    letLinkOpen();
    await waitUntil(() => isTold(ours), soonMs);
    expect(await two.laptop.fetchSession("s")).toMatchObject({
      reachable: true,
      asks: [{ answerable: true }],
    });
    await answer();
    await decision;
  });
});
