/** Whether a channel works: what goes wrong, without secrets, and when something last arrived. */
import type { ClockReading } from "../core/session/event.ts";
import type { ChannelTest } from "./test-message.ts";

export interface ChannelHealthOptions {
  /** The channel's name. */
  readonly name: string;
  readonly clock: () => ClockReading;
  /** A service can repeat in its errors what it was sent. */
  readonly redact: (text: string) => string;
  /** Called with a line for the log. */
  readonly onProblem: (text: string) => void;
  /** What `problem` and `lastSentAt` return may have changed. */
  readonly onReportChanged: () => void;
}

export interface ChannelHealth {
  onProblem(text: string): void;
  /** An alert has arrived. */
  onSent(): void;
  onTested(test: ChannelTest): void;
  /** Why nothing is sent or received now; null if all is well. `known` is what the queue or the service says. */
  problem(known: string | null): string | null;
  /** Wall time; null if nothing arrived since the start. */
  lastSentAt(): number | null;
}

export function createChannelHealth(options: ChannelHealthOptions): ChannelHealth {
  const { name, clock, redact, onReportChanged } = options;
  let lastSentAt: number | null = null;
  /** Why the last test message was not sent; null if it was, or if an alert has been sent since. */
  let testProblem: string | null = null;

  return {
    onProblem(text) {
      options.onProblem(`channel ${name}: ${redact(text)}`);
      onReportChanged();
    },
    onSent() {
      lastSentAt = clock().at;
      testProblem = null;
      onReportChanged();
    },
    onTested({ problem }) {
      testProblem = problem;
      if (problem === null) lastSentAt = clock().at;
      onReportChanged();
    },
    problem(known) {
      const problem = known ?? testProblem;
      return problem === null ? null : redact(problem);
    },
    lastSentAt: () => lastSentAt,
  };
}
