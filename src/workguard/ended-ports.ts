/** Finds the ports that ended while nobody reported it, as SessionEvents. */
import type { SessionEvent } from "../core/interfaces/wire.ts";
import { createSessionEvent } from "../streams/session-event.ts";
import { findPort, type PortBook } from "./ports.ts";

/** Of a file that others have written: more ports do not end at once. */
const maxReportedEnds = 100;

export const keyOfPort = (project: string, id: string): string => `port ${project} ${id}`;

/** Ports that ended between two readings, unless a session reports it, and ports that depended on them. */
export function createEndEvents(
  before: PortBook,
  book: PortBook,
  reported: ReadonlySet<string>,
  at: number,
): SessionEvent[] {
  return Object.entries(book.projects).flatMap(([project, ports]) => {
    const ended = ports.filter(
      (port) => port.endedAt !== null && findPort(before, project, port.id)?.endedAt === null,
    );
    return ended.slice(0, maxReportedEnds).flatMap((port) => {
      const id = `${keyOfPort(project, port.id)} ${port.endedAt}`;
      const context = { id, at, session: null };
      const summary = `${port.id}: ${port.title}`;
      const details = { project, ...(port.note === null ? {} : { note: port.note }) };
      const dependents = ports.filter(({ dependsOn }) => dependsOn.includes(port.id));
      return [
        ...(reported.has(keyOfPort(project, port.id))
          ? []
          : [createSessionEvent("port_end", context, { summary, details }, port)]),
        ...dependents.slice(0, maxReportedEnds).map((waiting) => {
          const resolved = {
            summary: `${waiting.id} no longer waits for ${port.id}`,
            details: { project, dependency: port.id },
          };
          const own = { ...context, id: `${id} ${waiting.id}` };
          return createSessionEvent("dependency_resolved", own, resolved, waiting);
        }),
      ];
    });
  });
}
