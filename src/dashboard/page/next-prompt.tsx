/** The next prompt of a session: what waits for it, what became of the last one, and a box for another. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PromptView, SessionPrompts } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize } from "../../core/text/words.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { changePrompt, fetchPrompts, focusSession, removePrompt, sendPrompt } from "./actions.ts";
import { cleanLines, cleanText, formatTime } from "./format.ts";
import { isPromptWanted } from "./navigation.ts";
import { isLive, now } from "./state.ts";
import { Icon } from "./ui.tsx";

const timings = [
  ["now", "Now"],
  ["idle", "When it is idle"],
  ["quota", "When my limit is reset"],
  ["at", "At…"],
] as const;
type Timing = (typeof timings)[number][0];

/** What the user has typed and not sent, by session: closing the details keeps it. */
const drafts = signal<ReadonlyMap<string, string>>(new Map());
const setDraft = (key: string, text: string): void => {
  drafts.value = new Map(drafts.peek()).set(key, text);
};

export function NextPrompt({ session }: { readonly session: SessionView }) {
  const key = viewKeyOf(session);
  const known = useSignal<SessionPrompts | null>(null);
  const refusal = useSignal<string | null>(null);
  const load = async () => {
    known.value = (await fetchPrompts(key)) ?? known.value;
  };
  // What waits is sent by itself, and what was sent can turn out not to be taken.
  const isMoving = known.value?.prompts.some(({ state }) => state === "queued" || state === "sent") ?? false;
  useEffect(() => void load(), [key, session.lastEventAt, session.group, isMoving && now.value]);
  const act = async (does: Promise<string | null>): Promise<boolean> => {
    refusal.value = await does;
    await load();
    return refusal.value === null;
  };

  if (known.value === null || session.group === "ended") return null;
  const { prompts, obstacle, way } = known.value;
  const isStuck = prompts.some(({ state }) => state === "not taken" || state === "unknown");
  return (
    <section class="side-next" aria-label="Next prompt">
      <h3>Next prompt</h3>
      <div class={`next ${isStuck || refusal.value !== null ? "bad-box" : ""}`}>
        {prompts.length > 0 && (
          <ol class="queue">
            {prompts.map((prompt, index) => (
              <QueueRow key={prompt.id} prompt={prompt} number={index + 1} sessionKey={key} act={act} />
            ))}
          </ol>
        )}
        {obstacle === null ? (
          <PromptBox
            sessionKey={key}
            way={way}
            isFollowing={prompts.length > 0}
            isAsking={session.group === "needs_you"}
            act={act}
          />
        ) : (
          <p class="why">
            <Icon of="info" />
            <span>{capitalize(obstacle)}.</span>
          </p>
        )}
        {refusal.value !== null && (
          <p class="err" role="alert">
            <Icon of="warn" />
            <span>
              <b>Not sent</b>: {cleanText(refusal.value)}
            </span>
          </p>
        )}
      </div>
    </section>
  );
}

type Act = (does: Promise<string | null>) => Promise<boolean>;

function QueueRow({
  prompt,
  number,
  sessionKey,
  act,
}: {
  readonly prompt: PromptView;
  readonly number: number;
  readonly sessionKey: string;
  readonly act: Act;
}) {
  const { id, text, state } = prompt;
  const isOff = !isLive.value;
  const isStuck = state === "not taken" || state === "unknown";
  /** Its text goes back into the box. */
  async function edit(): Promise<void> {
    if (!(await act(removePrompt(id)))) return;
    setDraft(sessionKey, text);
    isPromptWanted.value = true;
  }
  return (
    <li class={state === "delivered" ? "sent" : ""}>
      <span class="q-n">{number}</span>
      <div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to scroll it */}
        <p class="q-text" tabIndex={0}>
          {cleanLines(text)}
        </p>
        <Outcome prompt={prompt} />
        {isStuck && (
          <p class="q-again">
            <button class="btn sm" type="button" disabled={isOff} onClick={() => act(changePrompt(prompt))}>
              Try again
            </button>
            <button
              class="btn sm bare"
              type="button"
              disabled={isOff}
              onClick={() => focusSession(sessionKey)}
            >
              Go to terminal
            </button>
          </p>
        )}
      </div>
      {state !== "delivered" && state !== "sent" && (
        <span class="q-a">
          <button class="btn sm bare" type="button" disabled={isOff} onClick={edit}>
            Edit
          </button>
          <button
            class="btn sm bare sq"
            type="button"
            disabled={isOff}
            aria-label="Remove this prompt"
            onClick={() => act(removePrompt(id))}
          >
            <Icon of="close" />
          </button>
        </span>
      )}
    </li>
  );
}

function Outcome({ prompt: { state, since, says } }: { readonly prompt: PromptView }) {
  const isStuck = state === "not taken" || state === "unknown";
  return (
    <p class={isStuck ? "err" : `out ${state === "delivered" ? "ok" : ""}`}>
      <Icon of={isStuck ? "warn" : state === "delivered" ? "check" : "clock"} />
      <span>
        <b>{state === "delivered" ? `Delivered ${formatTime(since)}.` : `${capitalize(state)}.`}</b>{" "}
        {says !== "" && `${capitalize(cleanText(says))}.`}
      </span>
    </p>
  );
}

function PromptBox({
  sessionKey,
  way,
  isFollowing,
  isAsking,
  act,
}: {
  readonly sessionKey: string;
  readonly way: string | null;
  readonly isFollowing: boolean;
  /** Then it is sent after the answer, unless the user has chosen otherwise. */
  readonly isAsking: boolean;
  readonly act: Act;
}) {
  const box = useRef<HTMLTextAreaElement>(null);
  const chosen = useSignal<Timing | null>(null);
  const timing = chosen.value ?? (isAsking ? "idle" : "now");
  const time = useSignal("");
  const isSending = useSignal(false);
  const text = drafts.value.get(sessionKey) ?? "";
  const isWanted = isPromptWanted.value;
  useEffect(() => {
    if (!isWanted) return;
    isPromptWanted.value = false;
    box.current?.focus();
  }, [isWanted]);
  const isReady =
    isLive.value && !isSending.value && text.trim() !== "" && (timing !== "at" || time.value !== "");

  async function send(): Promise<void> {
    if (!isReady) return;
    isSending.value = true;
    const when = timing === "at" ? { at: time.value } : { when: timing };
    const isSent = await act(sendPrompt(sessionKey, { text, ...when }));
    isSending.value = false;
    if (isSent) setDraft(sessionKey, "");
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        class="next-in"
        ref={box}
        rows={isFollowing ? 1 : 2}
        aria-label="The next prompt"
        placeholder={isFollowing ? "Anything after that? It is queued." : "What should it do next?"}
        value={text}
        onInput={(event) => setDraft(sessionKey, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void send();
        }}
      />
      <div class="next-foot">
        <span class="quiet">{way !== null && cleanText(way)}</span>
        <div class="end">
          {timing === "at" && (
            <input
              class="field"
              type="time"
              aria-label="Not before"
              value={time.value}
              onInput={(event) => {
                time.value = event.currentTarget.value;
              }}
            />
          )}
          <span class="pick">
            <select
              aria-label="When it is sent"
              value={timing}
              onChange={(event) => {
                chosen.value = event.currentTarget.value as Timing;
              }}
            >
              {timings.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
            <Icon of="down" />
          </span>
          <button class="btn main" type="submit" disabled={!isReady}>
            Send<kbd>Ctrl ⏎</kbd>
          </button>
        </div>
      </div>
    </form>
  );
}
