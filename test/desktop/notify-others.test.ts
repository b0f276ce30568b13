import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createNodeNotifier, type Send } from "../../src/desktop/notify/node-notifier.ts";
import { canWait, openNotifySend } from "../../src/desktop/notify/notify-send.ts";
import { until } from "../world.ts";
import { alert, answerable, busWorld, listen, onBus } from "./notify-fixtures.ts";

describe("by notify-send", () => {
  const { bus, news, problems, options, commands } = busWorld();

  onBus(
    "a notify-send that cannot be clicked is used without, and what it says when it fails is told once",
    async () => {
      const log = join(bus().home, "said");
      const PATH = commands({
        "notify-send": `[ "$1" = --version ] && echo "notify-send 0.7.9" && exit
for word; do printf '%s|' "$word" >>${log}; done; echo >>${log}; echo "cannot connect" >&2; exit 1`,
      });
      const notifier = await openNotifySend(options(), { ...bus().env, PATH });
      await notifier?.show(alert({ title: "-A", body: "$(id) <b>" }));
      await until(() => problems.length > 0, 2_000);
      await notifier?.show(alert({ key: "ask-2" }));
      await until(() => readFileSync(log, "utf8").includes("rm -rf"), 2_000);
      await notifier?.stop();
      const [said] = readFileSync(log, "utf8").split("\n");
      expect(said).toEndWith("|--|-A|$(id) &lt;b&gt;|");
      expect(said).not.toContain("--action");
      expect(said).not.toContain("--expire-time");
      expect(problems).toEqual(["notify-send could not show an alert: cannot connect"]);
      expect(news).toEqual([]);
    },
  );

  onBus("its buttons are named, and a click on one says which", async () => {
    const log = join(bus().home, "said");
    const PATH = commands({
      "notify-send": `[ "$1" = --version ] && echo "notify-send 0.8.1" && exit
for word; do printf '%s|' "$word" >>${log}; done; echo "allow@ask-1.abc"`,
    });
    const notifier = await openNotifySend(options(), { ...bus().env, PATH });
    await notifier?.show(answerable(3));
    await until(() => news.length > 1, 2_000);
    expect(news).toEqual(["click allow@ask-1.abc of ask-1", "closed ask-1 user"]);
    expect(readFileSync(log, "utf8")).toContain(
      "|--action=allow@ask-1.abc=Allow|--action=deny@ask-1.abc=Deny|--action=default=Go to terminal|",
    );
    await notifier?.stop();
  });

  onBus("what it could not show is asked for again, unless it is over by then", async () => {
    const PATH = commands({
      "notify-send": `[ "$1" = --version ] && echo "notify-send 0.8.1" && exit; exit 1`,
    });
    const retryMs = 300;
    const notifier = await openNotifySend(options(), { ...bus().env, PATH }, retryMs);
    await notifier?.show(alert({ key: "ask-2" }));
    await until(() => problems.length > 0, 2_000);
    expect(problems).toEqual(["notify-send could not show an alert: it ended with code 1"]);
    await notifier?.close("ask-2");
    await notifier?.show(alert());
    await until(() => news.length > 0, 2_000);
    expect(news).toEqual(["closed ask-1 unknown"]);
    await notifier?.stop();
  });

  test.each([
    ["notify-send 0.8.1", true],
    ["notify-send 1.0.0", true],
    ["notify-send 0.7.9", false],
    ["", false],
  ])("%j can be clicked: %p", (version, can) => expect(canWait(version)).toBe(can));
});

describe("by node-notifier", () => {
  const { news, options } = listen(() => "");
  type Sent = Parameters<Send>;
  const opened = () => {
    const sent: Sent[] = [];
    const notifier = createNodeNotifier(options(), (...args) => void sent.push(args));
    return { sent, notifier };
  };

  test("a click is heard, and new words for the same ask are no end of it", async () => {
    const { sent, notifier } = opened();
    await notifier.show(alert());
    const handle = await notifier.show(alert({ title: "new words" }));
    expect(sent.map(([request]) => request)).toMatchObject([
      { group: handle },
      { group: handle, title: "new words" },
    ]);
    sent[0]?.[1](null, "closed");
    sent[1]?.[1](null, "activate");
    expect(news).toEqual(["click ask-1", "closed ask-1 user"]);
  });

  test("an ask that ends takes its notification away, and so does the next start", async () => {
    const { sent, notifier } = opened();
    const handle = await notifier.show(alert());
    await notifier.close("ask-1");
    sent[0]?.[1](null, "closed");
    expect(sent[1]?.[0]).toEqual({ remove: handle ?? "" });
    await notifier.forget(handle ?? "");
    await notifier.forget("ALL");
    expect(sent[2]?.[0]).toEqual({ remove: handle ?? "" });
    expect(sent).toHaveLength(3);
    expect(news).toEqual([]);
  });

  test("many alerts are not many processes", async () => {
    const { sent, notifier } = opened();
    for (let n = 0; n < 30; n++) await notifier.show(alert({ key: `ask-${n}` }));
    expect(sent.filter(([request]) => "remove" in request)).toHaveLength(20);
    expect(news).toHaveLength(20);
  });
});
