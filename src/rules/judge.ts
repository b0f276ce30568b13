/** What answers/ asks of the rules before a request is shown to the user. */

import type { RuleSubject } from "../core/answers/subject.ts";
import type { AskPrecedent } from "../core/session/precedent.ts";
import type { Session } from "../core/session/session.ts";

/** A request of this machine that waits, and that the policy would let a rule answer. */
export interface RuleRequest {
  readonly agent: string;
  readonly session: Session;
  readonly subject: RuleSubject;
  /** The session's folder, without links. null if unknown. */
  readonly project: string | null;
}

export interface RuleVerdict {
  /** For the log and the history: the rule's name, or "trust until 15:00". */
  readonly name: string;
  /** Every path must be inside of it, whatever links there are. */
  readonly folder: string | null;
  readonly paths: readonly string[];
  readonly readThroughLinks: readonly string[];
}

/** What answers/ asks before it shows a request to the user. */
export interface RuleJudge {
  /** A permission request has come, and waits. */
  remember(id: string, request: RuleRequest): void;
  /** What the user has answered to requests like this, as far as it is known by now. */
  findPrecedent(request: RuleRequest): AskPrecedent | null;
  /** null if neither a rule nor trust allows it. */
  judge(request: RuleRequest): RuleVerdict | null;
  /** False if no request of the session can be allowed by a rule or by trust. Quick. */
  mayAnswer(session: Session): boolean;
  /** The session asks for something that is marked: it is not trusted any longer. */
  onMarked(session: Session): void;
}
