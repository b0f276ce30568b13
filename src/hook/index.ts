/**
 * The forwarder: agents' hooks call `beckon hook AGENT`, and it sends one event to beckon, or leaves it in the spool.
 * It runs at every event while the agent waits. So it always exits with 0, prints nothing on stdout but the user's
 * decision (other text would become the model's context), and imports what only the unusual path needs there: node:fs
 * alone takes 1.4 ms.
 */
import type { Agent } from "../agents/agent.ts";
import { agents, defaultAgent, findAgent } from "../agents/index.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { type JsonRecord, parseRecordOrNull } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { chooseFolders } from "./folders.ts";
import { type Exchange, openRequest, openSocketRequest, type ResponseStatus } from "./http.ts";
import {
  describeEvent,
  type EventDescription,
  findRealSender,
  readSurroundings,
  type Sender,
  type Surroundings,
} from "./meta.ts";
import { chooseTarget, findSocket, type Target } from "./target.ts";

/** The event on its way, and what the log needs to name it. */
interface Delivery {
  readonly paths: Paths;
  readonly faults: string[];
  isRead: boolean;
  isEmpty: boolean;
  eventName: string;
  sessionId: string;
  /** JsonRecord of the payload that are not masked in the spool. */
  identifierFields: readonly string[];
  /** The envelope, while it has to be spooled if it cannot be sent; null before it is packed and once beckon has it. */
  unsent: string | null;
  isSessionStart: boolean;
  /** Set if a session starts and beckon is down; `refusedUrl` is the address that refused, null if none is known. */
  launch: { readonly refusedUrl: string | null } | null;
  /** The app of this state folder, and the event's `_meta`, once it has taken the event. */
  delivered: { readonly app: Target; readonly meta: JsonRecord } | null;
  /** Reports to beckon that the agent stopped this hook; null if beckon does not wait for an answer to it. */
  reportStop: (() => Promise<void>) | null;
}

/** What is read at the same time, and what is made of variables meanwhile. */
interface Readings {
  readonly stdin: Promise<string>;
  readonly description: EventDescription;
  readonly surroundings: Promise<Surroundings>;
  /** null if the event has to go through the address with a port. */
  readonly findingSocket: Promise<string | null>;
  readonly choosingFolders: Promise<{ readonly paths: Paths }>;
}

/** These statuses are about the event itself: it would be refused again, so it is not spooled. */
const permanentErrors: ReadonlySet<number> = new Set([400, 413, 415, 422]);

export async function hook(args: string[], table = agents): Promise<number> {
  const id = args[0] || process.env.BECKON_PROVIDER || defaultAgent;
  const agent: Sender = { id, forwarding: findAgent(id, table)?.forwarding ?? null };
  // Called by hand. (Reading isTTY takes a millisecond; agents always pass their name.)
  if (id.startsWith("-") || (args.length === 0 && process.stdin.isTTY)) {
    explainUse(agent);
    process.exit(0);
  }
  // Started first: other threads read while this one does the rest.
  const stdin = readStdin();
  if (!hasAbsoluteFolder(process.env.BECKON_HOME)) {
    await stdin.catch(() => {});
    console.error("beckon hook: BECKON_HOME, or HOME, is a relative path: nothing sent or written");
    process.exit(0);
  }
  const named = resolvePaths();
  const choosingFolders = chooseFolders(process.env, named);
  if (args[1] === "--statusline") {
    const { sendStatusLine } = await import("./status-line.ts");
    const { paths } = await choosingFolders;
    await stdin.then((text) => sendStatusLine(agent, text, paths)).catch(() => {});
    process.exit(0);
  }
  if (args[1] === "--guard") {
    const { askGuard } = await import("./guard.ts");
    const { paths } = await choosingFolders;
    const answer = await askGuard(agent, table, stdin, paths).catch(() => null);
    if (answer !== null) await Bun.write(Bun.stdout, `${answer}\n`).catch(() => {});
    process.exit(0);
  }
  const surroundings = readSurroundings(agent, process.env, choosingFolders);
  try {
    const isConnecting = args[1] === "--connect";
    const find = (where: Paths) => (isConnecting ? Promise.resolve(null) : findSocket(process.env, where));
    // Only looks at a file, so it need not wait until the folder is known to be the user's: that would take 0.5 ms more.
    const findingNamed = find(named);
    const description = describeEvent(agent.forwarding, process.env);
    const { paths, ignored } = await choosingFolders;
    const findingSocket = paths === named ? findingNamed : find(paths);
    const delivery: Delivery = {
      paths,
      faults: [],
      isRead: false,
      isEmpty: false,
      eventName: "-",
      sessionId: "-",
      identifierFields: agent.forwarding?.identifierFields ?? [],
      unsent: null,
      isSessionStart: false,
      launch: null,
      delivered: null,
      reportStop: null,
    };
    const giveUp = (fault: string) => {
      if (fault) delivery.faults.push(fault);
      Promise.all([saveOnce(delivery), delivery.reportStop?.()]).finally(() => process.exit(0));
    };
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(signal, () =>
        giveUp(delivery.isRead || isTyped() ? "" : `${signal} before the event was read`),
      );
    }
    process.on("uncaughtException", (error) => giveUp(readErrorMessage(error)));
    try {
      await forward(agent, table, delivery, {
        stdin,
        description,
        surroundings,
        findingSocket,
        choosingFolders,
      });
    } catch (error) {
      delivery.faults.push(readErrorMessage(error));
    }
    if (!delivery.isRead && (isTyped() || (delivery.isEmpty && args.length === 0))) {
      explainUse(agent);
      process.exit(0);
    }
    if (delivery.unsent !== null || delivery.faults.length > 0) await saveOnce(delivery);
    if (delivery.launch !== null && delivery.faults.length === 0) await launch(agent, delivery);
    if (delivery.isSessionStart && ignored !== null) await log(delivery, ignored);
    if (isConnecting && delivery.delivered !== null) {
      const { printConnection } = await import("./connection.ts");
      await printConnection(delivery.delivered.app, paths, delivery.delivered.meta);
    }
  } catch (error) {
    console.error(`beckon hook: ${readErrorMessage(error)}`);
  }
  // Not left to the event loop: a stdin that is never closed would keep the agent waiting.
  process.exit(0);
}

/** Whether a user typed the command. Not on the way of an event, because it loads node:tty. */
const isTyped = (): boolean => process.getBuiltinModule("node:tty").isatty(0);

function explainUse(agent: Sender): void {
  const unknown = agent.forwarding === null && !agent.id.startsWith("-") ? `${describeUnknown(agent)}. ` : "";
  console.error(
    `${unknown}beckon hook is called by the agents' hooks and reads an event on stdin. See beckon --help.`,
  );
}

const maxQuotedLength = 40;
const describeUnknown = ({ id }: Sender): string =>
  `beckon does not know the agent ${JSON.stringify(id.slice(0, maxQuotedLength))}`;

/** A relative folder would mean another place in every project, and prompts would be written there. */
function hasAbsoluteFolder(home: string | undefined): boolean {
  if (process.platform === "win32") return !home || process.getBuiltinModule("node:path").isAbsolute(home);
  return (home || resolvePaths().state).startsWith("/");
}

async function forward(
  called: Sender,
  table: readonly Agent[],
  delivery: Delivery,
  { stdin, description, surroundings, findingSocket, choosingFolders }: Readings,
): Promise<void> {
  const { paths, faults } = delivery;
  const text = await stdin;
  const timedOut = Promise.withResolvers<null>();
  const timer = setTimeout(() => {
    faults.push(`not done ${timing.hookTotalTimeoutMs} ms after the event was read: kept in the spool`);
    timedOut.resolve(null);
  }, timing.hookTotalTimeoutMs);
  const inTime = <T>(work: Promise<T>): Promise<T | null> => Promise.race([work, timedOut.promise]);
  const isLarge = text.length > limits.maxBodyBytes;
  const payload =
    (isLarge ? await readIdentifiersOfLarge(text, called.forwarding?.identifierFields ?? []) : null) ??
    parseRecordOrNull(text);
  if (payload === null) {
    delivery.isEmpty = text === "";
    faults.push(
      text ? `stdin is not a JSON object (${text.length} characters): nothing sent` : "stdin was empty",
    );
    return;
  }
  const agent = findRealSender(called, payload, table);
  delivery.isRead = agent === null;
  if (agent === null) return;
  const isOther = agent !== called;
  const { eventName, sessionId } = agent.forwarding?.identify(payload) ?? {};
  delivery.eventName = asName(eventName);
  delivery.sessionId = asName(sessionId);
  delivery.identifierFields = agent.forwarding?.identifierFields ?? [];
  const around = isOther ? readSurroundings(agent, process.env, choosingFolders) : surroundings;
  const described = isOther
    ? { ...describeEvent(agent.forwarding, process.env), id: description.id }
    : description;
  const meta = { ...described, ...(await inTime(around)) };
  const body = await pack(agent, meta, text, payload);
  delivery.unsent = body;
  delivery.isRead = true;

  const isSessionStart = agent.forwarding?.isSessionStart(payload) === true;
  delivery.isSessionStart = isSessionStart;
  const awaitStatus = ({ status }: Exchange) =>
    inTime(Promise.race([status, timeout(timing.hookSendTimeoutMs)]));
  /** Returns the fault, and takes the event as sent if beckon has it or refuses it. */
  const judge = (status: ResponseStatus | "timeout" | null): string | null => {
    const fault = faultOf(status ?? "timeout");
    if (fault) faults.push(agent.forwarding === null ? `${describeUnknown(agent)}: ${fault}` : fault);
    if (typeof status === "number" && (fault === null || permanentErrors.has(status))) delivery.unsent = null;
    return fault;
  };
  // An unattended run has nobody to wait for.
  const canWait = meta.attended !== false && agent.forwarding?.canWaitForAnswer(payload) === true;
  const socket = canWait ? null : await inTime(findingSocket);
  if (socket !== null) {
    const status = await awaitStatus(openSocketRequest(socket, "/api/hook", body));
    // An app that crashed leaves its socket behind, and one from before the update has none.
    if (status !== "refused") {
      judge(status);
      return;
    }
  }
  const target = await inTime(chooseTarget(process.env, paths, faults, surroundings));
  // Without a target, beckon is not running. That is not a fault: it reads the spool when it starts.
  if (target === null) {
    if (isSessionStart) delivery.launch = { refusedUrl: null };
    return;
  }
  const isPending = target.isLoopback && canWait;
  const exchange = openRequest(target, isPending ? "/api/hook?hold" : "/api/hook", body);
  const loading = isPending ? import("./pending.ts") : null;
  if (loading) delivery.reportStop = async () => (await loading).report(target, meta.id, "stopped");
  const status = await awaitStatus(exchange);
  if (isSessionStart && status === "refused") delivery.launch = { refusedUrl: target.url.origin };
  const fault = judge(status);
  // A target with a key is the app that wrote endpoint.json.
  if (fault === null && typeof status === "number" && target.key !== null)
    delivery.delivered = { app: target, meta };
  if (loading === null || status !== 200) return;
  clearTimeout(timer);
  const { waitForDecision } = await loading;
  await waitForDecision({ id: meta.id, agent, body, paths, surroundings }, target, exchange);
}

function timeout(ms: number): Promise<"timeout"> {
  const { promise, resolve } = Promise.withResolvers<"timeout">();
  setTimeout(resolve, ms, "timeout");
  return promise;
}

/** Null if the event was delivered, or nothing listens there: the spool is enough then. */
function faultOf(status: ResponseStatus | "timeout"): string | null {
  if (status === "refused") return null;
  if (status === "timeout") return `no answer within ${timing.hookSendTimeoutMs} ms: kept in the spool`;
  if (status === "broken") return "connection broken before the answer: kept in the spool";
  if (status >= 200 && status < 300) return null;
  if (permanentErrors.has(status)) return `beckon refused the event (${status}): not kept`;
  return `beckon answered ${status}: kept in the spool`;
}

let saving: Promise<void> | null = null;

/** Writes the spool and the log. Both the end of `hook` and a signal from an impatient agent call it. */
function saveOnce(delivery: Delivery): Promise<void> {
  saving ??= import("./spool.ts").then(async ({ appendSpool, reportFault }) => {
    const { paths, faults, eventName, sessionId } = delivery;
    const failure = delivery.unsent === null ? null : appendSpool(paths, await maskUnsent(delivery));
    if (failure) faults.push(failure);
    if (faults.length > 0) reportFault(paths.hookLog, eventName, sessionId, faults.join("; "));
  });
  return saving;
}

/** Secrets reach no disk. The app masks what it receives, but it is down, and nobody knows for how long. */
async function maskUnsent({ unsent, identifierFields }: Delivery): Promise<string> {
  const text = unsent ?? "";
  // The rules take longer to load than the rest of the hook: nearly always the prefilter is enough.
  const { mayContainSecret } = await import("../secrets/prefilter.ts");
  if (!mayContainSecret(text)) return text;
  const { maskJson } = await import("../secrets/index.ts");
  return maskJson(text, 0, new Set(identifierFields));
}

/** Called once the event is in the spool, which the app reads when it starts: the hook does not wait for it. */
async function launch(agent: Sender, delivery: Delivery): Promise<void> {
  const { launchApp } = await import("./launch-app.ts");
  const { paths, launch } = delivery;
  const failure = await launchApp({ agent, paths, refusedUrl: launch?.refusedUrl ?? null });
  if (failure !== null) await log(delivery, failure);
}

async function log({ paths, eventName, sessionId }: Delivery, text: string): Promise<void> {
  const { appendLog } = await import("./spool.ts");
  appendLog(paths.hookLog, eventName, sessionId, text);
}

function readStdin(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const giveUp = () =>
    reject(new Error(`stdin did not end within ${timing.stdinTimeoutMs} ms: nothing sent`));
  setTimeout(giveUp, timing.stdinTimeoutMs);
  // A slice of a pipe or socket can return up to one read more than it asks for.
  const reading = Bun.stdin.slice(0, limits.maxStdinBytes + 1).bytes();
  reading.then((bytes) => {
    if (bytes.length <= limits.maxStdinBytes) resolve(new TextDecoder().decode(bytes));
    else reject(new Error(`stdin is larger than ${limits.maxStdinBytes} bytes: nothing sent`));
  }, reject);
  return promise;
}

async function readIdentifiersOfLarge(
  text: string,
  identifiers: readonly string[],
): Promise<JsonRecord | null> {
  const { readIdentifiersOfMany } = await import("./shorten.ts");
  return readIdentifiersOfMany(text, identifiers);
}

/** The envelope holds the payload's text as it came: parsing and writing it again could lose details. */
async function pack(agent: Sender, meta: JsonRecord, text: string, payload: JsonRecord): Promise<string> {
  const provider = JSON.stringify(agent.id.slice(0, limits.maxIdLength));
  const wrap = (about: JsonRecord, inner: string) =>
    `{"provider":${provider},"_meta":${JSON.stringify(about)},"payload":${inner}}`;
  // beckon-hook.sh drops a trailing newline: an event must be the same text from both forwarders.
  const body = wrap(meta, text.trimEnd());
  // A UTF-16 unit takes three bytes at most, so most bodies need not be measured.
  if (body.length * 3 <= limits.maxBodyBytes || Buffer.byteLength(body) <= limits.maxBodyBytes) return body;
  const { shorten } = await import("./shorten.ts");
  const cut = { ...meta, cut: true };
  const identifiers = agent.forwarding?.identifierFields ?? [];
  return wrap(cut, shorten(payload, identifiers, limits.maxBodyBytes - Buffer.byteLength(wrap(cut, ""))));
}

const asName = (value: unknown): string =>
  typeof value === "string" && value ? value.slice(0, limits.maxIdLength) : "-";
