/** The alerts that a user would have got in the recordings of the real CLI. */
import { describe, expect, test } from "bun:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import { computeAlerts } from "../../src/core/view/alerts/alerts.ts";
import type { AlertKind } from "../../src/core/view/alerts/kinds.ts";
import { createStore } from "../../src/state/store.ts";
import { type Recording, readRecordings } from "./recording.ts";
import { createInputs } from "./replay.ts";

interface RecordedAlert {
  readonly key: string;
  readonly kind: AlertKind;
  /** Every title it had, in order. */
  readonly titles: string[];
  isShown: boolean;
}

/** All alerts of a recording, computed at every event and whenever `nextChange` is due. */
function collectAlerts(recording: Recording, finished: boolean): readonly RecordedAlert[] {
  const inputs = createInputs(recording, {}).sort((a, b) => a.arrives - b.arrives);
  const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, finished } };
  const store = createStore();
  const alerts = new Map<string, RecordedAlert>();
  const end = (inputs.at(-1)?.arrives ?? 0) + 5_000;
  let nextInput = 0;
  let ms = inputs[0]?.arrives ?? end;
  while (ms < end) {
    for (let input = inputs[nextInput]; input && input.arrives <= ms; input = inputs[++nextInput]) {
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
      findUserElsewhere: () => null,
      findDetails: () => null,
    });
    for (const { key, kind, title } of show) {
      const known = alerts.get(key);
      if (!known) alerts.set(key, { key, kind, titles: [title], isShown: true });
      else if (!known.isShown)
        throw new Error(`shown again after its withdrawal: ${title} of ${recording.name} at ${ms} ms`);
      else if (known.titles.at(-1) !== title) known.titles.push(title);
    }
    for (const alert of alerts.values()) alert.isShown = show.some(({ key }) => key === alert.key);
    ms = Math.min(inputs[nextInput]?.arrives ?? end, next === null ? end : next - recording.startedAt);
  }
  return [...alerts.values()];
}

const recordings = readRecordings();
const findRecording = (name: string): Recording => {
  const match = recordings.find((recording) => recording.name === name);
  if (!match) throw new Error(`there is no recording ${name}`);
  return match;
};
const listTitles = (name: string, finished = false) =>
  collectAlerts(findRecording(name), finished).flatMap(({ titles }) => titles);

describe("in the recordings of the real CLI", () => {
  test("a withdrawn alert is not shown again, and only an unnamed one changes its title", () => {
    for (const recording of recordings) {
      for (const { titles } of collectAlerts(recording, true)) {
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
    expect(listTitles(name)).toEqual(titles);
  });
  test.each([
    ["plain", ["proj is done"]],
    ["idle", ["proj is done", "proj is done"]],
    // The turn that Esc interrupted is not done. The one after it is.
    ["esc_midturn", ["proj is done"]],
    // Another hook blocked the first Stop.
    ["stop_blocked", ["proj is done"]],
    ["esc_tool", []],
  ])("%s, with alerts for finished turns", (name, titles) => {
    expect(listTitles(name, true)).toEqual(titles);
  });
});
