import { expect } from "bun:test";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { until } from "../world.ts";
import { alert, answerable, busWorld, onBus } from "./notify-fixtures.ts";
import { startServer } from "./private-bus.ts";

const { bus, open, both, news, problems, options } = busWorld();

onBus("a blocked alert is urgent, stays until it is closed, and can be clicked", async () => {
  const { server, notifier } = await both();
  const handle = await notifier.show(alert());
  const [shown] = server.heard;
  expect(shown).toMatchObject({
    app: "beckon",
    replaces: 0,
    title: "checkout-api wants to run a command",
    body: "rm -rf node_modules &amp;&amp; npm ci &lt;now&gt;\nmain · tmux",
    expireMs: 0,
    hints: {
      urgency: 2,
      category: "x-beckon.blocked",
      "desktop-entry": "beckon",
      "sound-name": "message-new-instant",
    },
  });
  expect(shown?.hints.transient).toBeUndefined();
  expect(shown?.actions).toEqual(["default", "Go to terminal"]);
  expect(handle).toMatch(/^[0-9a-f]{32} :1\.\d+ 1$/);
  server.act(1, "default");
  await until(() => news.length > 0, 2_000);
  expect(news).toEqual(["click ask-1"]);
});

onBus("a quiet alert makes no sound and goes by itself", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert({ kind: "idle", urgency: "low", sound: false }));
  expect(server.heard[0]).toMatchObject({
    expireMs: -1,
    hints: { urgency: 0, transient: true, "suppress-sound": true },
  });
});

onBus("a word of beckon's own, about no session, offers no way to a terminal", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert({ session: "", kind: "idle", urgency: "low" }));
  expect(server.heard[0]?.actions).toEqual([]);
});

onBus("a server that knows no actions and no markup gets plain text and no button", async () => {
  const { server, notifier } = await both({ capabilities: ["body"] });
  await notifier.show(alert({ body: "a < b && c > d" }));
  expect(server.heard[0]).toMatchObject({ body: "a < b && c > d", actions: [] });
});

onBus("GNOME Shell gets a button, and one line of what is not urgent", async () => {
  const { server, notifier } = await both({ program: "gnome-shell" });
  await notifier.show(alert());
  await notifier.show(
    alert({ key: "ask-2", kind: "failed", urgency: "normal", body: "overloaded\nmain · kitty" }),
  );
  expect(server.heard).toMatchObject([
    {
      body: expect.stringContaining("\nmain"),
      actions: ["default", expect.any(String), "focus", "Go to terminal"],
    },
    { body: "overloaded · main · kitty" },
  ]);
  server.act(2, "focus");
  await until(() => news.length > 0, 2_000);
  expect(news).toEqual(["click ask-2"]);
});

onBus("what can be answered has its exact words and its buttons, and a click says which", async () => {
  const { server, notifier } = await both();
  await notifier.show(answerable(3));
  expect(server.heard[0]).toMatchObject({
    body: "  step   &lt;0&gt;\n  step   &lt;1&gt;\nmain · tmux",
    actions: ["allow@ask-1.abc", "Allow", "deny@ask-1.abc", "Deny", "default", "Go to terminal"],
  });
  server.act(1, "allow@ask-1.abc");
  await until(() => news.length > 0, 2_000);
  expect(news[0]).toBe("click allow@ask-1.abc of ask-1");
});

onBus("nobody can allow what a server would cut, and GNOME Shell shows three buttons at most", async () => {
  const { server, notifier } = await both({ program: "gnome-shell" });
  const [allow, deny] = answerable(6).buttons ?? [];
  if (!allow || !deny) throw new Error("no buttons");
  await notifier.show(answerable(6));
  await notifier.show(answerable(7, { key: "ask-2" }));
  await notifier.show(answerable(3, { key: "ask-3", buttons: [allow, deny, { ...allow, id: "b" }] }));
  expect(server.heard.map(({ actions }) => actions.filter((_, n) => n % 2 === 0))).toEqual([
    [allow.id, deny.id, "default", "focus"],
    [deny.id, "default", "focus"],
    [allow.id, deny.id, "b", "default"],
  ]);
});

onBus("of a server that nobody has looked at, little room is taken for granted", async () => {
  const { server, notifier } = await both({ program: "a new one" });
  await notifier.show(answerable(4));
  await notifier.show(answerable(5, { key: "ask-2" }));
  expect(server.heard.map(({ actions }) => actions.includes("Allow"))).toEqual([true, false]);
});

onBus("a server that knows no actions gets no answer to offer", async () => {
  const { server, notifier } = await both({ capabilities: ["body"] });
  await notifier.show(answerable(3));
  expect(server.heard[0]?.actions).toEqual([]);
});

onBus("one click is one click, though GNOME says it twice", async () => {
  const { server, notifier } = await both({ isDouble: true });
  await notifier.show(alert());
  server.act(1, "default");
  await server.sent();
  server.close(1, 2);
  await server.sent();
  // Whatever was sent before this has come with it.
  await notifier.show(alert({ key: "ask-2" }));
  expect(news).toEqual(["click ask-1", "closed ask-1 user"]);
});

for (const [reason, by] of [
  [1, "expired"],
  [2, "user"],
  [3, "user"],
  [4, "expired"],
] as const) {
  onBus(`an alert that ended for reason ${reason} was closed: ${by}`, async () => {
    const { server, notifier } = await both();
    await notifier.show(alert());
    server.close(1, reason);
    await until(() => news.length > 0, 2_000);
    expect(news).toEqual([`closed ask-1 ${by}`]);
  });
}

onBus("what beckon closes itself is no news", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert());
  await notifier.close("ask-1");
  expect(server.closed).toEqual([1]);
  await notifier.show(alert({ key: "ask-2" }));
  expect(news).toEqual([]);
  await notifier.close("never shown");
  expect(server.closed).toEqual([1]);
});

onBus("new words for the same ask take the old ones' place, silently", async () => {
  const { server, notifier } = await both();
  const first = await notifier.show(alert());
  const second = await notifier.show(alert({ title: "still waiting" }));
  expect(second).toBe(first);
  expect(server.onScreen.size).toBe(1);
  expect(server.heard[1]).toMatchObject({
    replaces: 1,
    title: "still waiting",
    hints: { "suppress-sound": true },
  });
});

onBus("many wishes at once for one ask end with the last, once on the screen", async () => {
  const { server, notifier } = await both();
  await Promise.all([1, 2, 3, 4, 5].map((n) => notifier.show(alert({ title: `words ${n}` }))));
  expect([...server.onScreen.values()].map(({ title }) => title)).toEqual(["words 5"]);
  const showing = notifier.show(alert({ key: "ask-2" }));
  const closing = notifier.close("ask-2");
  expect(await showing).toBeNull();
  await closing;
  expect([...server.onScreen.keys()]).toEqual([1]);
});

onBus("hostile words reach the screen as words", async () => {
  const { server, notifier } = await both();
  const hostile = [
    "<b>bold</b> &amp; <a href='x'>link</a><img src=/etc/passwd>",
    "lone \ud800 surrogate, NUL \0 and bell \x07 and \x1b[31mred",
    "\u202egnp.exe",
    "x".repeat(10_000),
    ...Array.from({ length: 50 }, (_, n) => `line ${n}`),
  ].join("\n");
  await notifier.show(alert({ title: `<i>\n\0\udc00${"t".repeat(10_000)}`, body: hostile }));
  const [shown] = server.heard;
  const lines = shown?.body.split("\n") ?? [];
  expect(lines[0]).toBe(
    "&lt;b&gt;bold&lt;/b&gt; &amp;amp; &lt;a href='x'&gt;link&lt;/a&gt;&lt;img src=/etc/passwd&gt;",
  );
  expect(lines[1]).toBe("lone \ufffd surrogate, NUL and bell and red");
  expect(lines[2]).toBe("gnp.exe");
  expect(lines[3]?.length).toBeLessThan(200);
  expect(lines.length).toBeLessThanOrEqual(6);
  expect(shown?.title).toStartWith("<i> ");
  expect(shown?.title.length).toBeLessThan(100);
  await notifier.show(alert({ key: "ask-2", title: "", body: "" }));
  expect(server.heard[1]).toMatchObject({ title: "beckon", body: "" });
});

onBus(
  "a server that never answers holds nothing up; when it goes on, its late notification is taken back",
  async () => {
    const { server, notifier } = await both();
    await notifier.show(alert());
    server.hang();
    const started = performance.now();
    expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
    expect(performance.now() - started).toBeLessThan(8_000);
    const closing = notifier.close("ask-2");
    server.goOn();
    await closing;
    await until(() => server.closed.length === 1, 2_000);
    expect([...server.onScreen.keys()]).toEqual([1]);
  },
  20_000,
);

onBus("an alert that the server ends before its answer is read is known to be gone", async () => {
  const { server, notifier } = await both();
  server.closeAtOnce(1);
  expect(await notifier.show(alert())).toBeNull();
  expect(news).toEqual(["closed ask-1 expired"]);
  server.closeAtOnce(null);
  expect(await notifier.show(alert())).not.toBeNull();
  expect(server.onScreen.size).toBe(1);
});

onBus("an alert sent away by the person stays away, though new words for it were on their way", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert());
  server.hang();
  const showing = notifier.show(alert({ title: "new words" }));
  await until(() => server.asked() > 0, 2_000);
  server.close(1, 2);
  await until(() => news.length > 0, 2_000);
  server.goOn();
  expect(await showing).toBeNull();
  expect(server.onScreen.size).toBe(0);
  expect(news).toEqual(["closed ask-1 user"]);
  expect(await notifier.show(alert({ title: "asked for again" }))).not.toBeNull();
  expect(server.onScreen.size).toBe(1);
});

onBus(
  "a restarted server: what was on its screen is told, and its ids are not used on the new one",
  async () => {
    const { server, notifier } = await both();
    const handle = await notifier.show(alert());
    server.quit();
    const next = await startServer(bus());
    await until(() => news.length > 0, 3_000);
    expect(news).toEqual(["closed ask-1 unknown"]);
    const stranger = await startServerClient();
    await stranger("somebody else's");
    await notifier.close("ask-1");
    await notifier.forget(handle ?? "");
    expect(next.closed).toEqual([]);
    expect(await notifier.show(alert(), handle)).not.toBe(handle);
    expect(next.heard.at(-1)?.replaces).toBe(0);
  },
);

/** Another program that shows something on the same server. */
async function startServerClient() {
  const other = await open();
  return (title: string) => other.show(alert({ key: title, title }));
}

onBus("without a server beckon says so once, and tells when one has come", async () => {
  const notifier = await open();
  expect(await notifier.show(alert())).toBeNull();
  expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain("no notification service runs on this desktop");
  await notifier.close("ask-2");
  await startServer(bus());
  await until(() => news.length > 0, 3_000);
  expect(news).toEqual(["closed ask-1 unknown"]);
  expect(await notifier.show(alert())).not.toBeNull();
});

onBus("a bus that dies under a call, and comes back with a server", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert());
  server.hang();
  const showing = notifier.show(alert({ key: "ask-2" }));
  await until(() => server.asked() > 0, 2_000);
  await bus().kill();
  expect(await showing).toBeNull();
  expect(await notifier.show(alert({ key: "ask-3" }))).toBeNull();
  await notifier.close("ask-3");
  expect(await notifier.isSilenced()).toBeNull();
  await bus().start();
  const next = await startServer(bus());
  await until(() => news.length === 2, 5_000);
  expect(news.toSorted()).toEqual(["closed ask-1 unknown", "closed ask-2 unknown"]);
  await notifier.show(alert());
  expect(next.onScreen.size).toBe(1);
});

onBus(
  "after a restart of beckon: the same place for what is still asked, and the rest is taken away",
  async () => {
    const { server, notifier } = await both();
    const handles = [await notifier.show(alert()), await notifier.show(alert({ key: "ask-2" }))];
    const again = await open();
    expect(await again.show(alert({ title: "still" }), handles[0])).toBe(handles[0] ?? "");
    await again.forget(handles[1] ?? "");
    expect([...server.onScreen.values()].map(({ title }) => title)).toEqual(["still"]);
    for (const junk of ["", "1", "0 :1.2 0", `${handles[0]}9999999999`, "x".repeat(9_999)])
      await again.forget(junk);
    expect(server.closed).toEqual([2]);
  },
);

onBus("on quitting, beckon leaves nothing on the screen", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert());
  void notifier.show(alert({ key: "ask-2" }));
  await notifier.stop();
  await until(() => server.closed.length === 2, 2_000);
  expect(server.onScreen.size).toBe(0);
  expect(await notifier.show(alert())).toBeNull();
});

onBus("on quitting, beckon does not wait for a server that hangs", async () => {
  const { server, notifier } = await both();
  await notifier.show(alert());
  server.hang();
  const started = performance.now();
  await notifier.stop();
  expect(performance.now() - started).toBeLessThan(1_500);
});

onBus("a thousand alerts, shown and taken back", async () => {
  const { server, notifier } = await both();
  const keys = Array.from({ length: 1_000 }, (_, n) => `ask-${n}`);
  const handles = await Promise.all(keys.map((key) => notifier.show(alert({ key, title: key }))));
  expect(new Set(handles).size).toBe(1_000);
  expect(server.onScreen.size).toBe(1_000);
  for (const key of ["ask-0", "ask-500", "ask-999"]) server.act(server.idOf(key), "default");
  await until(() => news.length === 3, 2_000);
  expect(news).toEqual(["click ask-0", "click ask-500", "click ask-999"]);
  await Promise.all(keys.map((key) => notifier.close(key)));
  expect(server.onScreen.size).toBe(0);
});

onBus(
  "a bus that comes later than beckon: says so once, and tells when it has come with a server",
  async () => {
    await bus().kill();
    const notifier = await open();
    expect(await notifier.show(alert())).toBeNull();
    expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
    expect(problems).toEqual([expect.stringContaining("the session bus does not answer")]);
    await notifier.close("ask-2");
    await bus().start();
    const server = await startServer(bus());
    await until(() => news.length > 0, 5_000);
    expect(news).toEqual(["closed ask-1 unknown"]);
    expect(await notifier.show(alert())).not.toBeNull();
    expect(server.onScreen.size).toBe(1);
  },
);

onBus("no bus, or one that must be started by others first: no notifier", async () => {
  expect(await openFreedesktopNotifier(options(), {})).toBeNull();
  expect(await openFreedesktopNotifier(options(), { DBUS_SESSION_BUS_ADDRESS: "autolaunch:" })).toBeNull();
});
