import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createNodeNotifier, type Send } from "../../src/desktop/notify/node-notifier.ts";
import { canWait, openNotifySend } from "../../src/desktop/notify/notify-send.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { alert, answerable, busNeeds, createBusFixture, onBus, recordEvents } from "./notify-fixtures.ts";
import { startServer } from "./private-bus.ts";

describe("notify-send", () => {
  const { bus, events, problems, options, createCommands } = createBusFixture();

  testWith(...busNeeds, "notify-send")(
    "a command with backslashes is shown as it would run, also where no language is set",
    async () => {
      const server = await startServer(bus());
      const body = String.raw`printf '\074!-- \x3c \n\t \\ \101' > C:\new\052 & echo `.concat(
        "⟨U+202E⟩ 확인",
      );
      for (const locale of ["C", "C.UTF-8", undefined]) {
        const notifier = await openNotifySend(options(), { ...bus().env, LC_ALL: locale });
        const title = String.raw`\074b\076 ${locale}`;
        const buttons = (answerable(1).buttons ?? []).map((button) => ({ ...button, label: title }));
        await notifier?.show(answerable(1, { title, body, buttons }));
        await waitUntil(() => server.received.some((received) => received.title === title), 10_000);
        await notifier?.stop();
      }
      const shown = body.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;");
      expect(server.received.map((received) => received.body)).toEqual([shown, shown, shown]);
      for (const { title, actions } of server.received) expect(actions[1]).toBe(title);
      expect(problems).toEqual([]);
    },
    30_000,
  );

  onBus("a version that cannot wait is used without clicks, and its error is reported once", async () => {
    const log = join(bus().home, "arguments");
    const PATH = createCommands({
      "notify-send": `[ "$1" = --version ] && echo "notify-send 0.7.9" && exit
for argument; do printf '%s|' "$argument" >>${log}; done; echo >>${log}; echo "cannot connect" >&2; exit 1`,
    });
    const notifier = await openNotifySend(options(), { ...bus().env, PATH });
    await notifier?.show(alert({ title: "-A", body: "$(id) <b>" }));
    await waitUntil(() => problems.length > 0, 10_000);
    await notifier?.show(alert({ key: "ask-2" }));
    await waitUntil(() => readFileSync(log, "utf8").includes("rm -rf"), 10_000);
    await notifier?.stop();
    const [args] = readFileSync(log, "utf8").split("\n");
    expect(args).toEndWith("|--|-A|$(id) &lt;b&gt;|");
    expect(args).not.toContain("--action");
    expect(args).not.toContain("--expire-time");
    expect(problems).toEqual(["notify-send could not show an alert: cannot connect"]);
    expect(events).toEqual([]);
  });

  onBus("a click on a button is reported with its id", async () => {
    const log = join(bus().home, "arguments");
    const PATH = createCommands({
      "notify-send": `[ "$1" = --version ] && echo "notify-send 0.8.1" && exit
for argument; do printf '%s|' "$argument" >>${log}; done; echo "allow@ask-1.abc"`,
    });
    const notifier = await openNotifySend(options(), { ...bus().env, PATH });
    await notifier?.show(answerable(3));
    await waitUntil(() => events.length > 1, 10_000);
    expect(events).toEqual(["click allow@ask-1.abc of ask-1", "closed ask-1 user"]);
    expect(readFileSync(log, "utf8")).toContain(
      "|--action=allow@ask-1.abc=Allow|--action=deny@ask-1.abc=Deny|--action=default=Go to terminal|",
    );
    await notifier?.stop();
  });

  onBus("an alert that could not be shown is requested again, unless it was closed meanwhile", async () => {
    const PATH = createCommands({
      "notify-send": `[ "$1" = --version ] && echo "notify-send 0.8.1" && exit; exit 1`,
    });
    const retryMs = 300;
    const notifier = await openNotifySend(options(), { ...bus().env, PATH }, retryMs);
    await notifier?.show(alert({ key: "ask-2" }));
    await waitUntil(() => problems.length > 0, 10_000);
    expect(problems).toEqual(["notify-send could not show an alert: it ended with code 1"]);
    await notifier?.close("ask-2");
    await notifier?.show(alert());
    await waitUntil(() => events.length > 0, 10_000);
    expect(events).toEqual(["closed ask-1 unknown"]);
    await notifier?.stop();
  });

  test.each([
    ["notify-send 0.8.1", true],
    ["notify-send 1.0.0", true],
    ["notify-send 0.7.9", false],
    ["", false],
  ])("%j can be clicked: %p", (version, expected) => expect(canWait(version)).toBe(expected));
});

describe("node-notifier", () => {
  const { events, options } = recordEvents(() => "");
  type Sent = Parameters<Send>;
  const createFixture = () => {
    const sent: Sent[] = [];
    const failed: string[] = [];
    const notifier = createNodeNotifier(
      { ...options(), onFailed: ({ key }) => failed.push(key) },
      (...args) => void sent.push(args),
    );
    return { sent, failed, notifier };
  };

  test("a click is reported, and an update of the alert is not its end", async () => {
    const { sent, notifier } = createFixture();
    await notifier.show(alert());
    const handle = await notifier.show(alert({ title: "update" }));
    expect(sent.map(([request]) => request)).toMatchObject([{ id: handle }, { id: handle, title: "update" }]);
    sent[0]?.[1]("dismissed");
    sent[1]?.[1]("activate");
    expect(events).toEqual(["click ask-1", "closed ask-1 user"]);
  });

  test("closing removes the notification, also after a restart of beckon", async () => {
    const { sent, notifier } = createFixture();
    const handle = await notifier.show(alert());
    await notifier.close("ask-1");
    sent[0]?.[1]("dismissed");
    expect(sent[1]?.[0]).toEqual({ appID: "beckon", close: handle ?? "" });
    await notifier.forget(handle ?? "");
    await notifier.forget("ALL");
    expect(sent[2]?.[0]).toEqual({ appID: "beckon", close: handle ?? "" });
    expect(sent).toHaveLength(3);
    expect(events).toEqual([]);
  });

  test("at most ten alerts are open, each with its process", async () => {
    const { sent, notifier } = createFixture();
    for (let n = 0; n < 30; n++) await notifier.show(alert({ key: `ask-${n}` }));
    expect(sent.filter(([request]) => "close" in request)).toHaveLength(20);
    expect(events).toHaveLength(20);
  });

  test.each([
    ["dismissed", "user"],
    ["timeout", "expired"],
    ["hidden", "expired"],
  ])("a toast that was %s has been closed by: %s", async (answer, by) => {
    const { sent, notifier } = createFixture();
    await notifier.show(alert());
    sent[0]?.[1](answer);
    expect(events).toEqual([`closed ask-1 ${by}`]);
  });

  test("an alert that SnoreToast could not show is handed back, and is not closed", async () => {
    const { sent, failed, notifier } = createFixture();
    await notifier.show(alert());
    sent[0]?.[1](undefined);
    expect(failed).toEqual(["ask-1"]);
    expect(events).toEqual([]);
  });
});
