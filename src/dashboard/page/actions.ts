/** What the user does on the page. Each is one request; the stream then brings what has changed. */
import { signal } from "@preact/signals";
import { createStep, judgeAnswer, minReadMsOf } from "../../core/answers/policy.ts";
import { formatAnswer } from "../../core/answers/words.ts";
import type { Quiet } from "../../core/config/quiet.ts";
import type { QuietMode } from "../../core/config/user-action.ts";
import type { PromptView, SessionPrompts } from "../../core/interfaces/wire.ts";
import type { Answer } from "../../core/session/ask-details.ts";
import { capitalize } from "../../core/text/words.ts";
import { callApi } from "./api.ts";
import { loadSession } from "./connection.ts";
import { noteOutcome, shownMsOf } from "./inbox.ts";
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
  }, minReadMsOf("page"));
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
 * An ask is answered once: further presses while the answer is on its way do nothing. Nor does a press that the policy does not
 * take: too soon, or the first of two.
 */
export async function answerAsk(
  { id, key, ask }: OpenAsk,
  answer: Answer,
  isWholeShown: boolean,
): Promise<void> {
  const { answerId, asked } = ask;
  if (sending.value.has(id) || answerId === undefined || asked === undefined) return;
  const isConfirmed = confirmableId.value === id;
  const shownMs = Math.ceil(shownMsOf(id));
  const step = createStep("page", { isWholeShown, shownMs, isConfirmed });
  if (judgeAnswer(asked, answer, step).kind !== "allowed") return;
  disarm();
  sending.value = new Set(sending.value).add(id);
  refusals.value = new Map([...refusals.value].filter(([other]) => other !== id));
  const { status, body } = await callApi(sessionPath(key, "answer"), {
    ask: answerId,
    by: "page",
    shown: { whole: isWholeShown, ms: shownMs },
    confirmed: isConfirmed,
    ...answer,
  });
  const rest = new Set(sending.value);
  rest.delete(id);
  if (status === 200) {
    noteOutcome(id, `${capitalize(formatAnswer(answer, asked))}. It goes on.`, true);
    // The card stays locked until the stream says that the ask has ended.
    return;
  }
  sending.value = rest;
  const text =
    status === 0 ? unreachable : status === 409 ? `Answered elsewhere. ${readError(body)}` : readError(body);
  refusals.value = new Map(refusals.value).set(id, text);
  loadSession(key);
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

/** Links the machine now, also where something had to change first. */
export async function retryMachine(name: string): Promise<void> {
  const { status, body } = await callApi(`/api/machines/${encodeURIComponent(name)}/retry`, {});
  if (status !== 200) showMessage(status === 0 ? unreachable : readError(body));
}

export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showMessage(done);
  } catch {
    showMessage(`Could not copy: ${text}`);
  }
}

/** null if beckon does not answer. */
export async function fetchPrompts(key: string): Promise<SessionPrompts | null> {
  const { status, body } = await callApi(`/api/prompts?session=${encodeURIComponent(key)}`);
  return status === 200 ? (body as unknown as SessionPrompts) : null;
}

/** Resolves with why it was not sent; null if it is, or waits. */
async function post(path: string, body: object): Promise<string | null> {
  const answer = await callApi(path, { by: "page", ...body });
  if (answer.status === 0) return unreachable;
  return answer.status === 200 ? null : readError(answer.body);
}

export const sendPrompt = (key: string, prompt: object): Promise<string | null> =>
  post(sessionPath(key, "send"), prompt);

/** Tries it again. */
export const changePrompt = ({ id, text }: PromptView): Promise<string | null> =>
  post(`/api/prompts/${id}/change`, { text });

export const removePrompt = (id: string): Promise<string | null> => post(`/api/prompts/${id}/remove`, {});
