/** What the user does on the page. Each is one request; the stream then brings what has changed. */
import { signal } from "@preact/signals";
import type { Quiet } from "../../core/config/quiet.ts";
import type { QuietMode } from "../../core/config/user-action.ts";
import type { Answer } from "../../core/session/ask-details.ts";
import { capitalize } from "../../core/text/words.ts";
import { timing } from "../../core/timing.ts";
import { callApi } from "./api.ts";
import { loadSession } from "./connection.ts";
import { noteOutcome, unlocked } from "./inbox.ts";
import { markLooked } from "./looked.ts";
import { type OpenAsk, quiet, showMessage } from "./state.ts";

/** Ids of asks whose answer is on its way. */
export const sending = signal<ReadonlySet<string>>(new Set());
/** Ids of asks → why the answer was not accepted. */
export const refusals = signal<ReadonlyMap<string, string>>(new Map());
/** The ask whose Allow was pressed once: the second press allows. */
export const armedId = signal<string | null>(null);

const armedMs = 3_000;
let armedTimer = 0;
/** The ask whose second press counts: a double click is one press. */
export const confirmableId = signal<string | null>(null);
let confirmTimer = 0;

export function arm(id: string): void {
  armedId.value = id;
  confirmableId.value = null;
  clearTimeout(confirmTimer);
  confirmTimer = window.setTimeout(() => {
    confirmableId.value = id;
  }, timing.minReadMs);
  clearTimeout(armedTimer);
  armedTimer = window.setTimeout(disarm, armedMs);
}

export function disarm(): void {
  clearTimeout(armedTimer);
  clearTimeout(confirmTimer);
  armedId.value = null;
  confirmableId.value = null;
}

const sessionPath = (key: string, action: string): string =>
  `/api/sessions/${encodeURIComponent(key)}/${action}`;

const unreachable = "beckon does not answer. Answer in the terminal.";

const readError = (body: Readonly<Record<string, unknown>>): string => {
  const text = typeof body.error === "string" ? body.error : "that did not work";
  return `${capitalize(text)}${/[.!?]$/.test(text) ? "" : "."}`;
};

/**
 * An ask is answered once: further presses while the answer is on its way do nothing. Nor does a press so soon after the
 * buttons appeared that it must have been meant for what was there before.
 */
export async function answerAsk({ id, key, ask }: OpenAsk, answer: Answer): Promise<void> {
  if (sending.value.has(id) || ask.answerId === undefined || !unlocked.value.has(id)) return;
  disarm();
  sending.value = new Set(sending.value).add(id);
  refusals.value = new Map([...refusals.value].filter(([other]) => other !== id));
  const { status, body } = await callApi(sessionPath(key, "answer"), {
    ask: ask.answerId,
    by: "page",
    // The card of a marked request takes two clicks.
    confirmed: true,
    ...answer,
  });
  const rest = new Set(sending.value);
  rest.delete(id);
  if (status === 200) {
    noteOutcome(id, `${describeAnswer(answer, ask.kind)} It goes on.`, true);
    // The card stays locked until the stream says that the ask has ended.
    return;
  }
  sending.value = rest;
  const text =
    status === 0 ? unreachable : status === 409 ? `Answered elsewhere. ${readError(body)}` : readError(body);
  refusals.value = new Map(refusals.value).set(id, text);
  loadSession(key);
}

function describeAnswer(answer: Answer, kind: string): string {
  switch (answer.do) {
    case "allow":
      return kind === "plan" ? "Approved." : "Allowed.";
    case "always":
      return "Allowed, and from now on.";
    case "deny":
      return kind === "plan" ? "Sent back." : kind === "question" ? "Declined." : "Denied.";
    case "reply":
      return `Replied “${answer.replies.map((labels) => labels.join(", ")).join(" / ")}”.`;
  }
}

export async function focusSession(key: string): Promise<void> {
  markLooked(key);
  const { status, body } = await callApi(sessionPath(key, "focus"), {});
  if (status !== 200) return showMessage(status === 0 ? unreachable : readError(body));
  showMessage(typeof body.says === "string" ? body.says : "Brought to the front.");
}

async function act(key: string, action: string, body: object, done: string): Promise<void> {
  const answer = await callApi(sessionPath(key, action), body);
  showMessage(answer.status === 200 ? done : answer.status === 0 ? unreachable : readError(answer.body));
}

export const snoozeMinutes = 15;

export const snoozeSession = (key: string): Promise<void> =>
  act(key, "snooze", { minutes: snoozeMinutes }, `Snoozed for ${snoozeMinutes} minutes.`);

export const endSnooze = (key: string): Promise<void> =>
  act(key, "snooze", { minutes: 0 }, "The snooze has ended.");

export const muteSession = (key: string, on: boolean): Promise<void> =>
  act(key, "mute", { on }, on ? "Muted: it shows no alerts." : "Not muted any more.");

export const dismissSession = (key: string): Promise<void> =>
  act(key, "dismiss", {}, "Dismissed. Its next request alerts you again.");

export const openTranscript = (key: string): Promise<void> =>
  act(key, "transcript", {}, "The transcript is open on this machine.");

export async function setQuiet(mode: QuietMode): Promise<void> {
  const { status, body } = await callApi("/api/quiet", { mode });
  if (status === 200) quiet.value = (body.quiet as Quiet | undefined) ?? null;
  else showMessage(status === 0 ? unreachable : readError(body));
}

export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showMessage(done);
  } catch {
    showMessage(`Could not copy: ${text}`);
  }
}
