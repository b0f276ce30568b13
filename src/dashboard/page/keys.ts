/** Keys: one selection through cards and rows, and what each key does with it. */
import { arm, armedId, disarm, focusSession, snoozeSession } from "./actions.ts";
import { closeHelp, openHelp } from "./frame.tsx";
import { cards } from "./inbox.ts";
import { openBeat } from "./moments.ts";
import { pastActions } from "./more-loader.tsx";
import {
  closeSession,
  closeSettings,
  goToPrompt,
  goToSearch,
  openSession,
  openSettings,
  switchTheme,
} from "./navigation.ts";
import { backToNow, isPast } from "./past.ts";
import { isHelpOpen, isLive, openedKey, selectedId } from "./state.ts";
import { closeMoment, openedMoment } from "./story.ts";
import { view } from "./view.ts";

/** Cards, rows and moments that are on the page now, in their order. */
const listItems = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(".ask[data-id], .row[data-id], .beat[data-id]")].filter(
    (element) => element.offsetParent !== null,
  );

const findSelected = (): HTMLElement | undefined =>
  listItems().find((element) => element.dataset.id === selectedId.value);

function move(step: number, items = listItems()): void {
  disarm();
  const index = items.findIndex((element) => element.dataset.id === selectedId.value);
  const next = items[Math.max(0, Math.min(items.length - 1, index < 0 ? 0 : index + step))];
  if (!next) return;
  selectedId.value = next.dataset.id ?? null;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  // The transcript goes along.
  if (openedMoment.value) openBeat(next);
}

/** Moments in which something matches the search. */
const listMarked = (): HTMLElement[] => listItems().filter((item) => item.querySelector("mark") !== null);

/** The session that the selection belongs to. */
function findKey(): string | null {
  const id = selectedId.value;
  const card = cards.value.find((other) => other.id === id);
  return card?.key ?? (findSelected() ? id : null);
}

/** A button of the selected card. null if it cannot be pressed now: a card that has just appeared is locked (inbox.ts). */
function findButton(name: string): HTMLButtonElement | null {
  const button = findSelected()?.querySelector<HTMLButtonElement>(name);
  return button && !button.disabled ? button : null;
}

function allow(): void {
  const button = findButton('[data-do="allow"]');
  const id = selectedId.value;
  if (!button || id === null || !isLive.value) return;
  // Every key press arms first; the button itself wants that only for what is dangerous.
  if (armedId.value === id) button.click();
  else arm(id);
}

const actions: Readonly<Record<string, () => void>> = {
  j: () => move(1),
  k: () => move(-1),
  a: allow,
  d: () => findButton('[data-do="deny"]')?.click(),
  s: () => {
    const key = findKey();
    if (key !== null && isLive.value) snoozeSession(key);
  },
  o: () => {
    if (view.value === "history") return openBeat(findSelected());
    const key = findKey();
    if (key !== null) openSession(key);
  },
  p: () => {
    const key = openedKey.value ?? findKey();
    if (key !== null) goToPrompt(key);
  },
  Enter: () => {
    if (view.value === "history") return openBeat(findSelected());
    const key = findKey();
    if (key !== null && isLive.value) focusSession(key);
  },
  x: () => findSelected()?.querySelector<HTMLButtonElement>("[aria-expanded]")?.click(),
  n: () => move(1, listMarked()),
  N: () => move(-1, listMarked()),
  t: switchTheme,
  ",": openSettings,
  "/": goToSearch,
  "?": openHelp,
};

/** In the settings, keys do nothing with sessions that nobody sees there. */
const settingsActions: typeof actions = {
  t: switchTheme,
  ",": closeSettings,
  "/": goToSearch,
  "?": openHelp,
};

function findTable(): typeof actions {
  if (view.value === "settings") return settingsActions;
  return isPast() && view.value === "sessions" ? pastActions() : actions;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, select, textarea");

export function followKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") return leave(event.target);
    if (isTyping(event.target) || isHelpOpen.value) return;
    const isOnControl = event.target instanceof Element && event.target.closest("button, a") !== null;
    if (event.key === "Enter" && isOnControl) return;
    const table = findTable();
    if (/^[1-9]$/.test(event.key) && table === actions) return chooseOption(Number(event.key));
    const action = Object.hasOwn(table, event.key) ? table[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Esc: closes what is on top. */
function leave(target: EventTarget | null): void {
  disarm();
  if (isHelpOpen.value) closeHelp();
  else if (openedMoment.value !== null && !isTyping(target)) closeMoment();
  else if (openedKey.value !== null && !isTyping(target)) closeSession();
  else if (view.value === "settings" && !isTyping(target)) closeSettings();
  // The slider of the day is an input too.
  else if (isPast() && view.value === "sessions") backToNow();
  else if (target instanceof HTMLElement) target.blur();
}

/** In a card with several questions, the number belongs to the first question that has no answer. */
function chooseOption(number: number): void {
  const card = findSelected();
  if (!card || findButton(".opt") === null) return;
  const questions = [...card.querySelectorAll(".question")];
  const open =
    questions.find((question) => question.querySelector('.opt[aria-pressed="true"]') === null) ??
    questions.at(-1);
  open?.querySelectorAll<HTMLButtonElement>(".opt")[number - 1]?.click();
}
