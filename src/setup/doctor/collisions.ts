/** Checks whether every agent can do what the settings want before an edit of a file that another session has changed. */
import type { Forwarding } from "../../agents/agent.ts";
import { createFindings, type Finding } from "../../agents/finding.ts";
import type { Config } from "../../core/config/config.ts";
import { formatList } from "../../core/text/words.ts";

export interface CollisionsFacts {
  readonly workGuard: Pick<Config["workGuard"], "collisions" | "projects">;
  /** The agents that call beckon. */
  readonly agents: readonly { readonly name: string; readonly guard: Forwarding["guard"] }[];
}

const finding = createFindings("app", "app");

export function checkCollisions({ workGuard, agents }: CollisionsFacts): Finding[] {
  const isAsking = [workGuard, ...Object.values(workGuard.projects)].some(
    ({ collisions }) => collisions === "ask",
  );
  if (!isAsking) return [];
  const nameAll = (can: "tell" | undefined) =>
    agents.filter(({ guard }) => guard?.collisions === can).map(({ name }) => name);
  const [told, silent] = [nameAll("tell"), nameAll(undefined)];
  const parts = [
    ...(told.length === 0
      ? []
      : [`${formatList(told)} cannot ask you before an edit: the model is told, and goes on`]),
    ...(silent.length === 0
      ? []
      : [`${formatList(silent)} can neither ask nor be told: the rows of both sessions show it`]),
  ];
  return parts.map((text) => finding("info", "collisions-ask", `workGuard.collisions is "ask", but ${text}`));
}
