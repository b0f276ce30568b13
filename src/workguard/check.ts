/** Answers the hooks that ask whether an edit may go ahead, or what a session should know at its start. */
import { openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { OtherChanges } from "../answers/other-changes.ts";
import type { HookOutput, SessionEvent } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Change, ClockReading, SharedFile } from "../core/session/event.ts";
import { stateOf } from "../core/session/phase.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import { createSessionEvent } from "../streams/session-event.ts";
import type { BookReader } from "./book-reader.ts";
import type { Collisions } from "./collisions.ts";
import { decide } from "./decide.ts";
import { decideCollision } from "./decide-collision.ts";
import { identify, isUntracked, type LocatedEdit, type Locator } from "./locate.ts";
import { findPort, listPorts, portStatus, summarizePort } from "./ports.ts";

export interface HookCheckOptions {
  readonly agents: LoadedAgents;
  readonly defaultProvider: string;
  readonly clock: () => ClockReading;
  readonly get: (ref: SessionRefLike) => Session | null;
  /** How beckon is called in the agent's shell. */
  readonly command: () => string;
  /** What a request of the agent shows of them. */
  readonly otherChanges: OtherChanges;
}

interface HookCheckParts {
  readonly reader: BookReader;
  readonly locator: Locator;
  /** Reads the ports again if they have changed. */
  readonly refresh: () => void;
  readonly collisions: Pick<Collisions, "findOthers" | "showChange">;
  readonly dispatch: (session: Session, change: Change) => void;
  readonly publish: (session: Pick<Session, "agent" | "sessionId">, events: readonly SessionEvent[]) => void;
}

type Checked = HookOutput | string;

/** A text says what is wrong with the body. `isDryRun`: nothing is recorded. At once, unless git has to be asked. */
export type HookCheck = (body: JsonRecord, isDryRun?: boolean) => Checked | Promise<Checked>;

export function createHookCheck(options: HookCheckOptions, parts: HookCheckParts): HookCheck {
  const { clock, agents } = options;
  const { reader, locator, dispatch } = parts;
  let contextCount = 0;

  function listOpenPorts(project: string) {
    return listPorts(reader.book(), project).filter(
      (port) => portStatus(reader.book(), project, port) !== "ended",
    );
  }

  /** What the model is told counts as loaded context. */
  function recordContext(
    session: Pick<Session, "agent" | "sessionId" | "port">,
    { metadata }: HookOutput,
  ): void {
    const text = metadata.additional_context;
    if (text === undefined) return;
    const { at, t } = clock();
    const context = { id: `guard-context-${++contextCount}-${t}`, at, session };
    parts.publish(session, [
      createSessionEvent("context_loaded", context, { summary: text, details: { source: "beckon" } }),
    ]);
  }

  /** In the first file with such a setting that another session has changed. */
  function checkCollisions(
    output: HookOutput,
    ref: SessionRefLike,
    located: readonly LocatedEdit[],
    folder: string | null,
    isDryRun: boolean,
  ): HookOutput | Promise<HookOutput> {
    const asked = located.filter(({ settings }) => settings.collisions !== "show");
    if (asked.length === 0) return output;
    const paths = asked.flatMap(({ path }) => path ?? []);
    return parts.collisions.findOthers(ref, paths).then(async (files) => {
      const [first] = files;
      const mode = asked.find(({ path }) => path === first?.path)?.settings.collisions ?? "show";
      if (!isDryRun) for (const path of paths) await showInRequest(ref, path, mode === "ask" ? files : []);
      return decideCollision(output, { mode, files, folder, now: clock().at });
    });
  }

  async function showInRequest(
    ref: SessionRefLike,
    path: string,
    files: readonly SharedFile[],
  ): Promise<void> {
    const others = files.filter((file) => file.path === path);
    const lines = others.length === 0 ? [] : await parts.collisions.showChange(path, others);
    options.otherChanges.set(ref, path, lines);
  }

  return (body, isDryRun = false) => {
    const now = clock();
    const message = openEnvelope(body, options.defaultProvider, now.host);
    const agent = message && agents.get(message.provider);
    if (!message || !agent) return "not a hook's event of an agent that beckon knows";
    const request = agent.readGuardRequest?.(message.payload) ?? null;
    if (request === null) return "no hook_event_name or hook_type in the payload";
    const { sessionId, edit, isStart } = request;
    const session = sessionId === null ? null : options.get({ agent: message.provider, sessionId });
    const folders = {
      cwd: request.cwd ?? session?.cwd ?? null,
      firstCwd: session?.firstCwd ?? request.cwd,
    };
    parts.refresh();
    const { place: hookPlace } = message.meta;
    const ownPlace = agent.findOwnPlace ? agent.findOwnPlace(hookPlace) : hookPlace;
    const place = ownPlace ?? session?.place ?? null;
    const identity = identify({ agent: message.provider, sessionId, firstCwd: folders.firstCwd }, place);
    // Of several files, one decides that needs a port and has none.
    const located = (edit?.paths ?? []).map((file) => locator.locateEdit(folders, file));
    const needing = located.filter(isUntracked);
    const decisive =
      needing.find((file) => locator.findActive(file.project, identity) === null) ?? needing[0];
    const { path, project, settings: own } = decisive ?? located[0] ?? locator.locateEdit(folders, null);
    const active = locator.findActive(project, identity);
    const port = active && findPort(reader.book(), active.project, active.id);
    const output = decide({
      settings: own,
      project,
      isStart,
      edit: edit && { tool: edit.tool, path },
      active: port && active && summarizePort(reader.book(), active.project, port),
      open: project === null ? [] : listOpenPorts(project),
      command: options.command(),
      session: {
        session_id: sessionId,
        fingerprint: identity.fingerprint,
        loaded_docs: (session?.documents ?? []).map(({ path: file, kind: type }) => ({ path: file, type })),
        session_state: session ? stateOf(session, now) : "unknown",
        tokens_used: session?.context?.used ?? 0,
        token_budget: own.tokenBudget ?? session?.context?.window ?? 0,
      },
    });
    if (isStart && !isDryRun && sessionId !== null)
      recordContext({ agent: message.provider, sessionId, port: active }, output);
    if (edit === null || output.decision !== "block")
      return sessionId === null
        ? output
        : checkCollisions(output, { agent: message.provider, sessionId }, located, folders.cwd, isDryRun);
    if (!reader.canBlock(project)) return { ...output, decision: "approve", reason: "" };
    if (session && !isDryRun)
      dispatch(session, { kind: "untracked-edit", tool: edit.tool, path, isBlocked: true });
    return output;
  };
}
