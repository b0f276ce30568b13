/** SessionEvents: what is recorded of a session whose project has the work guard on, or that works on a port. */
import type { GuardSettings } from "../core/config/work-guard.ts";
import type { SessionChange, Transition } from "../core/interfaces/index.ts";
import type { SessionEvent, SessionEventType } from "../core/interfaces/wire.ts";
import type { AgentEvent, SessionPort } from "../core/session/event.ts";
import { nameOfChild, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { formatCall } from "../core/session/texts.ts";
import { truncateEnd } from "../core/text/text.ts";

const maxSummaryColumns = 200;
/** Of one edit. A patch can have more. */
const maxListedPaths = 50;

type Fields = Pick<SessionEvent, "summary"> & Partial<Pick<SessionEvent, "details" | "severity">>;

interface EventContext {
  readonly id: string;
  readonly at: number;
  /** null for a port that no session worked on. */
  readonly session: Pick<Session, "sessionId" | "port"> | null;
}

/** `id` names what happened, so that the same event is kept once. */
export function createSessionEvent(
  type: SessionEventType,
  { id, at, session }: EventContext,
  { summary, details, severity = "info" }: Fields,
  port: Pick<SessionPort, "id"> | null = session?.port ?? null,
): SessionEvent {
  return {
    id: `${id}:${type}`,
    session_id: session?.sessionId ?? "",
    ...(port === null ? {} : { port_id: port.id }),
    event_type: type,
    summary: truncateEnd(summary, maxSummaryColumns),
    ...(details === undefined ? {} : { details }),
    severity,
    created_at: new Date(at).toISOString(),
  };
}

/** What a transition adds. */
export function createTransitionEvents(transition: Transition): SessionEvent[] {
  switch (transition.kind) {
    case "ask-opened": {
      const { id, session, ask } = transition;
      const summary = formatCall(ask.tool, ask.summary) || ask.kind;
      const details = { kind: ask.kind, tool: ask.tool };
      return [
        createSessionEvent("escalation", { id, at: ask.at, session }, { summary, details, severity: "warn" }),
      ];
    }
    case "ask-ended": {
      const { id, session, ask, how, where, waitedMs } = transition;
      const summary = `${how}: ${formatCall(ask.tool, ask.summary) || ask.kind}`;
      const details = { how, where, waited_ms: waitedMs };
      return [createSessionEvent("decision", { id, at: ask.at + waitedMs, session }, { summary, details })];
    }
    case "child-appeared":
    case "child-ended": {
      const { session, child } = transition;
      const id = `${sessionKeyOf(session)}/${child.agentId}#${child.startedAt}`;
      const isStart = transition.kind === "child-appeared";
      const at = isStart ? child.startedAt : child.at;
      const details = { agent_id: child.agentId, type: child.type };
      const type = isStart ? "agent_activated" : "agent_deactivated";
      return [createSessionEvent(type, { id, at, session }, { summary: nameOfChild(child), details })];
    }
    default:
      return [];
  }
}

/** The names that agents have for running a command. */
const shellTool =
  /^(?:bash|powershell|(?:local_)?shell|exec(?:_command)?|run_(?:shell_command|in_terminal))$/i;
const testCommand =
  /\b(?:tests?|pytest|jest|vitest|mocha|rspec|phpunit|ctest|tox|playwright|cypress)\b|\b(?:go|cargo|bun|deno|mix|swift|dotnet)\s+test\b/;
const buildCommand =
  /\b(?:build|compile|make|tsc|webpack|rollup|esbuild|gradlew?|mvn|ninja|cmake|xcodebuild|msbuild)\b|\b(?:cargo|go)\s+(?:check|vet)\b/;

/** What a failed command was meant to do. null if it was neither a test nor a build. */
function classifyCommand(command: string): "test_failed" | "build_failed" | null {
  if (testCommand.test(command)) return "test_failed";
  return buildCommand.test(command) ? "build_failed" : null;
}

/** A tool that fails this often in one turn is worth a look. */
const failuresPerWarning = 3;

/** Remembers what one event alone does not say: failures of the turn, and compactions. */
export function createEventFinder() {
  const failures = new Map<string, Map<string, number>>();
  const checkpoints = new Set<string>();

  function countFailure(key: string, tool: string): number {
    const counts = failures.get(key) ?? new Map<string, number>();
    failures.set(key, counts);
    const count = (counts.get(tool) ?? 0) + 1;
    counts.set(tool, count);
    return count;
  }

  return {
    /** What a change of a session adds. */
    onChange({ session, event, before }: SessionChange, settings: GuardSettings): SessionEvent[] {
      const { change } = event;
      const key = sessionKeyOf(session);
      const create = (type: SessionEventType, fields: Fields, port?: SessionPort | null) =>
        createSessionEvent(type, { id: event.id, at: event.at, session }, fields, port);
      switch (change.kind) {
        case "session-start": {
          failures.delete(key);
          const { source } = change;
          if (source !== "compact")
            return [create("session_start", { summary: `Session started (${source})`, details: { source } })];
          const checkpoint = checkpoints.delete(key) ? [] : [createCheckpoint(create)];
          return [...checkpoint, create("compact", { summary: "The context was compacted" })];
        }
        case "compact-start":
          checkpoints.add(key);
          return [createCheckpoint(create)];
        case "session-end":
        case "gone":
          failures.delete(key);
          checkpoints.delete(key);
          if (before?.ended || !session.ended) return [];
          return [
            create("session_end", {
              summary: `Session ended (${session.ended.reason})`,
              details: { reason: session.ended.reason },
              severity: session.ended.whileBusy ? "warn" : "info",
            }),
          ];
        case "prompt":
          if (change.byMachine) return [];
          failures.delete(key);
          return [create("user_request", { summary: change.text })];
        case "tool-end":
          return describeToolEnd(session, event, change, create);
        case "document-loaded":
          if (session.documents === before?.documents) return [];
          return [
            create("context_loaded", {
              summary: `Loaded ${change.document.path}`,
              details: { path: change.document.path, type: change.document.kind },
            }),
          ];
        case "untracked-edit": {
          const { tool, path, isBlocked } = change;
          const subject = formatCall(tool, path);
          return [
            create("untracked_edit", {
              summary: isBlocked ? `Refused without a port: ${subject}` : `Without a port: ${subject}`,
              details: { tool, path, blocked: isBlocked },
              severity: "warn",
            }),
          ];
        }
        case "port": {
          const last = before?.port ?? null;
          if (last?.id === change.port?.id && last?.project === change.port?.project) return [];
          return [
            ...(last === null ? [] : [create("port_end", describePort(last), last)]),
            ...(change.port === null ? [] : [create("port_start", describePort(change.port), change.port)]),
          ];
        }
        case "enriched":
          return findOverflow(session, before, settings).map((fields) => create("context_overflow", fields));
        default:
          return [];
      }
    },

    /** beckon does not list the session any more. */
    forget(key: string): void {
      failures.delete(key);
      checkpoints.delete(key);
    },
  };

  function describeToolEnd(
    session: Session,
    event: AgentEvent,
    change: Extract<AgentEvent["change"], { kind: "tool-end" }>,
    create: (type: SessionEventType, fields: Fields) => SessionEvent,
  ): SessionEvent[] {
    const { tool, outcome, editPaths } = change;
    if (outcome === "ok") {
      if (editPaths === undefined) return [];
      const [path] = editPaths;
      const paths = editPaths.slice(0, maxListedPaths);
      const details = { tool, path, ...(paths.length > 1 ? { paths } : {}) };
      return [create("file_edit", { summary: `${tool}: ${paths.join(", ")}`, details })];
    }
    if (outcome !== "failed") return [];
    const call = session.tools.find(({ toolUseId }) => toolUseId !== null && toolUseId === change.toolUseId);
    const command = call?.summary ?? "";
    const failed = shellTool.test(tool) ? classifyCommand(command) : null;
    const count = countFailure(sessionKeyOf(session), tool);
    return [
      ...(failed !== null
        ? [create(failed, { summary: command, details: { command }, severity: "error" })]
        : []),
      ...(count === failuresPerWarning
        ? [
            create("quality_warning", {
              summary: `${tool} failed ${count} times in this turn`,
              details: { tool, failures: count, last: event.name },
              severity: "warn",
            }),
          ]
        : []),
    ];
  }
}

const describePort = ({ id, title, project, since }: SessionPort): Fields => ({
  summary: `${id}: ${title}`,
  details: { project, title, since },
});

const createCheckpoint = (create: (type: SessionEventType, fields: Fields) => SessionEvent): SessionEvent =>
  create("checkpoint_created", {
    summary: "The context is compacted: the transcript has everything before it",
  });

/** Once each time that the context grows past the budget. */
function findOverflow(
  { context }: Session,
  before: Session | null,
  { tokenBudget }: GuardSettings,
): Fields[] {
  const budget = tokenBudget ?? context?.window ?? null;
  if (context === null || budget === null || context.used < budget) return [];
  if (before?.context && before.context.used >= budget) return [];
  const details = { tokens_used: context.used, token_budget: budget };
  return [{ summary: `${context.used} tokens, the budget is ${budget}`, details, severity: "warn" }];
}
