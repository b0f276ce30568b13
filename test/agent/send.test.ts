/** The real Claude Code CLI: prompts that are sent to it through beckon. */
import { expect } from "bun:test";
import { parseJsonLines } from "../json-lines.ts";
import { waitUntil } from "../wait-until.ts";
import { createCliTests } from "./scenario.ts";

const { testWithoutErrors } = createCliTests();

testWithoutErrors(
  "a prompt is sent to an idle session, after a turn and after a dialog, once, and the half-typed line stays",
  async (sandbox) => {
    const { beckon } = sandbox;
    const send = async (...args: string[]) => {
      const { stdout, stderr, code } = await beckon.run("send", ...args);
      return { said: stdout + stderr, code };
    };
    const readSent = async () =>
      parseJsonLines<{ what: string; asked: string; outcome: string; by: string }>(
        (await beckon.run("log", "--json")).stdout,
      )
        .filter(({ what }) => what === "prompt")
        .map(({ asked, outcome, by }) => `${asked}: ${outcome} (${by})`);
    const waitForSent = (count: number) =>
      waitUntil(async () => (await readSent()).length === count, 20_000, `${count} prompts in the log`, 250);
    await beckon.start();
    await sandbox.startCli();
    await sandbox.runTurn("SAY hello");

    await sandbox.pressKeys("h", "a", "l", "f");
    expect((await send("proj", "SAY one\n/clear is text")).said).toStartWith("Delivered at ");
    await sandbox.waitForScreen(/Message from @beckon/);
    expect(await sandbox.readScreen()).toMatch(/❯\shalf/);
    await sandbox.pressKeys("C-u");

    await sandbox.typeLine("DO slow 4");
    await sandbox.waitForStatus("busy");
    const queued = await send("proj", "SAY two");
    expect(queued.said).toStartWith("Queued: it works");
    await waitForSent(2);
    await sandbox.waitForScreen(/● two/);

    await sandbox.openDialog("DO bash touch asked", /Do you want to proceed/);
    const refused = await send("proj", "SAY three");
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("it asks you something")]);
    expect((await send("proj", "SAY three", "--when", "idle")).said).toContain("answer that first");
    await sandbox.dwell();
    expect(sandbox.hasFile("proj/asked")).toBe(false);
    await sandbox.pressKeys("Escape");
    await waitForSent(3);
    await sandbox.waitForScreen(/● three/);
    expect(sandbox.hasFile("proj/asked")).toBe(false);
    expect(await readSent()).toEqual([
      "SAY one /clear is text: delivered (command line)",
      "SAY two: delivered (command line)",
      "SAY three: delivered (command line)",
    ]);
    expect((await send("--list")).said).toMatch(/^[0-9a-f]{8} {2}proj(?: \(\w+\))? {2}“[\s\S]*delivered/m);
  },
);
