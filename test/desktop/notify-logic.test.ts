import { expect } from "bun:test";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { waitUntil } from "../wait-until.ts";
import { alert, answerable, createBusFixture, onBus } from "./notify-fixtures.ts";
import { startServer } from "./private-bus.ts";

const { bus, open, openBoth, events, problems, options } = createBusFixture();

onBus("a blocked alert is urgent, stays until it is closed, and can be clicked", async () => {
  const { server, notifier } = await openBoth();
  const handle = await notifier.show(alert());
  const [notification] = server.received;
  expect(notification).toMatchObject({
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
  expect(notification?.hints.transient).toBeUndefined();
  expect(notification?.actions).toEqual(["default", "Go to terminal"]);
  expect(handle).toMatch(/^[0-9a-f]{32} :1\.\d+ 1$/);
  server.invokeAction(1, "default");
  await waitUntil(() => events.length > 0, 10_000);
  expect(events).toEqual(["click ask-1"]);
});

onBus("a quiet alert makes no sound and expires", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert({ kind: "idle", urgency: "low", sound: false }));
  expect(server.received[0]).toMatchObject({
    expireMs: -1,
    hints: { urgency: 0, transient: true, "suppress-sound": true },
  });
});

onBus("a message that belongs to no session has no Go to terminal", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert({ session: "", kind: "idle", urgency: "low" }));
  expect(server.received[0]?.actions).toEqual([]);
});

onBus("a server without actions and markup gets plain text and no buttons", async () => {
  const { server, notifier } = await openBoth({ capabilities: ["body"] });
  await notifier.show(alert({ body: "a < b && c > d" }));
  expect(server.received[0]).toMatchObject({ body: "a < b && c > d", actions: [] });
});

onBus("GNOME Shell gets a button, and one line for an alert that is not urgent", async () => {
  const { server, notifier } = await openBoth({ program: "gnome-shell" });
  await notifier.show(alert());
  await notifier.show(
    alert({ key: "ask-2", kind: "failed", urgency: "normal", body: "overloaded\nmain · kitty" }),
  );
  expect(server.received).toMatchObject([
    {
      body: expect.stringContaining("\nmain"),
      actions: ["default", expect.any(String), "focus", "Go to terminal"],
    },
    { body: "overloaded · main · kitty" },
  ]);
  server.invokeAction(2, "focus");
  await waitUntil(() => events.length > 0, 10_000);
  expect(events).toEqual(["click ask-2"]);
});

onBus(
  "an alert that can be answered has the exact text and buttons, and a click names the button",
  async () => {
    const { server, notifier } = await openBoth();
    await notifier.show(answerable(3));
    expect(server.received[0]).toMatchObject({
      body: "  step   &lt;0&gt;\n  step   &lt;1&gt;\nmain · tmux",
      actions: ["allow@ask-1.abc", "Allow", "deny@ask-1.abc", "Deny", "default", "Go to terminal"],
    });
    server.invokeAction(1, "allow@ask-1.abc");
    await waitUntil(() => events.length > 0, 10_000);
    expect(events[0]).toBe("click allow@ask-1.abc of ask-1");
  },
);

onBus(
  "Allow is not offered for a text that the server would cut, and GNOME Shell gets at most three buttons",
  async () => {
    const { server, notifier } = await openBoth({ program: "gnome-shell" });
    const [allow, deny] = answerable(6).buttons ?? [];
    if (!allow || !deny) throw new Error("no buttons");
    await notifier.show(answerable(6));
    await notifier.show(answerable(7, { key: "ask-2" }));
    await notifier.show(answerable(3, { key: "ask-3", buttons: [allow, deny, { ...allow, id: "b" }] }));
    expect(server.received.map(({ actions }) => actions.filter((_, n) => n % 2 === 0))).toEqual([
      [allow.id, deny.id, "default", "focus"],
      [deny.id, "default", "focus"],
      [allow.id, deny.id, "b", "default"],
    ]);
  },
);

onBus("an unknown server is assumed to show four lines", async () => {
  const { server, notifier } = await openBoth({ program: "a new one" });
  await notifier.show(answerable(4));
  await notifier.show(answerable(5, { key: "ask-2" }));
  expect(server.received.map(({ actions }) => actions.includes("Allow"))).toEqual([true, false]);
});

onBus("a server without actions gets no answers to offer", async () => {
  const { server, notifier } = await openBoth({ capabilities: ["body"] });
  await notifier.show(answerable(3));
  expect(server.received[0]?.actions).toEqual([]);
});

onBus("a click counts once, although GNOME signals it twice", async () => {
  const { server, notifier } = await openBoth({ sendsTwice: true });
  await notifier.show(alert());
  server.invokeAction(1, "default");
  await server.flush();
  server.close(1, 2);
  await server.flush();
  // When this call is answered, all earlier signals have arrived.
  await notifier.show(alert({ key: "ask-2" }));
  expect(events).toEqual(["click ask-1", "closed ask-1 user"]);
});

for (const [reason, by] of [
  [1, "expired"],
  [2, "user"],
  [3, "user"],
  [4, "expired"],
] as const) {
  onBus(`an alert that was closed for reason ${reason}: ${by}`, async () => {
    const { server, notifier } = await openBoth();
    await notifier.show(alert());
    server.close(1, reason);
    await waitUntil(() => events.length > 0, 10_000);
    expect(events).toEqual([`closed ask-1 ${by}`]);
  });
}

onBus("an alert that beckon closes is not reported as closed", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert());
  await notifier.close("ask-1");
  expect(server.closed).toEqual([1]);
  await notifier.show(alert({ key: "ask-2" }));
  expect(events).toEqual([]);
  await notifier.close("never shown");
  expect(server.closed).toEqual([1]);
});

onBus("an update of an alert replaces it, without a sound", async () => {
  const { server, notifier } = await openBoth();
  const first = await notifier.show(alert());
  const second = await notifier.show(alert({ title: "still waiting" }));
  expect(second).toBe(first);
  expect(server.onScreen.size).toBe(1);
  expect(server.received[1]).toMatchObject({
    replaces: 1,
    title: "still waiting",
    hints: { "suppress-sound": true },
  });
});

onBus("of many updates at once for one alert, the last one is on the screen, once", async () => {
  const { server, notifier } = await openBoth();
  await Promise.all([1, 2, 3, 4, 5].map((n) => notifier.show(alert({ title: `update ${n}` }))));
  expect([...server.onScreen.values()].map(({ title }) => title)).toEqual(["update 5"]);
  const showing = notifier.show(alert({ key: "ask-2" }));
  const closing = notifier.close("ask-2");
  expect(await showing).toBeNull();
  await closing;
  expect([...server.onScreen.keys()]).toEqual([1]);
});

onBus("a command with backslashes reaches the server as it is", async () => {
  const { server, notifier } = await openBoth();
  const body = String.raw`\rm \074b\076 \n C:\new`;
  await notifier.show(alert({ title: body, body, isExact: true }));
  expect(server.received[0]).toMatchObject({ title: body, body });
});

onBus("hostile text reaches the screen as text", async () => {
  const { server, notifier } = await openBoth();
  const hostile = [
    "<b>bold</b> &amp; <a href='x'>link</a><img src=/etc/passwd>",
    "lone \ud800 surrogate, NUL \0 and bell \x07 and \x1b[31mred",
    "\u202egnp.exe",
    "x".repeat(10_000),
    ...Array.from({ length: 50 }, (_, n) => `line ${n}`),
  ].join("\n");
  await notifier.show(alert({ title: `<i>\n\0\udc00${"t".repeat(10_000)}`, body: hostile }));
  const [notification] = server.received;
  const lines = notification?.body.split("\n") ?? [];
  expect(lines[0]).toBe(
    "&lt;b&gt;bold&lt;/b&gt; &amp;amp; &lt;a href='x'&gt;link&lt;/a&gt;&lt;img src=/etc/passwd&gt;",
  );
  expect(lines[1]).toBe("lone \ufffd surrogate, NUL and bell and red");
  expect(lines[2]).toBe("gnp.exe");
  expect(lines[3]?.length).toBeLessThan(200);
  expect(lines.length).toBeLessThanOrEqual(6);
  expect(notification?.title).toStartWith("<i> ");
  expect(notification?.title.length).toBeLessThan(100);
  await notifier.show(alert({ key: "ask-2", title: "", body: "" }));
  expect(server.received[1]).toMatchObject({ title: "beckon", body: "" });
});

onBus(
  "a server that does not answer blocks nothing, and its late notification is closed",
  async () => {
    const { server, notifier } = await openBoth();
    await notifier.show(alert());
    server.hang();
    expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
    const closing = notifier.close("ask-2");
    server.resume();
    await closing;
    await waitUntil(() => server.closed.length === 1, 10_000);
    expect([...server.onScreen.keys()]).toEqual([1]);
  },
  20_000,
);

onBus("an alert that the server closes before its answer is read counts as closed", async () => {
  const { server, notifier } = await openBoth();
  server.closeBeforeAnswer(1);
  expect(await notifier.show(alert())).toBeNull();
  expect(events).toEqual(["closed ask-1 expired"]);
  server.closeBeforeAnswer(null);
  expect(await notifier.show(alert())).not.toBeNull();
  expect(server.onScreen.size).toBe(1);
});

onBus("an alert that the user dismisses stays away, although an update was being sent", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert());
  server.hang();
  const showing = notifier.show(alert({ title: "update" }));
  await waitUntil(() => server.waitingCalls() > 0, 10_000);
  server.close(1, 2);
  await waitUntil(() => events.length > 0, 10_000);
  server.resume();
  expect(await showing).toBeNull();
  expect(server.onScreen.size).toBe(0);
  expect(events).toEqual(["closed ask-1 user"]);
  expect(await notifier.show(alert({ title: "shown again" }))).not.toBeNull();
  expect(server.onScreen.size).toBe(1);
});

onBus(
  "after a restart of the server its alerts are reported as lost, and its old ids are not used",
  async () => {
    const { server, notifier } = await openBoth();
    const handle = await notifier.show(alert());
    server.quit();
    const next = await startServer(bus());
    await waitUntil(() => events.length > 0, 10_000);
    expect(events).toEqual(["closed ask-1 unknown"]);
    const showInOtherProgram = await createOtherProgram();
    await showInOtherProgram("another program");
    await notifier.close("ask-1");
    await notifier.forget(handle ?? "");
    expect(next.closed).toEqual([]);
    expect(await notifier.show(alert(), handle)).not.toBe(handle);
    expect(next.received.at(-1)?.replaces).toBe(0);
  },
);

/** Another program that shows notifications on the same server. */
async function createOtherProgram() {
  const other = await open();
  return (title: string) => other.show(alert({ key: title, title }));
}

onBus("a missing server is reported once, and the alert is requested again when there is one", async () => {
  const notifier = await open();
  expect(await notifier.show(alert())).toBeNull();
  expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain("no notification service runs on this desktop");
  await notifier.close("ask-2");
  await startServer(bus());
  await waitUntil(() => events.length > 0, 10_000);
  expect(events).toEqual(["closed ask-1 unknown"]);
  expect(await notifier.show(alert())).not.toBeNull();
});

onBus("alerts are requested again after the bus was killed during a call and came back", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert());
  server.hang();
  const showing = notifier.show(alert({ key: "ask-2" }));
  await waitUntil(() => server.waitingCalls() > 0, 10_000);
  await bus().kill();
  expect(await showing).toBeNull();
  expect(await notifier.show(alert({ key: "ask-3" }))).toBeNull();
  await notifier.close("ask-3");
  expect(await notifier.isSilenced()).toBeNull();
  await bus().start();
  const next = await startServer(bus());
  await waitUntil(() => events.length === 2, 10_000);
  expect(events.toSorted()).toEqual(["closed ask-1 unknown", "closed ask-2 unknown"]);
  await notifier.show(alert());
  expect(next.onScreen.size).toBe(1);
});

onBus("after a restart of beckon an open alert is replaced, and old ones are closed", async () => {
  const { server, notifier } = await openBoth();
  const handles = [await notifier.show(alert()), await notifier.show(alert({ key: "ask-2" }))];
  const again = await open();
  expect(await again.show(alert({ title: "still open" }), handles[0])).toBe(handles[0] ?? "");
  await again.forget(handles[1] ?? "");
  expect([...server.onScreen.values()].map(({ title }) => title)).toEqual(["still open"]);
  for (const junk of ["", "1", "0 :1.2 0", `${handles[0]}9999999999`, "x".repeat(9_999)])
    await again.forget(junk);
  expect(server.closed).toEqual([2]);
});

onBus("quitting leaves nothing on the screen", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert());
  void notifier.show(alert({ key: "ask-2" }));
  await notifier.stop();
  await waitUntil(() => server.closed.length === 2, 10_000);
  expect(server.onScreen.size).toBe(0);
  expect(await notifier.show(alert())).toBeNull();
});

onBus("quitting does not wait for a server that hangs", async () => {
  const { server, notifier } = await openBoth();
  await notifier.show(alert());
  server.hang();
  await notifier.stop();
  expect(server.closed).toEqual([]);
});

onBus("a thousand alerts are shown and closed", async () => {
  const { server, notifier } = await openBoth();
  const keys = Array.from({ length: 1_000 }, (_, n) => `ask-${n}`);
  const handles = await Promise.all(keys.map((key) => notifier.show(alert({ key, title: key }))));
  expect(new Set(handles).size).toBe(1_000);
  expect(server.onScreen.size).toBe(1_000);
  for (const key of ["ask-0", "ask-500", "ask-999"]) server.invokeAction(server.idOf(key), "default");
  await waitUntil(() => events.length === 3, 10_000);
  expect(events).toEqual(["click ask-0", "click ask-500", "click ask-999"]);
  await Promise.all(keys.map((key) => notifier.close(key)));
  expect(server.onScreen.size).toBe(0);
});

onBus("a bus that starts later than beckon is reported once, and the alert is requested again", async () => {
  await bus().kill();
  const notifier = await open();
  expect(await notifier.show(alert())).toBeNull();
  expect(await notifier.show(alert({ key: "ask-2" }))).toBeNull();
  expect(problems).toEqual([expect.stringContaining("the session bus does not answer")]);
  await notifier.close("ask-2");
  await bus().start();
  const server = await startServer(bus());
  await waitUntil(() => events.length > 0, 10_000);
  expect(events).toEqual(["closed ask-1 unknown"]);
  expect(await notifier.show(alert())).not.toBeNull();
  expect(server.onScreen.size).toBe(1);
});

onBus("without a bus address there is no notifier", async () => {
  expect(await openFreedesktopNotifier(options(), {})).toBeNull();
  expect(await openFreedesktopNotifier(options(), { DBUS_SESSION_BUS_ADDRESS: "autolaunch:" })).toBeNull();
});
