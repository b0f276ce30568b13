/** Keeps the page in step with beckon: the event stream, and a new connection whenever it ends. */

import { batch, effect } from "@preact/signals";
import { computeRetryMs } from "../../core/backoff.ts";
import type { StreamEvents } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize } from "../../core/text/words.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { callApi } from "./api.ts";
import { describeEnding } from "./format.ts";
import { noteOutcome } from "./inbox.ts";
import { pageHeaders } from "./key.ts";
import { canRenew, loadRenewal, renewKey } from "./renewal.ts";
import { connection, detailed, facts, heardAt, now, openAsks, quiet, retryAt, sessions } from "./state.ts";
import type { PageFacts } from "./types.ts";

/** beckon sends a comment every 15 s. */
const silenceMs = 40_000;
const factsMs = 5_000;
const backoff = { firstMs: 1_000, maxMs: 10_000 };

const listeners: ((event: keyof StreamEvents | "connected") => void)[] = [];

/** Calls the listener after each change that the history can show. */
export function onNews(listener: (event: keyof StreamEvents | "connected") => void): void {
  listeners.push(listener);
}

function publish(event: keyof StreamEvents | "connected"): void {
  for (const listener of listeners) listener(event);
}

/** How far beckon's clock is ahead of the browser's. */
let clockOffset = 0;

function tick(): void {
  if (connection.value === "live") now.value = Date.now() + clockOffset;
}

let wake = (): void => {};

/** Tries to reach beckon now. */
export function retryNow(): void {
  wake();
}

export async function stayConnected(): Promise<void> {
  setInterval(tick, 1_000);
  setInterval(reloadFacts, factsMs);
  addEventListener("online", retryNow);
  addEventListener("focus", reloadFacts);
  addEventListener("blur", reportBlur);
  addEventListener("pagehide", reportBlur);
  effect(loadDetails);
  for (let failures = 0; ; ) {
    const wasConnected = await connectOnce();
    const isClosed = connection.value === "closed";
    // Another program may have answered, and beckon comes later.
    if (isClosed && !canRenew()) return;
    failures = wasConnected ? 1 : failures + 1;
    const retryMs = computeRetryMs(backoff, failures);
    batch(() => {
      if (!isClosed) connection.value = "stopped";
      retryAt.value = Date.now() + retryMs;
    });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, retryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Resolves with whether it was connected, once it is not any more. */
async function connectOnce(): Promise<boolean> {
  const ended = new AbortController();
  let watchdog = setTimeout(() => ended.abort(), silenceMs);
  try {
    // Nothing that answers after the connection was lost is believed before it has proven to be beckon.
    const renewed = canRenew() ? await renewKey() : null;
    if (renewed === "unreachable") return false;
    const response = renewed === "refused" ? null : await openEvents(ended.signal);
    if (response === null || response.status === 401 || response.status === 403) {
      connection.value = "closed";
      return false;
    }
    if (!response.ok || response.body === null) return false;
    await Promise.all([loadFacts(), loadRenewal()]);
    for await (const { name, data } of readEvents(response.body)) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => ended.abort(), silenceMs);
      if (name !== null) applyEvent(name, data);
    }
  } catch {
    // The connection was lost: the next attempt follows.
  } finally {
    clearTimeout(watchdog);
  }
  return connection.value === "live";
}

const openEvents = (signal: AbortSignal): Promise<Response> =>
  fetch("/api/events", { headers: pageHeaders(), cache: "no-store", signal });

/** Parses server-sent events. A comment has no name. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ readonly name: string | null; readonly data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const read = (field: string) =>
        lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
      yield { name: read("event")[0] ?? null, data: read("data").join("\n") };
    }
  }
}

function applyEvent(name: string, text: string): void {
  const data = JSON.parse(text);
  batch(() => {
    switch (name) {
      case "snapshot":
        applySnapshot(data as StreamEvents["snapshot"]);
        break;
      case "session-appeared":
      case "session-updated":
        setSession((data as { session: SessionView }).session);
        break;
      case "session-departed":
        removeSession((data as { key: string }).key);
        break;
      case "ask-closed": {
        const { key, ask, how, where } = data as StreamEvents["ask-closed"];
        noteOutcome(`${key} ${ask.id}`, `${capitalize(describeEnding({ kind: ask.kind, how, where }))}.`);
        break;
      }
    }
    tick();
    heardAt.value = now.value;
  });
  publish(name === "snapshot" ? "connected" : (name as keyof StreamEvents));
}

function applySnapshot(state: StreamEvents["snapshot"]): void {
  clockOffset = state.now - Date.now();
  if (Math.abs(clockOffset) < 2_000) clockOffset = 0;
  connection.value = "live";
  quiet.value = state.quiet;
  sessions.value = new Map(state.sessions.map((session) => [viewKeyOf(session), session]));
  tick();
}

function setSession(session: SessionView): void {
  const before = sessions.peek().get(viewKeyOf(session));
  // Its machine was lost or is back: what is known of the machine itself comes with the facts.
  if (session.machine !== null && before?.reachable !== session.reachable) reloadFacts();
  sessions.value = new Map(sessions.value).set(viewKeyOf(session), session);
}

function removeSession(key: string): void {
  const rest = new Map(sessions.value);
  rest.delete(key);
  sessions.value = rest;
}

/** Mistakes in the settings and channels that fail come and go while the page is open. */
function reloadFacts(): void {
  if (connection.value === "live" && document.visibilityState === "visible") void loadFacts();
}

/** beckon shows no alerts while the page has the focus. The page says that it is still there with each of these requests. */
async function loadFacts(): Promise<void> {
  const { status, body } = await callApi(document.hasFocus() ? "/api/page?focused=yes" : "/api/page");
  if (status !== 200) return;
  const loaded = body as unknown as PageFacts;
  // Another version has another page.
  if (facts.value !== null && facts.value.version !== loaded.version) location.reload();
  if (JSON.stringify(facts.value) !== JSON.stringify(loaded)) facts.value = loaded;
}

/** Sent also while the page is being closed. */
function reportBlur(): void {
  if (connection.value !== "live") return;
  fetch("/api/page?focused=no", { headers: pageHeaders(), cache: "no-store", keepalive: true }).catch(
    () => {},
  );
}

/** What the details of a session depend on. */
const describeAsks = ({ asks }: SessionView): string =>
  asks.map(({ id, answerId, answerable, tool }) => `${id} ${answerId} ${answerable} ${tool}`).join("\n");

const loadedFor = new Map<string, string>();

/** Fetches what the open asks ask in full: the list has only one line of each. */
function loadDetails(): void {
  const waiting = new Map(openAsks.value.map(({ key, session }) => [key, session]));
  for (const key of loadedFor.keys()) if (!waiting.has(key)) loadedFor.delete(key);
  if (connection.value !== "live") {
    // After a restart the same asks have new answer ids.
    loadedFor.clear();
    return;
  }
  for (const [key, session] of waiting) {
    const asks = describeAsks(session);
    if (loadedFor.get(key) === asks) continue;
    loadedFor.set(key, asks);
    loadSession(key).then((isLoaded) => {
      if (!isLoaded) loadedFor.delete(key);
    });
  }
}

/** Loads one session in full. */
export async function loadSession(key: string): Promise<boolean> {
  const { status, body } = await callApi(`/api/sessions/${encodeURIComponent(key)}`);
  if (status !== 200) return false;
  detailed.value = new Map(detailed.value).set(key, body as unknown as SessionView);
  return true;
}
