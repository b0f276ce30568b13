/**
 * Qwen Code's second channel: it writes what it does into one file, and reads answers from another, also while a dialog is open. A hook
 * that waits would keep the dialog away (run with 0.24.4). The file of events is a pipe: it holds nothing, and if nobody reads it, Qwen
 * Code stops writing and goes on. All sessions write into it, so their requests are told apart by what they ask.
 */
import { appendFileSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { asRecord, asText, isRecord, type JsonRecord, parseJson, parseRecord } from "../../../core/json.ts";
import { type Ask, isBlocking, type Session } from "../../../core/session/session.ts";
import { hashJson } from "../../../core/text/json-text.ts";
import { readOr } from "../../../storage/files.ts";
import type { WatchContext, WatchedRequest } from "../../agent.ts";
import { createJsonFileCheck } from "../../setup/file-check.ts";
import type { EmitChange } from "../../watch/index.ts";
import { makePipe, readPipe } from "../../watch/named-pipe.ts";
import { createOpenRequests } from "../../watch/open-requests.ts";
import { hasChannel } from "../setup/channel.ts";
import { answersPath, eventsPath, settingsPath } from "../setup/folder.ts";

export interface QwenChannel {
  /** Called every second: opens the pipe once Qwen Code's settings name it, and removes it when they no longer do. */
  check(sessions: readonly Session[]): void;
  note(session: Session): void;
  stop(): void;
}

const agent = "qwen";

export function openChannel(context: WatchContext, emit: EmitChange): QwenChannel {
  const { env, clock, exec, findSession, mask, onError } = context;
  const [events, answers] = [eventsPath(env), answersPath(env)];
  const isRegistered = createJsonFileCheck(settingsPath, hasChannel).createRegistrationCheck(env);
  const sessionIds = new Set<string>();
  const requests = createOpenRequests<string, Pick<WatchedRequest, "request" | "sessionId">>(context);
  let isStopped = false;
  /** What ends the reading. null if nothing is read. */
  let close: (() => void) | null = null;
  let isOpening = false;

  async function start(): Promise<void> {
    isOpening = true;
    try {
      await makePipe(events, exec);
      writeFileSync(answers, "", { mode: 0o600 });
      chmodSync(answers, 0o600);
      if (!isStopped) read();
    } catch (error) {
      onError(`could not open Qwen Code's channel: ${error}`);
    } finally {
      isOpening = false;
    }
  }

  function read(): void {
    const isWanted = (line: string): boolean => line.startsWith('{"type":"control_re');
    const stopReading = readPipe(
      events,
      (line) => {
        if (isWanted(line)) onLine(parseRecord(line));
      },
      (error) => onError(`stopped reading Qwen Code's channel: ${error}`),
    );
    close = () => {
      close = null;
      stopReading();
      requests.endAll();
    };
  }

  function onLine({ type, request_id, request, response }: JsonRecord): void {
    if (type === "control_request") add(asText(request_id), asRecord(request));
    const { request_id: id, subtype, response: result } = asRecord(response);
    if (subtype === "success") onResolved(asText(id), asRecord(result).allowed === true);
  }

  /** The ask that the hook of this call has opened. null if there is none, or several sessions ask for the same. */
  function findAsk(inputKey: string): { readonly session: Session; readonly ask: Ask } | null {
    const found = [...sessionIds].flatMap((id) => {
      const session = findSession(id);
      const isOwn = (ask: Ask) =>
        isBlocking(ask) && ask.kind === "permission" && ask.inputKey === inputKey && !requests.isTaken(ask);
      const ask = session?.asks.find(isOwn);
      return session && ask ? [{ session, ask }] : [];
    });
    const [first = null, ...others] = found;
    return others.length === 0 ? first : null;
  }

  function add(id: string, { subtype, tool_name, input }: JsonRecord): void {
    if (id === "" || subtype !== "can_use_tool" || !isRecord(input)) return;
    // The hook's own input was masked before it got its key.
    const found = findAsk(hashJson(asRecord(parseJson(mask(JSON.stringify(input))))));
    if (!found?.ask.request) return;
    const { sessionId, cwd } = found.session;
    const payload = { session_id: sessionId, request_id: id, cwd, tool_name, tool_input: input };
    const send = (decision: object): boolean =>
      readOr(() => {
        appendFileSync(answers, `${JSON.stringify(decision)}\n`);
        return true;
      }, false);
    requests.add(id, { request: found.ask.request, sessionId }, { payload, send });
  }

  function onResolved(id: string, isAllowed: boolean): void {
    const request = requests.end(id);
    const ask = request && requests.findAsk(request);
    if (!ask) return;
    const outcome = isAllowed ? "allowed" : "denied";
    const change = { kind: "ask-ended", inputKey: ask.inputKey, outcome } as const;
    emit({ agent, sessionId: request.sessionId, agentId: ask.agentId }, clock(), change);
  }

  return {
    check(sessions) {
      for (const { sessionId, ended } of sessions)
        if (ended) sessionIds.delete(sessionId);
        else sessionIds.add(sessionId);
      requests.endAll((request) => requests.findAsk(request) === null);
      if (isOpening || process.platform === "win32") return;
      if (isRegistered() && close === null) void start();
      if (!isRegistered() && close !== null) {
        close();
        for (const path of [events, answers]) rmSync(path, { force: true });
      }
    },
    note: ({ sessionId }) => void sessionIds.add(sessionId),
    stop() {
      isStopped = true;
      close?.();
    },
  };
}
