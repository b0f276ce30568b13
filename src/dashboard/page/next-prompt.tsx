/** The next prompt of a session: what waits for it, what became of the last one, and a box for another. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PromptView, SessionPrompts } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize } from "../../core/text/words.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { changePrompt, fetchPrompts, removePrompt, sendPrompt } from "./actions.ts";
import { cleanText, formatTime } from "./format.ts";
import { isLive } from "./state.ts";
import { Icon } from "./ui.tsx";

const timings = [
  ["now", "Now"],
  ["idle", "When it is idle"],
  ["quota", "When my limit is reset"],
] as const;

export function NextPrompt({ session }: { readonly session: SessionView }) {
  const key = viewKeyOf(session);
  const known = useSignal<SessionPrompts | null>(null);
  const refusal = useSignal<string | null>(null);
  const isSending = useSignal(false);
  const timing = useSignal<(typeof timings)[number][0]>("now");
  const box = useRef<HTMLTextAreaElement>(null);
  const load = async () => {
    known.value = (await fetchPrompts(key)) ?? known.value;
  };
  // What waits is sent when the session changes.
  useEffect(() => void load(), [key, session.lastEventAt, session.group]);

  async function send(): Promise<void> {
    const text = box.current?.value ?? "";
    if (text.trim() === "" || isSending.value) return;
    isSending.value = true;
    refusal.value = await sendPrompt(key, text, timing.value);
    isSending.value = false;
    if (refusal.value === null && box.current) box.current.value = "";
    await load();
  }

  /** Its text goes back into the box. */
  async function edit({ id, text }: PromptView): Promise<void> {
    refusal.value = await removePrompt(id);
    if (refusal.value === null && box.current) {
      box.current.value = text;
      box.current.focus();
    }
    await load();
  }

  if (known.value === null || session.group === "ended") return null;
  const { prompts, obstacle } = known.value;
  const isOff = !isLive.value;
  return (
    <div class="part next">
      <h3>Next prompt</h3>
      {prompts.map((prompt) => (
        <div class={`queued ${prompt.state === "not taken" ? "bad" : ""}`} key={prompt.id}>
          <p class="said">{cleanText(prompt.text)}</p>
          <p class="quiet">
            <b>{capitalize(prompt.state)}</b>
            {prompt.state === "delivered"
              ? ` ${formatTime(prompt.since)}`
              : prompt.says && `: ${prompt.says}`}
          </p>
          {prompt.state !== "delivered" && prompt.state !== "sent" && (
            <span class="ends">
              {prompt.state !== "queued" && (
                <button
                  class="btn sm"
                  type="button"
                  disabled={isOff}
                  onClick={() => changePrompt(prompt).then(load)}
                >
                  Try again
                </button>
              )}
              <button class="btn sm bare" type="button" disabled={isOff} onClick={() => edit(prompt)}>
                Edit
              </button>
              <button
                class="btn sm bare sq"
                type="button"
                disabled={isOff}
                aria-label="Remove this prompt"
                onClick={() => removePrompt(prompt.id).then(load)}
              >
                <Icon of="close" />
              </button>
            </span>
          )}
        </div>
      ))}
      {obstacle === null ? (
        <form
          class="prompt-box"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <textarea
            ref={box}
            rows={2}
            aria-label="The next prompt"
            placeholder={
              prompts.length > 0 ? "Anything after that? It is queued." : "What should it do next?"
            }
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
            }}
          />
          <div class="side-line">
            <select
              class="field"
              aria-label="When it is sent"
              value={timing.value}
              onChange={(event) => {
                timing.value = event.currentTarget.value as typeof timing.value;
              }}
            >
              {timings.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
            <span class="end">
              <button class="btn main" type="submit" disabled={isOff || isSending.value}>
                Send <kbd>Ctrl ⏎</kbd>
              </button>
            </span>
          </div>
        </form>
      ) : (
        <p class="quiet">Not possible: {obstacle}.</p>
      )}
      {refusal.value !== null && (
        <p class="bad" role="alert">
          {refusal.value}
        </p>
      )}
    </div>
  );
}
