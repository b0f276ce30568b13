/** The box in which the user writes a session's next prompt: what keys change in it, and its lines. Pure. */
import { formatPromptState } from "../../core/answers/words.ts";
import type { PromptView, SessionPrompts } from "../../core/interfaces/wire.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { wrapText } from "../output.ts";

export interface PromptScreen {
  readonly kind: "prompt";
  readonly session: SessionView;
  readonly text: string;
  /** What waits for the session, and whether it takes a prompt; null until it is read. */
  readonly known: SessionPrompts | null;
  readonly isSending: boolean;
}

export const openPromptBox = (session: SessionView): PromptScreen => ({
  kind: "prompt",
  session,
  text: "",
  known: null,
  isSending: false,
});

/**
 * - "edited": the screen as it is now
 * - "send": what is written
 * - "take back": a prompt that waits, to change it
 * - "close"
 */
export type PromptStep =
  | { readonly do: "edited"; readonly screen: PromptScreen }
  | { readonly do: "send"; readonly screen: PromptScreen }
  | { readonly do: "take back"; readonly prompt: PromptView }
  | { readonly do: "close" };

/** `isAlone`: Enter that came together with other keys is a line break of text that was pasted. */
export function pressInPrompt(screen: PromptScreen, key: string, isAlone: boolean): PromptStep {
  if (key === "escape" || key === "ctrl-d") return { do: "close" };
  const { text, known, isSending } = screen;
  if (isSending || (known !== null && known.obstacle !== null)) return { do: "edited", screen };
  if (key === "enter" && isAlone)
    return text.trim() === "" || known === null
      ? { do: "edited", screen }
      : { do: "send", screen: { ...screen, isSending: true } };
  if (key === "backspace" && text === "") {
    const last = known?.prompts.findLast(isWaiting);
    return last ? { do: "take back", prompt: last } : { do: "edited", screen };
  }
  return { do: "edited", screen: { ...screen, text: edit(text, key) } };
}

const isWaiting = ({ state }: PromptView): boolean => state !== "sent" && state !== "delivered";

function edit(text: string, key: string): string {
  if (key === "enter") return `${text}\n`;
  if (key === "backspace") return [...text].slice(0, -1).join("");
  if (key === "ctrl-u") return "";
  return [...key].length === 1 ? text + key : text;
}

/** Text of the clipboard is text: a line break in it sends nothing. */
export const pasteIntoPrompt = (screen: PromptScreen, text: string): PromptScreen => ({
  ...screen,
  text: screen.text + text.replaceAll(/\r\n?/g, "\n"),
});

const maxQueueLines = 3;
const indent = "   ";

interface PromptLine {
  readonly text: string;
  readonly style: "plain" | "dim" | "error";
}

/** What waits, then what is written: the end of it is what the user types. */
export function createPromptLines({ text, known }: PromptScreen, columns: number): readonly PromptLine[] {
  const wrap = (part: string, style: PromptLine["style"], maxLines: number): PromptLine[] =>
    wrapText(part, columns - indent.length, maxLines).map((line) => ({ text: indent + line, style }));
  const waiting = (known?.prompts ?? []).flatMap((prompt) => [
    ...wrap(prompt.text, "plain", maxQueueLines),
    ...wrap(formatPromptState(prompt), prompt.state === "not taken" ? "error" : "dim", maxQueueLines),
    { text: "", style: "plain" } as const,
  ]);
  const obstacle = known?.obstacle ?? null;
  if (obstacle !== null) return [...waiting, ...wrap(`Not possible: ${obstacle}.`, "error", maxQueueLines)];
  const [first, ...others] = `${text}▏`
    .split("\n")
    .flatMap((part) => wrap(part, "plain", Number.POSITIVE_INFINITY));
  return [...waiting, { text: `›  ${first?.text.slice(indent.length) ?? ""}`, style: "plain" }, ...others];
}
