/** Watches what Codex's hooks do not report: its rollout files, and the shared server that runs most sessions. */

import { forgetOldest } from "../../../core/forget-oldest.ts";
import { limits } from "../../../core/limits.ts";
import { isHookChange } from "../../../core/session/event.ts";
import type { Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { followFile } from "../../watch/growing-file.ts";
import { createEmitter } from "../../watch/index.ts";
import { readIndexRow } from "../rollout.ts";
import { indexPath } from "../setup/folder.ts";
import { type EmitCodexChange, isExpectingRows, readAll, watchRollouts } from "./rollouts.ts";
import { watchServer } from "./server.ts";

const maxShown = 200;

export function watchCodex(context: WatchContext): AgentWatcher {
  const { clock, findSession } = context;
  let isStopped = false;

  const emitAny = createEmitter(context);

  const emit: EmitCodexChange = (subject, { at, t }, change) => {
    if (isStopped) return "";
    // What beckon itself finds out is never older than the last event: it would be dropped.
    const newest = findSession(subject.sessionId)?.newest ?? t;
    return emitAny({ ...subject, agent: "codex" }, { at, t: Math.max(t, newest) }, change);
  };

  const rollouts = watchRollouts({ ...context, emit });
  const server = watchServer({ ...context, emit, rollouts });
  const index = followFile(indexPath(context.env), limits.transcriptTailBytes);
  /** The session that each terminal's process shows. */
  const shown = new Map<string, string>();

  function readTitles(): void {
    readAll(index, (row) => {
      const named = readIndexRow(row);
      const session = named && findSession(named.sessionId);
      if (!session || session.ended) return;
      const title = context.mask(named.title);
      if (session.title !== title)
        emit({ sessionId: named.sessionId }, clock(), { kind: "enriched", with: { title } });
    });
  }

  /** After /new and /clear, Codex goes on with another session and says nothing about the one before. */
  function endPredecessor({ sessionId, place }: Session): void {
    if (place?.pid == null) return;
    const key = `${place.pid} ${place.procStart}`;
    const before = shown.get(key);
    shown.delete(key);
    shown.set(key, sessionId);
    forgetOldest(shown, maxShown);
    if (before !== undefined && before !== sessionId && findSession(before)?.ended === null)
      emit({ sessionId: before }, clock(), { kind: "session-end", reason: "clear" });
  }

  return {
    scan(sessions) {
      for (const session of sessions.toSorted((a, b) => a.last.t - b.last.t)) {
        if (session.ended) continue;
        rollouts.read(session);
        endPredecessor(session);
      }
      readTitles();
      server.check(sessions);
    },
    check(sessions) {
      const now = clock();
      for (const session of sessions) if (isExpectingRows(session, now)) rollouts.read(session);
      if (sessions.some((session) => isExpectingRows(session, now))) readTitles();
      server.check(sessions);
    },
    follow(session, event) {
      if (event.change.kind === "enriched" || session.ended) return;
      // A hook from a terminal: the session runs there now, and the server's last status is not about it.
      if (session.file !== null && event.place !== null && isHookChange(event.change))
        emit({ sessionId: session.sessionId }, clock(), { kind: "status-lost" });
      if (event.place !== null && event.change.kind === "session-start") endPredecessor(session);
      rollouts.read(session);
    },
    continuesElsewhere({ sessionId }) {
      // Its terminal was closed: the server keeps the session, and what it asks.
      if (server.runs(sessionId)) emit({ sessionId }, clock(), { kind: "located", place: null });
      return server.runs(sessionId);
    },
    prompts: {
      way: "Starts a turn through Codex's server",
      findObstacle: ({ sessionId }) =>
        server.runs(sessionId)
          ? null
          : "only sessions that Codex's own server runs take a prompt from outside",
      send: ({ sessionId }, text) => server.startTurn(sessionId, text),
    },
    locate: ({ sessionId }) => server.locate(sessionId),
    stop() {
      isStopped = true;
      rollouts.stop();
      server.stop();
    },
  };
}
