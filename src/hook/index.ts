/**
 * What the agents' hooks call: hands one event to beckon, or leaves it in the spool.
 * It runs on every event while the agent waits. So it always ends with 0, prints nothing on stdout (that would
 * become the model's context) but a person's decision, and imports what only the unlucky path needs there: node:fs
 * alone takes 1.4 ms.
 */
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { describe, readSurroundings, type Surroundings } from "./meta.ts";
import { post, readToken, type Sent } from "./post.ts";
import { chooseTarget } from "./target.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The event on its way. */
interface Parcel {
  readonly places: Paths;
  readonly faults: string[];
  name: string;
  session: string;
  /** Set from the moment it could be kept until beckon has it. */
  body: string | null;
  /** A session starts and beckon is down: the address that refused, if there is one. */
  wake: { readonly refused: string | null } | null;
}

/** Answers that are about the event itself: it would be refused again. After any other it is kept. */
const hopeless: ReadonlySet<number> = new Set([400, 413, 415, 422]);

export async function hook(args: string[]): Promise<number> {
  const agent = args[0] || process.env.BECKON_PROVIDER || "claude";
  // A person, not an agent. (The look at stdin costs a millisecond: agents always say who they are.)
  if (agent.startsWith("-") || (args.length === 0 && process.stdin.isTTY)) {
    console.error(
      "beckon hook reads an event on stdin: agents call it, as their settings say. See beckon --help.",
    );
    process.exit(0);
  }
  // Started first: other threads read while this one does the rest.
  const reading = readStdin();
  const seeing = readSurroundings(agent, process.env);
  try {
    const parcel: Parcel = {
      places: resolvePaths(),
      faults: [],
      name: "-",
      session: "-",
      body: null,
      wake: null,
    };
    const giveUp = (fault: string) => {
      if (fault) parcel.faults.push(fault);
      keep(parcel).finally(() => process.exit(0));
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () => giveUp(parcel.body === null ? `${signal} before the event was read` : ""));
    }
    process.on("uncaughtException", (error) => giveUp(messageOf(error)));
    try {
      await forward(agent, parcel, reading, seeing);
    } catch (error) {
      parcel.faults.push(messageOf(error));
    }
    if (parcel.body !== null || parcel.faults.length > 0) await keep(parcel);
    if (parcel.wake !== null && parcel.faults.length === 0) await wake(agent, parcel, parcel.wake);
  } catch (error) {
    console.error(`beckon hook: ${messageOf(error)}`);
  }
  // Not left to the event loop: a stdin that nobody closes would keep the agent waiting.
  process.exit(0);
}

async function forward(
  agent: string,
  parcel: Parcel,
  reading: Promise<string>,
  seeing: Promise<Surroundings>,
): Promise<void> {
  const { places, faults } = parcel;
  const choosing = chooseTarget(process.env, places, faults, seeing);
  const readingToken = readToken(places.authHeader);
  const about = describe(agent, process.env);
  const text = await reading;
  const over = Promise.withResolvers<null>();
  const tooLong = setTimeout(() => {
    faults.push(`not done ${timing.hookTotalTimeoutMs} ms after the event was read: kept in the spool`);
    over.resolve(null);
  }, timing.hookTotalTimeoutMs);
  const inTime = <T>(work: Promise<T>): Promise<T | null> => Promise.race([work, over.promise]);
  const payload = parse(text);
  if (payload === null) {
    faults.push(
      text ? `stdin is not a JSON object (${text.length} characters): nothing sent` : "stdin was empty",
    );
    return;
  }
  parcel.name = word(payload.hook_event_name ?? payload.hook_type);
  parcel.session = word(payload.session_id);
  const meta = { ...about, ...(await inTime(seeing)) };
  parcel.body = await pack(agent.slice(0, limits.maxIdLength), meta, text, payload);

  const target = await inTime(choosing);
  const isStart = payload.hook_event_name === "SessionStart" && payload.source !== "compact";
  // No target: beckon is not running. That is no fault, and the spool is read when it starts.
  if (target === null) {
    if (isStart) parcel.wake = { refused: null };
    return;
  }
  const token = await inTime(readingToken);
  const sent = await inTime(post(target, token, parcel.body, timing.hookSendTimeoutMs));
  if (isStart && sent === "refused") parcel.wake = { refused: target.url.origin };
  const { fault, isOver } = judge(sent ?? "late");
  if (fault) faults.push(fault);
  const { body } = parcel;
  if (isOver) parcel.body = null;
  if (!isOver || fault || parcel.name !== "PermissionRequest") return;
  clearTimeout(tooLong);
  const { hold } = await import("./hold.ts");
  await hold({ agent, payload, meta, body, places, seeing }, target, token);
}

/** What beckon's answer means. */
function judge(sent: Sent): { fault: string | null; isOver: boolean } {
  const kept = (fault: string | null) => ({ fault, isOver: false });
  if (sent === "refused") return kept(null);
  if (sent === "late") return kept(`no answer within ${timing.hookSendTimeoutMs} ms: kept in the spool`);
  if (sent === "broken") return kept("connection broken before the answer: kept in the spool");
  if (sent >= 200 && sent < 300) return { fault: null, isOver: true };
  if (hopeless.has(sent)) return { fault: `beckon refused the event (${sent}): not kept`, isOver: true };
  return kept(`beckon answered ${sent}: kept in the spool`);
}

let keeping: Promise<void> | null = null;

/** Once, whoever comes first: the deadline, or the agent that loses patience. */
function keep(parcel: Parcel): Promise<void> {
  keeping ??= import("./spool.ts").then(({ spool, log }) => {
    const { places, faults, name, session, body } = parcel;
    const failed = body === null ? null : spool(places.spool, body);
    if (failed) faults.push(failed);
    if (faults.length > 0) log(places.hookLog, name, session, faults.join("; "));
  });
  return keeping;
}

/** Once the event is safe. Nobody waits for the app: it takes the spool when it is there. */
async function wake(agent: string, parcel: Parcel, { refused }: NonNullable<Parcel["wake"]>): Promise<void> {
  const { places, name, session } = parcel;
  const { launchApp } = await import("./launch-app.ts");
  const failed = await launchApp({ agent, places, refused });
  if (failed === null) return;
  const { note } = await import("./spool.ts");
  note(places.hookLog, name, session, failed);
}

function readStdin(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const tooLate = () =>
    reject(new Error(`stdin did not end within ${timing.stdinTimeoutMs} ms: nothing sent`));
  setTimeout(tooLate, timing.stdinTimeoutMs);
  // Of a pipe or socket, a slice may give up to one read more than was asked for.
  const reading = Bun.stdin.slice(0, limits.maxStdinBytes + 1).bytes();
  reading.then((bytes) => {
    if (bytes.length <= limits.maxStdinBytes) resolve(new TextDecoder().decode(bytes));
    else reject(new Error(`stdin is larger than ${limits.maxStdinBytes} bytes: nothing sent`));
  }, reject);
  return promise;
}

function parse(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

/** The payload's text is put in as it came: parsed and written again it could only lose. */
async function pack(agent: string, meta: Fields, text: string, payload: Fields): Promise<string> {
  const wrap = (about: Fields, inner: string) =>
    `{"provider":${JSON.stringify(agent)},"_meta":${JSON.stringify(about)},"payload":${inner}}`;
  // The shell's forwarder loses a line's end too: the same event of both must be the same text.
  const body = wrap(meta, text.trimEnd());
  // A UTF-16 unit takes three bytes at most, so that most bodies need not be measured.
  if (body.length * 3 <= limits.maxBodyBytes || Buffer.byteLength(body) <= limits.maxBodyBytes) return body;
  const { shorten } = await import("./shorten.ts");
  const cut = { ...meta, cut: true };
  return wrap(cut, shorten(payload, limits.maxBodyBytes - Buffer.byteLength(wrap(cut, ""))));
}

const word = (value: unknown): string =>
  typeof value === "string" && value ? value.slice(0, limits.maxIdLength) : "-";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
