/** `beckon send`: sends a session its next prompt, and lists, changes or removes those that wait. */
import type { PromptView, SessionPrompts } from "../core/interfaces/wire.ts";
import { parseSessionKey, viewKeyOf } from "../core/session/session-ref.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { capitalize } from "../core/text/words.ts";
import { formatSessionName, nameViews } from "../core/view/session-names.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { formatLocalTime, parseLocalTime } from "../system/clock.ts";
import { parseArguments, usageError } from "./args.ts";
import { type ApiResponse, callApi, fetchSessions } from "./client.ts";
import { sendCommand } from "./commands/send.ts";
import { fetchSession } from "./find-session.ts";
import { formatJson, formatLine, print, printLines, stripControls } from "./output.ts";

/** The app waits three seconds for what becomes of it. */
const timeoutMs = 6_000;
const maxShownColumns = 60;

export async function send(args: string[]): Promise<number> {
  const { flags, values, rest } = parseArguments(args, sendCommand);
  const paths = resolvePaths();
  const asJson = flags.has("--json");
  const { "--change": changed, "--remove": removed } = values;
  if ([flags.has("--list"), changed !== undefined, removed !== undefined].filter(Boolean).length > 1)
    throw usageError("send takes one of --list, --change and --remove");
  if (flags.has("--list")) return list(paths, rest, asJson);
  if (changed !== undefined) return change(paths, changed, rest, asJson);
  if (removed !== undefined) return show(await removePrompt(paths, removed), asJson, "Removed");
  const [name, ...words] = rest;
  if (name === undefined) throw usageError("send takes a session, and then the text");
  const { "--when": when, "--at": time } = values;
  if (when !== undefined && when !== "idle" && when !== "quota")
    throw usageError('--when takes "idle" or "quota"');
  const at = time === undefined ? null : parseLocalTime(time, Date.now());
  if (time !== undefined && at === null) throw usageError("--at takes a time like 15:00");
  const session = await fetchSession(paths, name);
  const text = await readText(words);
  const prompt = { text, at, by: "command line", ...(when === undefined ? {} : { when }) };
  return show(await sendPrompt(paths, session, prompt), asJson, null);
}

/** Rejects with why nothing was sent. */
export const sendPrompt = (paths: Paths, session: SessionView, prompt: object): Promise<PromptView> =>
  post(paths, `/api/sessions/${encodeURIComponent(viewKeyOf(session))}/send`, prompt);

export const removePrompt = (paths: Paths, id: string): Promise<PromptView> =>
  post(paths, `/api/prompts/${encodeURIComponent(id)}/remove`, {});

/** The words, or standard input. */
async function readText(words: readonly string[]): Promise<string> {
  if (words.length > 0) return words.join(" ");
  if (process.stdin.isTTY === true) throw usageError("send takes the text, or reads it from standard input");
  return (await Bun.stdin.text()).trimEnd();
}

async function post(paths: Paths, path: string, body: object): Promise<PromptView> {
  const response = await callApi(paths, path, { body, timeoutMs });
  if (typeof response === "string") throw new Error(response);
  return readPrompt(response);
}

function readPrompt({ status, body }: ApiResponse): PromptView {
  if (status !== 200) throw new Error(`nothing was sent: ${stripControls(String(body.error))}`);
  return body.prompt as PromptView;
}

function show(prompt: PromptView, asJson: boolean, done: string | null): number {
  if (asJson) print(formatJson(prompt));
  else printLines([done === null ? describePrompt(prompt) : `${done}: ${excerpt(prompt)}`]);
  return prompt.state === "not taken" || prompt.state === "unknown" ? 1 : 0;
}

/** "Delivered.", "Queued: it works, and is sent when this turn ends. To remove it: …" */
export function describePrompt({ id, state, says, since, session }: PromptView): string {
  const machine = parseSessionKey(session)?.machine ?? null;
  const there = machine === null ? "" : `, on ${machine}`;
  switch (state) {
    case "delivered":
      return `Delivered at ${formatLocalTime(since, Date.now())}.`;
    case "queued":
      return `Queued: ${says}. To remove it${there}: beckon send --remove ${id}`;
    case "sent":
      return `Sent. The agent has not confirmed it yet${there}: beckon send --list`;
    default:
      return `${capitalize(state)}: ${says}. To try it again${there}: beckon send --change ${id}`;
  }
}

async function change(paths: Paths, id: string, words: readonly string[], asJson: boolean): Promise<number> {
  const known = (await fetchPrompts(paths, null)).prompts.find((prompt) => prompt.id === id);
  if (!known) throw new Error(`no prompt has the id ${id}. See them all: beckon send --list`);
  const text = words.length > 0 ? words.join(" ") : known.text;
  return show(await post(paths, `/api/prompts/${encodeURIComponent(id)}/change`, { text }), asJson, null);
}

/** Of one session, or of all. */
export async function fetchPrompts(paths: Paths, session: string | null): Promise<SessionPrompts> {
  const query = session === null ? "" : `?session=${encodeURIComponent(session)}`;
  const response = await callApi(paths, `/api/prompts${query}`);
  if (typeof response === "string") throw new Error(response);
  return response.body as unknown as SessionPrompts;
}

async function list(paths: Paths, [name]: readonly string[], asJson: boolean): Promise<number> {
  const key = name === undefined ? null : viewKeyOf(await fetchSession(paths, name));
  const { prompts } = await fetchPrompts(paths, key);
  if (asJson) print(prompts.map((prompt) => formatJson(prompt)).join(""));
  else if (prompts.length === 0) printLines(["No prompt waits."]);
  else {
    const listed = await fetchSessions(paths);
    const names = nameViews(typeof listed === "string" ? [] : listed.sessions);
    const nameOf = (session: string) => {
      const known = names.get(session);
      return known ? formatSessionName(known) : session;
    };
    printLines(
      prompts.flatMap((prompt) => [
        `${prompt.id}  ${stripControls(nameOf(prompt.session))}  ${excerpt(prompt)}`,
        formatLine(`          ${prompt.state}${prompt.says === "" ? "" : `: ${prompt.says}`}`),
      ]),
    );
  }
  return 0;
}

const excerpt = ({ text }: PromptView): string =>
  `“${stripControls(truncateEnd(toSingleLine(text), maxShownColumns))}”`;
