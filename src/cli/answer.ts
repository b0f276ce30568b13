/** `beckon answer`: what a session asks, answered from here. */
import type { Answer } from "../core/asked.ts";
import type { AskSnapshot, SessionSnapshot } from "../core/snapshot.ts";
import { type Paths, paths } from "../storage/paths.ts";
import { readAnswerWords } from "./answer-words.ts";
import { wrongCall } from "./args.ts";
import { ask, whichSession } from "./client.ts";
import { print } from "./print.ts";
import { clean, cut } from "./text.ts";

/** The hook has 2 s to confirm it. */
const waitMs = 8_000;
const usage = "answer takes a session and allow, always [N], deny [MESSAGE] or your answer in words";

interface Call {
  readonly session: string;
  readonly words: readonly string[];
  /** null: the one that is open. */
  readonly ask: string | null;
}

export async function answer(args: string[]): Promise<number> {
  const call = readCall(args);
  const places = paths();
  const session = await find(places, call.session);
  const open = choose(session, call.ask);
  const given = readAnswerWords(open.asked, call.words);
  const name = encodeURIComponent(`${session.provider}:${session.sessionId}`);
  const body = { ask: open.answerId, by: "command line", ...given };
  const done = await ask(places, `/api/sessions/${name}/answer`, { given: body, waitMs });
  if (typeof done === "string") throw new Error(done);
  if (done.status !== 200) throw new Error(clean(String(done.body.error)));
  print(`${clean(`${past(given)} in ${nameOf(session)}: ${whatOf(open)}`)}\n`);
  return 0;
}

function readCall(args: readonly string[]): Call {
  const rest: string[] = [];
  let wanted: string | null = null;
  for (let n = 0; n < args.length; n++) {
    const arg = args[n] ?? "";
    if (arg === "--") {
      rest.push(...args.slice(n + 1));
      break;
    }
    if (arg === "--ask") wanted = args[++n] ?? "";
    else if (arg.startsWith("--ask=")) wanted = arg.slice("--ask=".length);
    else if (arg.startsWith("-") && arg !== "-")
      throw wrongCall(
        `unknown flag ${JSON.stringify(arg.slice(0, 100))}: answer takes --ask ID. Put words that begin with - after --`,
      );
    else rest.push(arg);
  }
  if (wanted === "") throw wrongCall("--ask takes the answerId of an ask, as beckon status --json shows it");
  const [session, ...words] = rest;
  if (!session || words.length === 0) throw wrongCall(usage);
  return { session, words, ask: wanted };
}

async function find(places: Paths, name: string): Promise<SessionSnapshot> {
  const found = await ask(places, `/api/sessions/${encodeURIComponent(name)}`);
  if (typeof found === "string") throw new Error(found);
  if (found.status !== 200) throw new Error(`${clean(await whichSession(places, name))}. See: beckon status`);
  return found.body as unknown as SessionSnapshot;
}

type Answerable = AskSnapshot & Required<Pick<AskSnapshot, "asked" | "answerId">>;

const isAnswerable = (open: AskSnapshot): open is Answerable =>
  open.answerId !== undefined && open.asked !== undefined;

/** The ask that is meant. An answer to the wrong one must not be possible by haste. */
function choose(session: SessionSnapshot, wanted: string | null): Answerable {
  const where = nameOf(session);
  const open = session.asks.filter(({ kind }) => kind !== "idle");
  const named = wanted === null ? open : open.filter(({ answerId }) => answerId === wanted);
  if (wanted !== null && named.length === 0)
    throw new Error(clean(`this ask is gone: ${where} has none that is called ${wanted}`));
  const [first] = named;
  if (!first) throw new Error(clean(`nothing to answer: ${where} asks nothing now`));
  const answerable = named.filter(isAnswerable);
  const [only, ...others] = answerable;
  if (!only)
    throw new Error(
      clean(
        `${whatOf(first)} (${where}) cannot be answered from here: ${first.why ?? "it is being answered"}`,
      ),
    );
  if (others.length === 0) return only;
  const list = answerable.map((one) => `  --ask ${one.answerId}  ${whatOf(one)}`);
  throw new Error([`${where} asks ${answerable.length} things. Say which:`, ...list].map(clean).join("\n"));
}

function nameOf({ project, sessionId }: SessionSnapshot): string {
  return project ?? sessionId.slice(0, 8);
}

const maxShown = 200;

function whatOf({ asked, summary, tool, kind }: AskSnapshot): string {
  if (kind === "plan") return "the plan";
  const [line = summary, ...more] = kind === "question" ? [] : (asked?.lines ?? []);
  const shown = cut(line || tool || kind, maxShown);
  return more.length > 0 ? `${shown} …` : shown;
}

function past(given: Answer): string {
  switch (given.do) {
    case "allow":
      return "allowed";
    case "always":
      return "allowed, now and from now on,";
    case "deny":
      return given.message === null ? "denied" : `denied (${given.message})`;
    case "reply":
      return `replied ${given.replies.map((labels) => labels.join(", ")).join(" / ")}`;
  }
}
