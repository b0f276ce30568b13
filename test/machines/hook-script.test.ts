/** A machine where beckon does not run: the shell script and a tunnel, as docs/machines.md describes them. */
import { expect } from "bun:test";
import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { hookScript } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { labNeeds, openLab, user } from "./lab.ts";

const soonMs = 15_000;

testWith(...labNeeds, "curl")(
  "a session without beckon is listed through a tunnel, cannot be answered, and says what it lost",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const lab = cleanUp.adopt(await openLab(), (opened) => opened.close());
    const laptop = cleanUp.adopt(createAppFixture(), (opened) => opened.destroy());
    const oldbox = await lab.openHost("oldbox", { "beckon-hook.sh": hookScript });
    await laptop.start();
    const token = join(oldbox.folder, ".beckon-auth");
    copyFileSync(laptop.paths.authHeader, token);
    chmodSync(token, 0o600);
    chownSync(token, user.id, user.id);
    const { port } = new URL(laptop.readUrl());
    const forward = ["-N", "-o", "ExitOnForwardFailure=yes", "-R", `${port}:127.0.0.1:${port}`, "oldbox"];
    const tunnel = Bun.spawn([join(lab.bin, "ssh"), ...forward], { stderr: "ignore" });
    cleanUp.defer(() => tunnel.kill());

    const command = `BECKON_URL=http://127.0.0.1:${port} BECKON_TOKEN_FILE=$HOME/.beckon-auth sh beckon-hook.sh claude`;
    async function send(event: object): Promise<void> {
      writeFileSync(join(oldbox.folder, "event.json"), JSON.stringify(event));
      const { code, stdout } = await oldbox.run(["sh", "-c", `${command} <event.json`]);
      // Whatever happens to the event, the agent goes on.
      expect([code, stdout]).toEqual([0, ""]);
    }
    const isOpen = async () =>
      (await oldbox.run(["curl", "-sf", `http://127.0.0.1:${port}/health`])).code === 0;
    await waitUntil(isOpen, soonMs, "the tunnel");
    await send(createPromptEvent("s"));
    await send(createAskEvent("s"));
    await waitUntil(async () => (await laptop.fetchSession("s"))?.asks.length === 1, soonMs);
    expect(await laptop.fetchSession("s")).toMatchObject({
      machine: null,
      group: "needs_you",
      asks: [{ answerable: false }],
    });

    tunnel.kill();
    await tunnel.exited;
    await waitUntil(async () => !(await isOpen()), soonMs, "the end of the tunnel");
    await send({ ...createPromptEvent("s"), hook_event_name: "Stop" });
    const log = readFileSync(join(oldbox.folder, ".local/state/beckon/hook.log"), "utf8");
    expect(log).toMatch(/\tStop\ts\t/);
    expect((await laptop.fetchSession("s"))?.asks).toHaveLength(1);
  },
  60_000,
);
