/** What the files of most agents say about a session: its model, tokens and the size of its context. Their prices are unknown. Pure. */
import type { Enrichment, Tokens } from "../../core/session/event.ts";

export interface FileUsage {
  tokens: Tokens | null;
  model: string | null;
  contextUsed: number | null;
}

export const createFileUsage = (): FileUsage => ({ tokens: null, model: null, contextUsed: null });

export function addTokens(usage: FileUsage, { input, output, cacheRead, cacheWrite }: Tokens): void {
  const known = usage.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  usage.tokens = {
    input: known.input + input,
    output: known.output + output,
    cacheRead: known.cacheRead + cacheRead,
    cacheWrite: known.cacheWrite + cacheWrite,
  };
}

export const summarizeUsage = ({ tokens, model, contextUsed }: FileUsage): Enrichment => ({
  ...(model === null ? {} : { model }),
  ...(tokens === null ? {} : { usage: { tokens, costMicros: null } }),
  ...(contextUsed === null ? {} : { context: { used: contextUsed, window: null } }),
});
