/** How an ask ended, as a line under it. */
import { describeEnding } from "../../core/answers/words.ts";
import type { StoryThread } from "../../core/interfaces/wire.ts";
import type { AskBeat } from "../../core/view/story.ts";
import { cleanText } from "./format.ts";
import { sessions } from "./state.ts";
import { Icon } from "./ui.tsx";

const outcomeIcons = { denied: "close", rule: "rule", dismissed: "info" } as const;

export function Outcome({ beat, thread }: { readonly beat: AskBeat; readonly thread: StoryThread }) {
  const { ask: kind, how, where, detail } = beat;
  if (how === null) {
    const isAnswerable = sessions.value.get(thread.key)?.reachable === true;
    return (
      <p class="out open">
        <Icon of="clock" />
        <span>
          <b>Open.</b>{" "}
          {isAnswerable && (
            <>
              <a href="#needs-you">Answer it</a> or go to its terminal
            </>
          )}
        </span>
      </p>
    );
  }
  const { done, rest } = describeEnding(how, kind, where === "page" ? "this page" : where, detail);
  return (
    <p class="out">
      <Icon of={how in outcomeIcons ? outcomeIcons[how as keyof typeof outcomeIcons] : "check"} />
      <span>
        <b>{cleanText(done)}</b> {cleanText(rest)}
      </span>
    </p>
  );
}
