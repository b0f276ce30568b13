/**
 * Streams: what happened, for the user and for other programs. Each format is one file with its type and what it is made of: an
 * AgentEvent, which is what a hook reports, or a Transition, which is what a change of the state means. Two formats are sent from
 * here: server-sent events (event-stream.ts), and the lifecycle stream.
 *
 * This file is the lifecycle stream: sessions, turns and skills as lines of JSON in a file that the user chose, for other tools to
 * read.
 */
import { closeSync, constants, mkdirSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Sink } from "../core/interfaces/index.ts";
import { isDuplicate } from "../core/session/apply.ts";
import { isProbe } from "../core/session/probe.ts";
import { errorCode, openOwnFile } from "../storage/files.ts";
import { createLifecycleEvent, createWaitingEvent, type LifecycleEvent } from "./lifecycle-event.ts";

export interface LifecycleStreamOptions {
  /** null if the user wants no stream. */
  readonly path: () => string | null;
  readonly onProblem: (text: string) => void;
}

export function createLifecycleStream({ path, onProblem }: LifecycleStreamOptions): Sink {
  let reported: string | null = null;

  function write(event: LifecycleEvent | null): void {
    const file = path();
    if (event === null || file === null) return;
    try {
      appendLine(file, `${JSON.stringify(event)}\n`);
      reported = null;
    } catch (error) {
      const problem = `the stream ${file} cannot be written (${errorCode(error)}): its events are lost until it can`;
      if (problem !== reported) onProblem(problem);
      reported = problem;
    }
  }

  return {
    name: "lifecycle stream",
    onChange({ session, event, before }) {
      if (path() === null || isProbe(session) || (before && isDuplicate(before, event))) return;
      write(createLifecycleEvent(event, { projectPath: session.firstCwd, turnCount: session.turnCount }));
    },
    onTransition(transition) {
      if (transition.kind !== "ask-opened" || path() === null) return;
      write(createWaitingEvent(transition, transition.session.firstCwd));
    },
  };
}

/** The whole line in one write, so that a reader never sees a part of it between two others. */
function appendLine(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fd = openOwnFile(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}
