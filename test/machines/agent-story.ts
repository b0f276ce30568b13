/** The real CLI of an agent on a machine behind ssh: its requests are shown here, and answered from here. */
import { expect } from "bun:test";
import { testWithOtherCli } from "../agent/other/clis.ts";
import { type CliDriver, listMounts, type OtherSandbox, openOtherSandbox } from "../agent/other/sandbox.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { labNeeds, user } from "./lab.ts";
import { openLaptop } from "./laptop.ts";

const soonMs = 20_000;

export interface RemoteStory {
  readonly driver: CliDriver;
  readonly start: (sandbox: OtherSandbox) => Promise<void>;
  /** What the user says with a denial; null if the agent takes no reason. */
  readonly reason: string | null;
}

export function testBehindSsh({ driver, start, reason }: RemoteStory): void {
  const { cli } = driver;
  const test = hasAll(labNeeds) ? testWithOtherCli(cli) : testWith(...labNeeds);
  test(`a request of ${cli.name} behind ssh is shown here, allowed and denied from here`, async () => {
    await using cleanUp = new AsyncDisposableStack();
    const laptop = cleanUp.use(await openLaptop());
    const { app } = laptop;
    await laptop.start();
    const devbox = await laptop.lab.openHost("devbox", listMounts([driver]));
    const space = { ...devbox.space, run: devbox.run, start: devbox.start };
    const machine = { space, folder: devbox.folder, userId: user.id };
    const sandbox = cleanUp.adopt(await openOtherSandbox(driver, { machine }), (opened) => opened.close());
    laptop.link("devbox");

    const find = async () =>
      (await app.fetchSessions())
        .filter(({ machine }) => machine === "devbox")
        .flatMap((session) => session.asks.map((ask) => ({ session, ask })))
        .find(({ ask }) => ask.answerable);
    async function answer(command: string, decision: object): Promise<void> {
      await sandbox.prompt(driver.createCommandPrompt(command));
      await sandbox.waitForDialog("permission");
      await waitUntil(async () => (await find()) !== undefined, soonMs, "the ask on this machine");
      const { session, ask } = (await find()) ?? { session: null, ask: null };
      expect(session).toMatchObject({ provider: cli.id, reachable: true });
      expect(ask?.summary).toBe(command);
      const key = encodeURIComponent(`devbox/${cli.id}:${session?.sessionId}`);
      const response = await app.post(
        { by: "command line", ask: ask?.answerId, ...decision },
        `/api/sessions/${key}/answer`,
      );
      expect(await response.json()).toMatchObject({ ok: true });
      await sandbox.waitUntilNoDialog();
      await waitUntil(async () => (await find()) === undefined, soonMs, "no ask on this machine");
      await sandbox.waitUntilIdle();
    }

    await start(sandbox);
    await answer("touch allowed", { do: "allow" });
    await answer("touch denied", { do: "deny", ...(reason === null ? {} : { message: reason }) });
    if (reason !== null) expect(sandbox.readLastText()).toContain(reason);
    expect(await sandbox.listFiles()).toEqual(["allowed"]);
  }, 180_000);
}
