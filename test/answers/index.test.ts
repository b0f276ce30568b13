/** Answers and their log, connected. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { claude } from "../../src/agents/claude/index.ts";
import { createAnswers } from "../../src/answers/index.ts";
import { readAnswerLog } from "../../src/answers/log.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { createStore } from "../../src/state/store.ts";
import { createAskingTimeline } from "../core/session/fixture.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";

afterAll(removeTemporaryFolders);

test("an ask that ends while beckon quits is in the log", () => {
  const path = join(temporaryFolder(), "decisions.jsonl");
  const store = createStore();
  const answers = createAnswers({
    agents: new Map([["claude", claude]]),
    path,
    key: "k",
    home: "/home/me",
    get: store.get,
    sessions: () => store.sessions({ at: Date.now(), t: 0 }),
    dispatch: store.dispatch,
    clock: () => ({ at: Date.now(), t: 0, boot: null, host: null }),
    config: () => defaultConfig,
    onChange() {},
    onAskEnded() {},
    onError(text) {
      throw new Error(text);
    },
  });
  store.subscribe((session, event, before) => answers.onChange?.({ session, event, before }));
  const timeline = createAskingTimeline().file("waiting", "permission prompt", 10).file("idle");
  for (const event of timeline.events.slice(0, -1)) store.dispatch(event);
  answers.pending.stop();
  for (const event of timeline.events.slice(-1)) store.dispatch(event);
  answers.stop();
  expect(readAnswerLog(path)).toMatchObject([{ asked: "Bash: touch x", outcome: "denied" }]);
});
