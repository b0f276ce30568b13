/** `beckon answer`: what a session asks, answered from here. */

import type { Answer } from "../core/session/ask-details.ts";
import { firstQuestion } from "../core/session/ask-text.ts";
import type { AskSnapshot, SessionSnapshot } from "../core/view/snapshot.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { askedLines, askInFull } from "./answer-shown.ts";
import { readAnswerWords } from "./answer-words.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { callApi, noSessionError } from "./client.ts";
import { print, stripControls, truncate } from "./output.ts";

/** The hook has 2 s to confirm it. */
const waitMs = 8_000;
const usage =
  "answer takes a session, and allow, always [N], deny [MESSAGE] or your answer in words; without these it shows what is asked";

interface Call {
  readonly session: string;
  /** None: what is asked is to be shown. */
  readonly words: readonly string[];
  /** How many of the words stand before `--`. */
  readonly ownFrom: number;
  readonly isSure: boolean;
  /** null: the one that is open. */
  readonly ask: string | null;
}

export async function answer(args: string[]): Promise<number> {
  const call = readCall(args);
  const places = resolvePaths();
  const session = await find(places, call.session);
  if (call.words.length === 0) return show(session, call);
  const open = choose(session, call.ask);
  const given = readAnswerWords(open.asked, call.words, call.ownFrom);
  if (!call.isSure && !isMeant(open, given, nameOf(session))) {
    print("Nothing was answered.\n");
    return 1;
  }
  const name = encodeURIComponent(`${session.provider}:${session.sessionId}`);
  const body = { ask: open.answerId, by: "command line", ...given };
  const done = await callApi(places, `/api/sessions/${name}/answer`, { given: body, waitMs });
  if (typeof done === "string") throw new Error(done);
  if (done.status !== 200) throw new Error(stripControls(String(done.body.error)));
  print(`${stripControls(`${past(given)} in ${nameOf(session)}: ${whatOf(open)}`)}\n`);
  return 0;
}

function show(session: SessionSnapshot, { session: name, ask: wanted }: Call): number {
  const open = openAsks(session, wanted);
  const answerable = open.filter(isAnswerable);
  const where = nameOf(session);
  const parts = open.map((one) => {
    if (!isAnswerable(one)) return [stripControls(cannot(one, session))];
    const call = answerable.length > 1 ? `${name} --ask ${one.answerId}` : name;
    return askInFull(one.asked, { where, call });
  });
  print(`${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`);
  return 0;
}

/** Who says yes in a terminal to what is long or could do harm has seen all of it. */
function isMeant({ asked }: Answerable, given: Answer, where: string): boolean {
  const isYes = given.do === "allow" || given.do === "always";
  const isPlain = asked.dangers.length === 0 && asked.lines.length <= 1;
  if (!isYes || isPlain || !process.stdin.isTTY || !process.stdout.isTTY) return true;
  const always =
    given.do === "always" ? [stripControls(`And from now on: ${asked.always[given.choice] ?? ""}`)] : [];
  print(`${[...askedLines(asked, where), ...always].join("\n")}\n`);
  return confirm("Allow it?");
}

function readCall(args: readonly string[]): Call {
  const parsed = parseArguments(args, {
    command: "answer",
    flags: ["--yes"],
    values: { "--ask": "ID" },
    takesArguments: true,
    hint: "Text that begins with a dash goes after --",
  });
  const [session, ...words] = parsed.rest;
  if (!session) throw usageError(usage);
  return {
    session,
    words,
    ownFrom: Math.max(0, parsed.literalFrom - 1),
    isSure: parsed.flags.has("--yes"),
    ask: parsed.values["--ask"] ?? null,
  };
}

async function find(places: Paths, name: string): Promise<SessionSnapshot> {
  const found = await callApi(places, `/api/sessions/${encodeURIComponent(name)}`);
  if (typeof found === "string") throw new Error(found);
  if (found.status !== 200) throw noSessionError(name, found);
  const session = found.body as unknown as SessionSnapshot;
  const { provider, sessionId, project } = session;
  const isWhole = [sessionId, `${provider}:${sessionId}`, project].includes(name);
  const prefix = name.slice(name.lastIndexOf(":") + 1);
  if (!isWhole && prefix.length < minPrefix)
    throw usageError(
      `${quote(name)} is too short to answer by: give at least ${minPrefix} characters of the session's id, or its project`,
    );
  return session;
}

/** So that a typo does not name another session. */
const minPrefix = 4;

type Answerable = AskSnapshot & Required<Pick<AskSnapshot, "asked" | "answerId">>;

const isAnswerable = (open: AskSnapshot): open is Answerable =>
  open.answerId !== undefined && open.asked !== undefined;

function openAsks(session: SessionSnapshot, wanted: string | null): readonly AskSnapshot[] {
  const where = nameOf(session);
  const open = session.asks.filter(({ kind }) => kind !== "idle");
  const named = wanted === null ? open : open.filter(({ answerId }) => answerId === wanted);
  if (wanted !== null && named.length === 0)
    throw new Error(stripControls(`this ask is gone: ${where} has none that is called ${wanted}`));
  if (named.length === 0) throw new Error(stripControls(`nothing to answer: ${where} asks nothing now`));
  return named;
}

/** The ask that is meant. An answer to the wrong one must not be possible by haste. */
function choose(session: SessionSnapshot, wanted: string | null): Answerable {
  const where = nameOf(session);
  const named = openAsks(session, wanted);
  const answerable = named.filter(isAnswerable);
  const [only, ...others] = answerable;
  if (!only)
    throw new Error(
      stripControls(
        named
          .slice(0, 1)
          .map((first) => cannot(first, session))
          .join(""),
      ),
    );
  if (others.length === 0) return only;
  const list = answerable.map((one) => `  --ask ${one.answerId}  ${whatOf(one)}`);
  throw new Error(
    [`${where} asks ${answerable.length} things. Say which:`, ...list].map(stripControls).join("\n"),
  );
}

function cannot(open: AskSnapshot, session: SessionSnapshot): string {
  const why = open.why ?? "it is being answered";
  const go = `Go there with: beckon focus ${session.sessionId.slice(0, 8)}`;
  return `${whatOf(open)} (${nameOf(session)}) cannot be answered from here: ${why}. ${go}`;
}

function nameOf({ project, sessionId }: SessionSnapshot): string {
  return project ?? sessionId.slice(0, 8);
}

const maxShown = 200;

/** Whose first line says what it is; of all others that is in the heading. */
const toldByLine: ReadonlySet<string> = new Set(["Bash", "PowerShell", "WebFetch", "WebSearch"]);

function whatOf(open: AskSnapshot): string {
  const { asked, tool, kind } = open;
  if (kind === "plan") return "the plan";
  if (asked && kind !== "question" && !toldByLine.has(tool ?? "")) return truncate(asked.heading, maxShown);
  const [line = firstQuestion(open), ...more] = kind === "question" ? [] : (asked?.lines ?? []);
  const shown = truncate(line || tool || kind, maxShown);
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
