/** Invented teams: of three, of nine with long names, and of forty. */
import type { TeamMachine, TeamPerson, TeamView } from "../../src/core/interfaces/wire.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createSession } from "../../src/core/session/session.ts";
import { shareSession, shareWords } from "../../src/machines/fleet/share.ts";

const minuteMs = 60_000;
const now = new Date(2026, 10, 17, 14, 32, 4).getTime();
const clock = (text: string): number => {
  const [hour = 0, minute = 0] = text.split(":").map(Number);
  return new Date(2026, 10, 17, hour, minute).getTime();
};

/** `spans`: "09:10-09:31 13:44-" */
function createMachine(name: string, spans: string, more: Partial<TeamMachine> = {}): TeamMachine {
  const waits = spans
    .split(" ")
    .filter(Boolean)
    .map((span) => {
      const [from = "", to = ""] = span.split("-");
      return { from: clock(from), to: to === "" ? null : clock(to) };
    });
  const open = waits.filter(({ to }) => to === null).map(({ from }) => from);
  return {
    name,
    isThis: false,
    isThere: true,
    heardAt: null,
    waiting: open.length,
    since: open.length === 0 ? null : Math.min(...open),
    project: null,
    tool: null,
    working: 1,
    waits,
    ...more,
  };
}

const person = (name: string, ...machines: TeamMachine[]): TeamPerson => ({ name, isYou: false, machines });
const you: TeamPerson = {
  name: "kim",
  isYou: true,
  machines: [
    createMachine("laptop", "09:26-09:29 09:55-10:01 10:20-10:24 11:36-11:40 14:25- 14:29-", {
      isThis: true,
    }),
  ],
};

const session = {
  ...createSession({ agent: "claude", sessionId: "b2f1c0de-55aa", at: clock("14:02"), t: 1 } as AgentEvent),
  newest: 1,
  asks: [
    {
      ...{
        id: "b2f1c0de-3",
        kind: "permission",
        tool: "Bash",
        summary: "npm publish",
        from: "hook",
        hidden: false,
      },
      ...{ at: clock("14:25"), t: 1, options: [], request: "r", agentId: null, toolUseId: null },
      ...{ promptId: null, inputKey: null },
    } as const,
  ],
};
const example = JSON.stringify(shareSession({ session, answerable: [] }, "minimal").session);

const createTeam = (name: string, people: readonly TeamPerson[]): TeamView => ({
  name,
  share: "minimal",
  shareWords: shareWords.minimal,
  example,
  followedAt: clock("08:12"),
  people,
});

const nine = [
  you,
  person(
    "Mira",
    createMachine("mira-mbp", "09:10-09:31"),
    createMachine("build-box", "11:02-11:29 13:44- 14:10-"),
  ),
  person(
    "Bartholomew Featherstonehaugh-Lindqvist",
    createMachine("gpu-lab-frankfurt-2.internal.example", "10:40-10:48 14:30-", {
      project: "search-index",
      tool: "Bash",
    }),
  ),
  person("Aiko", createMachine("aiko-desktop", "08:50-08:54 12:15-12:19")),
  person("Dara", createMachine("dara", "10:05-10:12 13:20-13:34")),
  person("Emeka", createMachine("thinkpad", "11:50-11:53"), createMachine("ci-4", "")),
  person("Ines", createMachine("ines-mbp", "")),
  person("Jun", createMachine("jun", "09:40-09:52 13:02-13:07")),
  person("Sol", createMachine("sol-laptop", "08:20-08:25", { isThere: false, heardAt: clock("11:48") })),
];

const many = Array.from({ length: 40 }, (_, index): TeamPerson => {
  const from = now - (index * 37 + 12) * minuteMs * 0.2;
  const text = (at: number) => new Date(at).toTimeString().slice(0, 5);
  const past = `${text(from - 90 * minuteMs)}-${text(from - (70 + (index % 5) * 4) * minuteMs)}`;
  const isBlocked = index % 6 === 1;
  const machine = createMachine(`machine-${index + 1}`, isBlocked ? `${past} ${text(from)}-` : past, {
    ...(index % 9 === 8 ? { isThere: false, heardAt: clock("12:20") } : {}),
  });
  return index === 0 ? you : person(`Person ${String(index + 1).padStart(2, "0")}`, machine);
});

export const sampleTeams = {
  three: [createTeam("friends", nine.slice(0, 3))],
  nine: [createTeam("platform", nine), createTeam("payments", nine.slice(0, 2))],
  forty: [createTeam("platform", many)],
  calm: [
    createTeam("friends", [{ ...you, machines: [createMachine("laptop", "09:26-09:29", { isThis: true })] }]),
  ],
};
