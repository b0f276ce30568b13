/** Shapes that the page reads. Fields that an older beckon does not send are optional. */
import type { SessionSnapshot } from "../../core/view/snapshot.ts";

interface TokenFigures {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cached: number;
}

interface ContextFigures {
  readonly used: number;
  readonly window: number | null;
}

export type PageChild = SessionSnapshot["children"][number] & {
  readonly name?: string;
  readonly endedAt?: number | null;
  readonly model?: string | null;
  readonly tokens?: TokenFigures | null;
  readonly costUsd?: number | null;
};

export type PageSession = Omit<SessionSnapshot, "children" | "tokens"> & {
  readonly children: readonly PageChild[];
  readonly tokens: TokenFigures | null;
  readonly costUsd?: number | null;
  readonly context?: ContextFigures | null;
  readonly tasks?: { readonly done: number; readonly total: number } | null;
  readonly evidence?: string;
  readonly permissionMode?: string | null;
};

/** GET /api/page */
export interface PageFacts {
  readonly version: string;
  /** Agent id → what users call it. */
  readonly agents: Readonly<Record<string, string>>;
  /** Names of agents that are installed but do not call beckon. */
  readonly unconnected: readonly string[];
  readonly problems: readonly string[];
}
