/** What tests of notifiers share: alerts, recorded events, and a private bus with a fake server. */
import { afterEach, beforeEach } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Notifier, NotifierOptions } from "../../src/core/interfaces/index.ts";
import type { Alert } from "../../src/core/view/view.ts";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { createStep } from "../core/answers/fixture.ts";
import { hasAll, testWith } from "../needs.ts";
import { type FakeServerOptions, type PrivateBus, startBus, startServer } from "./private-bus.ts";

export const alert = (more: Partial<Alert> = {}): Alert => ({
  key: "ask-1",
  session: "claude:1",
  kind: "blocked",
  urgency: "urgent",
  sound: true,
  title: "checkout-api wants to run a command",
  body: "rm -rf node_modules && npm ci <now>\nmain · tmux",
  since: 0,
  ...more,
});

/** An alert that can be answered, with this many lines. */
export const answerable = (lines: number, more: Partial<Alert> = {}): Alert => {
  const action = {
    do: "answer",
    session: "claude:1",
    ask: "ask-1.abc",
    step: createStep("notification"),
  } as const;
  return alert({
    body: [...Array.from({ length: lines - 1 }, (_, n) => `  step   <${n}>`), "main · tmux"].join("\n"),
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

/** Records the events of a notifier as text: `click ask-1`, `closed ask-1 user`. */
export function recordEvents(folder: () => string) {
  const events: string[] = [];
  const problems: string[] = [];
  const options = (): NotifierOptions => ({
    folder: folder(),
    onClick: (key, button) => events.push(button === null ? `click ${key}` : `click ${button} of ${key}`),
    onClosed: (key, by) => events.push(`closed ${key} ${by}`),
    onProblem: (text) => problems.push(text),
  });
  beforeEach(() => {
    events.length = 0;
    problems.length = 0;
  });
  return { events, problems, options };
}

/** What a private bus needs, for testWith. */
export const busNeeds = ["linux", "dbus-daemon", "setpriv"] as const;
export const onBus = testWith(...busNeeds);

/** A new bus for each test. */
export function createBusFixture() {
  let bus: PrivateBus;
  const notifiers: Notifier[] = [];
  const recorded = recordEvents(() => bus.home);
  beforeEach(async () => {
    if (hasAll(busNeeds)) bus = await startBus();
  });
  afterEach(async () => {
    await Promise.all(notifiers.splice(0).map((notifier) => notifier.stop()));
    if (hasAll(busNeeds)) await bus.stop();
  });

  async function open(env: Readonly<Record<string, string>> = bus.env): Promise<Notifier> {
    const notifier = await openFreedesktopNotifier(recorded.options(), env);
    if (notifier === null) throw new Error("no notifier");
    notifiers.push(notifier);
    return notifier;
  }

  return {
    ...recorded,
    bus: () => bus,
    open,
    openBoth: async (options: FakeServerOptions = {}) => ({
      server: await startServer(bus, options),
      notifier: await open(),
    }),
    /** Creates a folder of commands, each a shell script. */
    createCommands(scripts: Readonly<Record<string, string>>): string {
      const folder = join(bus.home, "bin");
      mkdirSync(folder);
      for (const [command, script] of Object.entries(scripts)) {
        writeFileSync(join(folder, command), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      }
      return folder;
    },
  };
}
