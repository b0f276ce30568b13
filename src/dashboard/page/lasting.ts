/** What "Always…" offers besides the agent's own rules: a rule of beckon's, and trust for a while. */
import type { AskDetails } from "../../core/session/ask-details.ts";
import { refusals } from "./actions.ts";
import { callApi } from "./api.ts";
import { formatTime } from "./format.ts";
import type { OpenAsk } from "./state.ts";

export interface LastingChoice {
  readonly title: string;
  readonly about: string;
  readonly path: string;
  readonly body: object;
}

const quarterMs = 15 * 60_000;

/** The next full quarter of an hour that is at least half an hour away. */
const nextEnd = (now: number): number => Math.ceil((now + 2 * quarterMs) / quarterMs) * quarterMs;

/** Nothing for what is marked, cannot be shown in full, or runs on another machine. */
export function listLasting(
  { key, session }: OpenAsk,
  { kind, dangers, isWhole, precedent }: AskDetails,
): readonly LastingChoice[] {
  if (kind !== "permission" || dangers.length > 0 || !isWhole || session.machine !== null) return [];
  const until = nextEnd(Date.now());
  const rule = precedent?.rule;
  return [
    ...(rule
      ? [
          {
            title: `Always allow ${rule.text} here`,
            about: "a rule, which you find under Rules",
            path: "/api/rules/add",
            body: { ...rule, from: "suggestion" },
          },
        ]
      : []),
    {
      title: `Trust this session until ${formatTime(until)}`,
      about: "everything but what is marked as dangerous",
      path: `/api/sessions/${encodeURIComponent(key)}/trust`,
      body: { until },
    },
  ];
}

/** First the rule, then this request: if the rule is not taken, nothing is allowed. */
export async function allowLasting(
  { id }: OpenAsk,
  { path, body }: LastingChoice,
  allow: () => void,
): Promise<void> {
  const { status, body: answer } = await callApi(path, body);
  if (status === 200) return allow();
  refusals.value = new Map(refusals.value).set(id, String(answer.error ?? "beckon does not answer."));
}
