/** What tests of notifiers share: an alert, what was heard of it, and a bus with a server of their own. */
import { afterEach, beforeEach } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Notifier, NotifierOptions } from "../../src/core/ports.ts";
import type { Alert } from "../../src/core/view/view.ts";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { hasAll, testWith } from "../needs.ts";
import { type FakeServerOptions, type PrivateBus, startBus, startServer } from "./private-bus.ts";

export const alert = (more: Partial<Alert> = {}): Alert => ({
  key: "ask-1",
  session: "claude:1",
  kind: "blocked",
  urgency: "critical",
  sound: true,
  title: "checkout-api wants to run a command",
  body: "rm -rf node_modules && npm ci <now>\nmain · tmux",
  since: 0,
  ...more,
});

/** An ask with so many rows, that can be answered. */
export const answerable = (rows: number, more: Partial<Alert> = {}): Alert => {
  const action = { do: "answer", session: "claude:1", ask: "ask-1.abc", by: "notification" } as const;
  return alert({
    body: [...Array.from({ length: rows - 1 }, (_, n) => `  step   <${n}>`), "main · tmux"].join("\n"),
    isExact: true,
    buttons: [
      {
        id: "allow@ask-1.abc",
        label: "Allow",
        action: { ...action, answer: { do: "allow" } },
        needsAll: true,
      },
      {
        id: "deny@ask-1.abc",
        label: "Deny",
        action: { ...action, answer: { do: "deny", message: null } },
        needsAll: false,
      },
    ],
    ...more,
  });
};

/** What a notifier told, in words: `click ask-1`, `closed ask-1 user`. */
export function listen(folder: () => string) {
  const news: string[] = [];
  const problems: string[] = [];
  const options = (): NotifierOptions => ({
    folder: folder(),
    onClick: (key, button) => news.push(button === null ? `click ${key}` : `click ${button} of ${key}`),
    onClosed: (key, by) => news.push(`closed ${key} ${by}`),
    onProblem: (text) => problems.push(text),
  });
  beforeEach(() => {
    news.length = 0;
    problems.length = 0;
  });
  return { news, problems, options };
}

/** For testWith: without these there is no bus. */
const busNeeds = ["linux", "dbus-daemon", "setpriv"] as const;
export const onBus = testWith(...busNeeds);

/** A fresh bus for each test. */
export function busWorld() {
  let bus: PrivateBus;
  const notifiers: Notifier[] = [];
  const heard = listen(() => bus.home);
  beforeEach(async () => {
    if (hasAll(busNeeds)) bus = await startBus();
  });
  afterEach(async () => {
    await Promise.all(notifiers.splice(0).map((notifier) => notifier.stop()));
    if (hasAll(busNeeds)) await bus.stop();
  });

  async function open(env: Readonly<Record<string, string>> = bus.env): Promise<Notifier> {
    const notifier = await openFreedesktopNotifier(heard.options(), env);
    if (notifier === null) throw new Error("no notifier");
    notifiers.push(notifier);
    return notifier;
  }

  return {
    ...heard,
    bus: () => bus,
    open,
    both: async (options: FakeServerOptions = {}) => ({
      server: await startServer(bus, options),
      notifier: await open(),
    }),
    /** A folder of commands, each a shell script. */
    commands(scripts: Readonly<Record<string, string>>): string {
      const folder = join(bus.home, "bin");
      mkdirSync(folder);
      for (const [command, script] of Object.entries(scripts)) {
        writeFileSync(join(folder, command), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      }
      return folder;
    },
  };
}
