/** What the settings panel shows and what the user has changed in it. Changes stay while the panel is closed, until they are saved. */
import { computed, signal } from "@preact/signals";
import {
  explainControl,
  formatSettingValue,
  type SettingsView,
  type SettingView,
} from "../../core/config/setting-view.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import type { ApiAnswer } from "./api.ts";

/** What the panel needs of the page around it: it is a bundle of its own, and has none of the page's state. */
export interface SettingsHost {
  readonly callApi: (path: string, body?: object) => Promise<ApiAnswer>;
  readonly showMessage: (text: string) => void;
}

export const view = signal<SettingsView | null>(null);
export const query = signal("");
/** Why the settings could not be loaded. */
export const loadProblem = signal<string | null>(null);
/** The file as it is now, if it changed while there are unsaved changes. */
export const newerView = signal<SettingsView | null>(null);
const isSaving = signal(false);

/** A new value, or back to the default. */
type Draft = { readonly value: unknown } | "reset";

const drafts = signal<ReadonlyMap<string, Draft>>(new Map());
/** What beckon said about a value that it did not take, by key. */
const refused = signal<ReadonlyMap<string, string>>(new Map());

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The value that the control shows. */
export function readValue(setting: SettingView): unknown {
  const draft = drafts.value.get(setting.key);
  if (draft === undefined) return setting.value;
  return draft === "reset" ? setting.default : draft.value;
}

export const isChanged = ({ key }: SettingView): boolean => drafts.value.has(key);

function setDraft({ key }: SettingView, draft: Draft | null): void {
  const next = new Map(drafts.value);
  if (draft === null) next.delete(key);
  else next.set(key, draft);
  drafts.value = next;
  refused.value = new Map([...refused.value].filter(([other]) => other !== key));
}

export function changeValue(setting: SettingView, value: unknown): void {
  // Where the file has a mistake, the value in use is a change too.
  const isBack = isSame(value, setting.value) && setting.mistake === null;
  setDraft(setting, isBack ? null : { value });
}

export const resetValue = (setting: SettingView): void => setDraft(setting, "reset");

export function discard(): void {
  drafts.value = new Map();
  refused.value = new Map();
  if (newerView.value) view.value = newerView.value;
  newerView.value = null;
}

/** Goes on with the changes, on top of what the file says now. */
export function keepChanges(): void {
  if (newerView.value) view.value = newerView.value;
  newerView.value = null;
}

/** "5" where the unit stands beside it, and otherwise as everywhere. */
export const formatShort = ({ control }: SettingView, value: unknown): string =>
  control.kind === "number" ? String(value ?? "none") : formatSettingValue(control, value);

/** What is wrong with the value that the control shows, and what holds in its place; null if nothing is. */
export function findMistake(setting: SettingView): string | null {
  const { key, control, mistake } = setting;
  const draft = drafts.value.get(key);
  const stays = `${capitalize(formatShort(setting, setting.value))} stays in use.`;
  if (draft === undefined) return mistake === null ? null : `${mistake}. ${stays}`;
  const wrong = refused.value.get(key) ?? explainControl(control, readValue(setting));
  return wrong === null ? null : `${wrong.replace(/[^.]$/, "$&.")} ${stays}`;
}

export const differs = ({ control, shown, value, default: fallback }: SettingView): boolean =>
  control.kind === "file" ? shown !== "none" : !isSame(value, fallback);

export const changed = computed(() => (view.value?.settings ?? []).filter(isChanged));
/** The changes that cannot be saved. */
export const wrong = computed(() => changed.value.filter((setting) => findMistake(setting) !== null));
export const canSave = computed(
  () =>
    changed.value.length > 0 &&
    wrong.value.length === 0 &&
    !isSaving.value &&
    newerView.value === null &&
    view.value?.locked === null,
);

/** "1 change: Sound, off", "3 changes: Sound, Quiet hours, Muted projects" */
export function describeChanges(): readonly [count: string, what: string] {
  const all = changed.value;
  const [only] = all;
  const count = formatCount(all.length, "change");
  if (all.length !== 1 || !only) return [count, all.map(({ title }) => title).join(", ")];
  return [count, `${only.title}, ${formatSettingValue(only.control, readValue(only))}`];
}

const unreachable = "beckon does not answer";

export async function load({ callApi }: SettingsHost): Promise<void> {
  const { status, body } = await callApi("/api/settings");
  if (status !== 200) {
    loadProblem.value = status === 0 ? `${unreachable}.` : "beckon refuses to send the settings.";
    return;
  }
  loadProblem.value = null;
  show(body as unknown as SettingsView);
}

/** Values in use and reports of channels change too; only another version of the file concerns unsaved changes. */
function show(loaded: SettingsView): void {
  const isOther = view.value !== null && view.value.version !== loaded.version;
  if (isOther && drafts.value.size > 0) {
    if (!isSame(newerView.value, loaded)) newerView.value = loaded;
  } else if (!isSame(view.value, loaded)) view.value = loaded;
}

export async function save({ callApi, showMessage }: SettingsHost): Promise<void> {
  if (!canSave.value || view.value === null) return;
  const entries = [...drafts.value];
  isSaving.value = true;
  const { status, body } = await callApi("/api/settings/save", {
    version: view.value.version,
    set: Object.fromEntries(
      entries.flatMap(([key, draft]) => (draft === "reset" ? [] : [[key, draft.value]])),
    ),
    reset: entries.flatMap(([key, draft]) => (draft === "reset" ? [key] : [])),
  });
  isSaving.value = false;
  if (status === 200) {
    drafts.value = new Map();
    const saved = body.settings as SettingsView;
    view.value = saved;
    // A mistake elsewhere in the file keeps all of it from being used.
    const isUsed = saved.problems.length === 0 && saved.settings.every(({ mistake }) => mistake === null);
    const when = isUsed ? "It counts from now on." : "It counts once the mistakes in the file are put right.";
    return showMessage(`Saved in config.json. ${when}`);
  }
  if (status === 409) newerView.value = body.settings as SettingsView;
  else if (typeof body.mistakes === "object" && body.mistakes !== null)
    refused.value = new Map(Object.entries(body.mistakes as Record<string, string>));
  else
    showMessage(
      status === 0 ? `${unreachable}. Nothing was saved.` : `Nothing was saved: ${String(body.error)}`,
    );
}

export async function openFile({ callApi, showMessage }: SettingsHost): Promise<void> {
  const { status, body } = await callApi("/api/settings/open", {});
  if (status === 200) showMessage("config.json is open on this machine.");
  else showMessage(status === 0 ? `${unreachable}.` : `It could not be opened: ${String(body.error)}`);
}

export async function sendTest({ callApi, showMessage }: SettingsHost, name: string): Promise<void> {
  const { status, body } = await callApi(`/api/channels/${encodeURIComponent(name)}/test`, {});
  if (status !== 200) return showMessage(status === 0 ? `${unreachable}.` : String(body.error));
  if (typeof body.problem === "string") return showMessage(`${name}: ${body.problem}`);
  showMessage(body.isWaiting ? `Sent to ${name}. Tap its button to finish the test.` : `Sent to ${name}.`);
}
