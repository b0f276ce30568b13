/** What people would have been told in the recordings of the real CLI. */
import { describe, expect, test } from "bun:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import { computeAlerts } from "../../src/core/view/alerts/alerts.ts";
import type { AlertKind } from "../../src/core/view/view.ts";
import { createStore } from "../../src/state/store.ts";
import { inputsOf } from "./play.ts";
import { type Recording, readRecordings } from "./recording.ts";

interface Told {
  readonly key: string;
  readonly kind: AlertKind;
  /** Every text it had, in its order. */
  readonly titles: string[];
  isThere: boolean;
}

/** Every alert of a recording, looked at whenever something arrives and whenever alerts() says that it may change. */
function watch(recording: Recording, finished: boolean): readonly Told[] {
  const inputs = inputsOf(recording, {}).sort((a, b) => a.arrives - b.arrives);
  const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, finished } };
  const store = createStore();
  const told = new Map<string, Told>();
  const end = (inputs.at(-1)?.arrives ?? 0) + 5_000;
  let coming = 0;
  let ms = inputs[0]?.arrives ?? end;
  while (ms < end) {
    for (let input = inputs[coming]; input && input.arrives <= ms; input = inputs[++coming]) {
      store.dispatch(input.event);
    }
    const now = { at: recording.startedAt + ms, t: ms, minuteOfDay: 600 };
    const sessions = store.sessions(now);
    const { show, nextChange: next } = computeAlerts({
      sessions,
      preferences: noPreferences,
      config,
      now,
      formatTime: String,
      startedAt: recording.startedAt - 3_600_000,
      home: "",
      visibleSessions: new Set(),
      recentlySeen: new Set(),
      doNotDisturb: false,
      findDetails: () => null,
    });
    for (const { key, kind, title } of show) {
      const known = told.get(key);
      if (!known) told.set(key, { key, kind, titles: [title], isThere: true });
      else if (!known.isThere) throw new Error(`told twice: ${title} of ${recording.name} at ${ms} ms`);
      else if (known.titles.at(-1) !== title) known.titles.push(title);
    }
    for (const one of told.values()) one.isThere = show.some(({ key }) => key === one.key);
    ms = Math.min(inputs[coming]?.arrives ?? end, next === null ? end : next - recording.startedAt);
  }
  return [...told.values()];
}

const recordings = readRecordings();
const recordingOf = (name: string): Recording => {
  const found = recordings.find((recording) => recording.name === name);
  if (!found) throw new Error(`there is no recording ${name}`);
  return found;
};
const titlesOf = (name: string, finished = false) =>
  watch(recordingOf(name), finished).flatMap(({ titles }) => titles);

describe("in the recordings of the real CLI", () => {
  test("no alert that was taken back comes again, and none but an unnamed one changes its title", () => {
    for (const recording of recordings) {
      for (const { titles } of watch(recording, true)) {
        expect(titles.slice(0, -1).filter((title) => !title.endsWith("needs your permission"))).toEqual([]);
      }
    }
  });
  test.each([
    ["perm_wait_approve", ["proj wants to use Bash"]],
    ["bash2_parallel", ["proj wants to use Bash", "proj wants to use Bash"]],
    ["ask", ["proj has a question", "proj has a question"]],
    ["plan_feedback", ["proj has a plan to approve"]],
    ["elicitation_agent", ["proj needs your input"]],
    ["auto_noverdict", ["proj needs your permission", "proj wants to use Bash"]],
    ["api_error", Array.from({ length: 4 }, () => "proj stopped with an error")],
    ["idle", ["proj is ready for your next prompt", "proj is ready for your next prompt"]],
    ["plain", []],
    ["agent", []],
    ["esc_midturn", []],
    ["sigterm_busy", []],
    ["sighup_dialog", ["proj wants to use Bash"]],
  ])("%s", (name, titles) => {
    expect(titlesOf(name)).toEqual(titles);
  });
  test.each([
    ["plain", ["proj is done"]],
    ["idle", ["proj is done", "proj is done"]],
    // The turn that Esc broke off is not done, the one after it is.
    ["esc_midturn", ["proj is done"]],
    // Another hook blocked the first Stop.
    ["stop_blocked", ["proj is done"]],
    ["esc_tool", []],
  ])("%s, with finished turns told", (name, titles) => {
    expect(titlesOf(name, true)).toEqual(titles);
  });
});
