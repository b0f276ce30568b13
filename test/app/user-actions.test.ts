import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNavigation, type NavigationOptions } from "../../src/app/navigation.ts";
import { createUserActions, type UserActionsOptions } from "../../src/app/user-actions.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { FocusOutcome } from "../../src/core/terminals/terminal.ts";
import { watchConfig } from "../../src/storage/config-file.ts";
import { createStep } from "../core/answers/fixture.ts";
import { blocked, keyOf, minute, now } from "../core/view/menu/fixture.ts";

const session = blocked("shop", minute);

/** Runs the action and returns the messages and problems it showed. */
async function click(
  action: UserAction,
  answer: UserActionsOptions["requests"]["answer"],
  more: Partial<UserActionsOptions & NavigationOptions> = {},
): Promise<readonly string[]> {
  const messages: string[] = [];
  const never = () => {
    throw new Error("not asked for here");
  };
  const navigation = createNavigation({
    locate: async () => null,
    terminals: { focus: never },
    clock: () => ({ ...now, host: "h", boot: "b" }),
    sessions: () => [session],
    preferences: () => noPreferences,
    config: () => defaultConfig,
    selectPane: never,
    findTranscript: never,
    openFile: never,
    ...more,
  });
  const run = createUserActions({
    navigation,
    setPreference: never,
    showMessage: (...parts) => void messages.push(parts.join(": ")),
    requests: { answer },
    configPath: "",
    version: "1.2.3",
    url: "",
    openFile: never,
    openPage: never,
    createPageUrl: never,
    openList: never,
    copy: never,
    connect: never,
    agentName: (agent) => agent,
    quit: never,
    onProblem: (text) => void messages.push(text),
    ...more,
  });
  await run(action);
  return messages;
}
const allow = (key: string) =>
  ({
    do: "answer",
    session: key,
    ask: "ask-1.abc",
    answer: { do: "allow" },
    step: createStep("menu"),
  }) as const;

test("the transcript of a session is opened, or the reason is shown", async () => {
  const action = { do: "transcript", session: keyOf(session) } as const;
  const opened: string[] = [];
  const openFile = async (path: string) => {
    opened.push(path);
    return null;
  };
  const findTranscript = async () => "/home/dev/t.jsonl";
  expect(await click(action, () => Promise.reject(), { findTranscript, openFile })).toEqual([]);
  expect(opened).toEqual(["/home/dev/t.jsonl"]);
  expect(await click(action, () => Promise.reject(), { findTranscript: async () => null })).toEqual([
    "The transcript could not be opened: this machine has no transcript of the session",
  ]);
});

test("a background session cannot be gone to, but opened in a terminal", async () => {
  const background = { ...session, attach: "claude attach 4da40465" };
  const action = { do: "focus", session: keyOf(session) } as const;
  const messages = await click(action, () => Promise.reject(), { sessions: () => [background] });
  expect(messages.join()).toContain(
    "It runs in the background. Open it in a terminal: claude attach 4da40465.",
  );
});

test("a session that died can be gone to while its pane is there; otherwise a message says why", async () => {
  const died = { ...session, ended: { at: now.at, t: now.t, reason: "process gone", whileBusy: true } };
  const goTo = (outcome: FocusOutcome) =>
    click({ do: "focus", session: keyOf(session) }, () => Promise.reject(), {
      sessions: () => [died],
      terminals: { focus: () => Promise.resolve(outcome) },
    });
  expect(await goTo({ result: "exact", by: "tmux", why: null })).toEqual([]);
  const messages = await goTo({ result: "impossible", by: "tmux", why: "its process 7 has ended" });
  expect(messages.join()).toContain("The session has ended, and its process 7 has ended.");
});

test("a click answers the ask it was shown for, and shows no message if that worked", async () => {
  const answers: unknown[] = [];
  const messages = await click(allow(keyOf(session)), async (...all) => {
    answers.push(all);
    return { ok: true, answered: "allowed" };
  });
  expect(answers).toEqual([[session, "ask-1.abc", { do: "allow" }, createStep("menu")]]);
  expect(messages).toEqual([]);
});

test("an answer that comes too late shows a message", async () => {
  const messages = await click(allow(keyOf(session)), async () => ({
    refused: 409,
    error: "this ask is gone: it was answered in the terminal, or ended",
  }));
  expect(messages).toEqual([
    "Nothing was answered: This ask is gone: it was answered in the terminal, or ended",
  ]);
});

test("an answer that may or may not have arrived is not called unanswered", async () => {
  const messages = await click(allow(keyOf(session)), async () => ({
    refused: 409,
    error: "it is not known whether your answer arrived: the link to devbox was lost. Look there",
    isUnknown: true,
  }));
  expect(messages).toEqual([
    "Your answer may not have arrived: It is not known whether your answer arrived: the link to devbox was lost. Look there",
  ]);
});

test("a session that is gone is not answered", async () => {
  const messages = await click(allow("claude:gone"), () => {
    throw new Error("answered");
  });
  expect(messages).toEqual(["Nothing was answered: This session is over"]);
});

test("Settings… opens the settings on the page", async () => {
  const opened: string[] = [];
  const openPage = async (url: string) => {
    opened.push(url);
    return null;
  };
  const createPageUrl = () => "http://127.0.0.1:4488/?code=abc";
  expect(await click({ do: "settings" }, async () => "", { createPageUrl, openPage })).toEqual([]);
  expect(opened).toEqual(["http://127.0.0.1:4488/?code=abc#settings"]);
});

test("Settings… without a browser opens a file that lists every setting and sets none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-actions-"));
  const configPath = join(folder, "config.json");
  const opened: string[] = [];
  const openFile = async (path: string) => {
    opened.push(readFileSync(path, "utf8"));
    return null;
  };
  try {
    const createPageUrl = () => "http://127.0.0.1:4488/?code=abc";
    const openPage = async () => "xdg-open is not installed";
    const more = { configPath, openFile, createPageUrl, openPage };
    const messages = await click({ do: "settings" }, async () => "", more);
    expect(messages).toEqual([]);
    expect(opened[0]).toContain('"//finished": false');
    const file = watchConfig(configPath);
    file.stop();
    expect([file.config(), file.problems()]).toEqual([defaultConfig, []]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a click that only reaches the window says so, and where to look", async () => {
  const why = "this GNOME Terminal does not let other programs select a tab";
  const focus = async () => ({ result: "window", by: "GNOME Terminal, X11", why }) as const;
  const terminals = { focus };
  const messages = await click({ do: "focus", session: keyOf(session) }, async () => "", { terminals });
  expect(messages).toEqual([
    "As close as beckon gets: This is its window (GNOME Terminal, X11).\nThis GNOME Terminal does not let other programs select a tab.\nWhere to look: pts/1, in /home/dev/shop.",
  ]);
});

test("Open dashboard opens an address that works once, and says if no browser could be opened", async () => {
  const opened: string[] = [];
  const actions = {
    createPageUrl: () => "http://127.0.0.1:4488/?code=c",
    openPage: async (url: string) => {
      opened.push(url);
      return opened.length === 1 ? null : "xdg-open is not installed";
    },
  };
  const never = async () => "";
  expect(await click({ do: "dashboard" }, never, actions)).toEqual([]);
  expect(await click({ do: "dashboard" }, never, actions)).toEqual([
    "The dashboard could not be opened: xdg-open is not installed. Run: beckon open --print",
  ]);
  expect(opened).toEqual(["http://127.0.0.1:4488/?code=c", "http://127.0.0.1:4488/?code=c"]);
});
