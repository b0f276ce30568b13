/** Shapes that only the page reads. */

/** GET /api/page */
export interface PageFacts {
  readonly version: string;
  /** Agent id → what users call it. */
  readonly agents: Readonly<Record<string, string>>;
  /** Names of agents that are installed but do not call beckon. */
  readonly unconnected: readonly string[];
  readonly problems: readonly string[];
}
