/**
 * Times that describe the protocol, or that more than one folder relies on. All are in milliseconds. A delay that only one
 * file uses stays in that file.
 */

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const timing = {
  /** The status file and the hooks of one change arrive up to 150 ms apart, in either order. */
  fileHookGapMs: 150,
  /** The status file decides this long after the last hook or file change. */
  settleMs: 300,
  /**
   * The status file decides this late where it contradicts a newer hook: on a loaded machine it was written 660 ms after the
   * hook of the same change.
   */
  contradictionMs: 1_000,
  /**
   * A dialog that only the status file or a reminder reports is not shown for this long where a rule may answer it: on a loaded machine its hook came
   * mostly 700 ms and rarely over 2 s later, and a rule's answer was followed by "waiting" for another 800 ms.
   */
  ruleGapMs: 3_000,
  /** Two registrations of one hook send the same payload within this time: one event. */
  duplicateMs: 1_000,
  /** Hooks of one moment can be stamped this far out of order, so a trailing event does not revive what has ended. */
  trailingMs: 1_000,
  /** A hook can arrive this late: the forwarder gives up after 1 s, and the spool is read within another second. */
  lateHookMs: 2_000,
  /** An event older than the newest one can still arrive for this long. */
  reorderMs: 3_000,
  /** The same for the events that the snapshot keeps, with room for a machine that is overloaded. */
  savedReorderMs: 10_000,

  /** A turn that has been over for this long makes a session idle. */
  idleAfterMs: 5 * minuteMs,
  /** A session without an event for this long is stale. */
  staleAfterMs: 8 * hourMs,
  /** A session that beckon cannot watch (no local process) is dropped after this long, even if it waits for an answer. */
  unwatchedMaxAgeMs: 7 * dayMs,

  /** The forwarder: reading stdin, sending the event, and everything after stdin has ended (a disk can hang). */
  stdinTimeoutMs: 5_000,
  hookSendTimeoutMs: 1_000,
  hookTotalTimeoutMs: 1_500,
  /** How long an edit waits for the work guard. Then it goes on. */
  guardTimeoutMs: 1_000,
  /** How often the app looks for new spool files. */
  spoolPollMs: 1_000,

  /** A hook that waits for an answer: how often the app sends a heartbeat, and how long the hook waits without one. */
  pendingHeartbeatMs: 5_000,
  pendingSilenceMs: 20_000,
  /** How long it tries to reach an app that was restarted. */
  pendingReconnectMs: 60_000,
  /** How long it waits at most. The app keeps the request a little longer. */
  pendingTotalMs: 3_500_000,
  maxPendingMs: hourMs,
  /** How long the hook may take to confirm that it has printed the decision. */
  confirmDecisionMs: 2_000,

  /** A user who answers sooner than this after an ask appeared on the screen has not read it. */
  minReadMs: 500,

  /** Default timeout of a command that beckon runs. */
  commandTimeoutMs: 2_000,
} as const;
