/** The cable to a machine behind a real ssh is cut while one of its requests is held, and mended later. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import type { MachineSettings } from "../../src/core/config/machines.ts";
import { binary } from "../repo.ts";
import { waitForValue, waitUntil } from "../wait-until.ts";
import type { Host } from "./lab.ts";
import { openLaptop } from "./laptop.ts";
import { readAsks } from "./same-history.ts";

const soonMs = 30_000;

const createEvent = (hook_event_name: string, command: string) => ({
  session_id: "s",
  hook_event_name,
  cwd: "/home/dev/proj",
  tool_name: "Bash",
  tool_input: { command },
});

/** Runs the hook of an event there. */
function runHook(host: Host, name: string, event: object) {
  writeFileSync(`${host.folder}/${name}.json`, JSON.stringify(event));
  return host.start(["sh", "-c", `beckon hook claude <${name}.json`]);
}

/** `noticedMs`: how long it may take until the loss is noticed. `whileCut` waits while the cable is cut. */
export async function cutAndMend(
  settings: MachineSettings,
  { noticedMs, whileCut }: { readonly noticedMs: number; readonly whileCut: () => Promise<void> },
): Promise<void> {
  await using opened = await openLaptop();
  const laptop = opened.app;
  const devbox = await opened.lab.openHost("devbox", { ".local/bin/beckon": binary });
  opened.setMachines({ devbox: settings });
  await opened.start();
  const findAsk = async () => (await laptop.fetchSession("s"))?.asks.find(({ answerable }) => answerable);
  const allow = (ask: string | undefined) =>
    laptop.post({ by: "command line", do: "allow", ask }, "/api/sessions/devbox%2Fclaude%3As/answer");

  await waitUntil(() => opened.isLinked("devbox"), soonMs);
  const held = runHook(devbox, "first", createEvent("PermissionRequest", "first"));
  await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
  const ask = (await findAsk())?.answerId;
  await devbox.cutCable();
  // The user clicks before anybody has noticed: it is not known what became of it.
  const early = await allow(ask);
  expect([early.status, ((await early.json()) as { error: string }).error]).toEqual([
    409,
    expect.stringContaining("it is not known whether your answer arrived"),
  ]);
  await waitUntil(async () => (await laptop.fetchSession("s"))?.reachable === false, noticedMs);
  expect((await allow(ask)).status).toBe(409);
  // The terminal decides, and the hook of the request ends without a decision.
  await runHook(devbox, "ran", createEvent("PostToolUse", "first")).exited;
  expect(await held.stdout.text()).not.toContain("behavior");
  const second = runHook(devbox, "second", createEvent("PermissionRequest", "second"));
  await whileCut();
  expect(await laptop.fetchSession("s")).toMatchObject({ group: "set_aside", silenceKind: "unreachable" });
  await devbox.mendCable();
  await waitUntil(async () => (await findAsk()) !== undefined, 90_000);
  expect((await laptop.fetchSession("s"))?.asks).toHaveLength(1);
  expect((await allow((await findAsk())?.answerId)).status).toBe(200);
  expect(await second.stdout.text()).toContain('"behavior":"allow"');
  const asks = await waitForValue(
    () => readAsks(laptop),
    (found) => found.length >= 2 && found.every(({ how }) => how === "allowed"),
    soonMs,
  );
  expect(asks.map(({ text }) => text)).toEqual(["Bash: first", "Bash: second"]);
}
