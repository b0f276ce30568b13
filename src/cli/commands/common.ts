/** What several commands share. */
import type { Argument, Option } from "../command.ts";

export const json = { about: "for scripts" } satisfies Option;
export const off = { about: "ends it" } satisfies Option;
export const dryRun = { about: "show what would be done, and do nothing" } satisfies Option;

export const session: Argument = { name: "SESSION", values: "sessions" };

export const namesSession =
  "SESSION is a session's id, its first 4 characters or more, agent:id, or its project if only one session is in it.";
