/** How soon the user is alerted about a request of the real Claude Code behind ssh, and how soon the tool runs after a click. */
import { expect } from "bun:test";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { dialog } from "../agent/scenario.ts";
import { claudeOverSshNeeds, openClaudeOverSsh } from "../machines/claude-host.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const times = 24;
const limitMs = 300_000;
const soonMs = 15_000;

function report(what: string, tookMs: number[]): { readonly p50: number; readonly p99: number } {
  tookMs.sort((a, b) => a - b);
  const [p50 = Number.NaN, p99 = Number.NaN] = [tookMs[tookMs.length >> 1], tookMs.at(-1)];
  console.log(`${what}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${tookMs.length} asks`);
  return { p50, p99 };
}

testWith(...claudeOverSshNeeds, "dbus-monitor")(
  "a request behind ssh is alerted here, and an answer runs the tool there, at once",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const { devbox, laptop } = cleanUp.adopt(await openClaudeOverSsh(), (opened) => opened.close());
    const calls = "interface='org.freedesktop.Notifications',member='Notify'";
    const monitor = laptop.desktop.screen.spawn(["dbus-monitor", "--profile", calls]);
    /** When the desktop was asked to show a notification, in ms. */
    const notified: number[] = [];
    // Type of message, then seconds with a fraction.
    createInterface({ input: Readable.fromWeb(monitor.stdout as never) }).on("line", (line) => {
      const [, seconds] = /^mc\t([\d.]+)\t.*Notify$/.exec(line) ?? [];
      if (seconds !== undefined) notified.push(Number(seconds) * 1_000);
    });
    await devbox.startCli();
    const askedToAlert: number[] = [];
    const modelToAlert: number[] = [];
    const answerToTool: number[] = [];
    for (let n = 0; n < times; n++) {
      const before = notified.length;
      await devbox.terminal.typeLine(`DO bash touch ran-${n}`);
      await waitUntil(() => notified.length > before, soonMs, "an alert");
      const shownAt = notified[before] ?? Number.NaN;
      const { openedAt } = await laptop.waitForAsk();
      askedToAlert.push(shownAt - openedAt);
      modelToAlert.push(shownAt - (devbox.api.readRequests().at(-1)?.answeredAt ?? Number.NaN));
      await devbox.terminal.waitForScreen(dialog.permission);
      const answeredAt = Date.now();
      expect(await laptop.answer({ do: "allow" })).toMatchObject({ status: 200 });
      answerToTool.push((await devbox.waitForFile(`proj/ran-${n}`)) - answeredAt);
      await devbox.terminal.waitUntilHidden(dialog.permission);
      await laptop.waitUntilWithdrawn();
    }
    const alert = report("from the hook's request there to the alert here", askedToAlert);
    report("from the model's call there to the alert here", modelToAlert);
    const answer = report("from the answer here to the tool running there", answerToTool);
    // The slowest one says how busy the machine is.
    expect(alert.p50).toBeLessThan(500);
    expect(answer.p50).toBeLessThan(1_500);
  },
  limitMs,
);
