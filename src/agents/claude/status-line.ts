/** What Claude Code writes to its status line command: the fill of the context and, with a subscription, the quotas. */
import { asRecord, type JsonRecord, readPositive, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { ContextUse, QuotaUse, RateLimits } from "../../core/session/event.ts";
import type { StatusLineReport } from "../agent.ts";
import { countContext } from "./usage.ts";

/** null if it names no session. */
export function readStatusLine(payload: JsonRecord): StatusLineReport | null {
  const sessionId = readText(payload.session_id, limits.maxIdLength);
  if (sessionId === null) return null;
  return {
    sessionId,
    enrichment: {
      model: readText(asRecord(payload.model).id, limits.maxIdLength),
      context: readContext(asRecord(payload.context_window)),
      rateLimits: readRateLimits(asRecord(payload.rate_limits)),
    },
  };
}

function readContext({ current_usage, context_window_size: size }: JsonRecord): ContextUse | null {
  const used = countContext(asRecord(current_usage));
  const window = readPositive(size);
  return used === 0 ? null : { used, window };
}

function readRateLimits({ five_hour, seven_day }: JsonRecord): RateLimits | null {
  const fiveHour = readQuota(asRecord(five_hour));
  const sevenDay = readQuota(asRecord(seven_day));
  return fiveHour || sevenDay ? { fiveHour, sevenDay } : null;
}

const maxSeconds = 8.64e12;

function readQuota({ used_percentage: percent, resets_at: seconds }: JsonRecord): QuotaUse | null {
  if (typeof percent !== "number" || !Number.isFinite(percent) || percent < 0) return null;
  const isTime = typeof seconds === "number" && seconds > 0 && seconds <= maxSeconds;
  return { usedPercent: percent, resetsAt: isTime ? Math.round(seconds * 1_000) : null };
}
