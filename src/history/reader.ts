/** Answers queries with what the history's thread finds. Without a history the answers are empty. */
import { statSync } from "node:fs";
import type { HistoryReader } from "../core/interfaces/index.ts";
import type {
  HistoryPage,
  Lane,
  Lanes,
  PastMoment,
  PastSession,
  Stats,
  StoryPage,
  StoryThread,
  StreamEvent,
} from "../core/interfaces/wire.ts";
import type { SessionView } from "../core/view/session-view.ts";
import type { StudyResult, StudyTask } from "../rules/study.ts";
import { createEmptyHistory } from "./empty.ts";
import type { HistoryCall, HistoryRetention } from "./messages.ts";
import type { ThreadClient } from "./thread-client.ts";

export interface PastReader {
  /** What this machine's sessions asked, did and used since then, as far as it is kept. Rejects if the history is not complete now. */
  findPast(since: number): Promise<readonly PastSession[]>;
  /** What the asks of this machine say about rules. Rejects if the history is off or cannot be read. */
  study<Task extends StudyTask>(task: Task): Promise<StudyResult<Task>>;
}

interface HistoryReaderOptions {
  /** The database. */
  readonly path: string;
  readonly now: () => number;
  readonly groupOf: (key: string) => SessionView["group"];
  /** null while the history is off. */
  readonly retention: () => HistoryRetention | null;
  /** Sends what waits to be written, so that an answer has it. */
  readonly writeNow: () => void;
  readonly client: Pick<ThreadClient, "call" | "problem" | "isUnavailable">;
}

export function createHistoryReader(options: HistoryReaderOptions): HistoryReader & PastReader {
  const { client, groupOf } = options;
  const empty = createEmptyHistory(options.now);

  /** Never rejects: if the history cannot be read, the result is empty and gives the reason. */
  async function runQuery<T extends object>(query: HistoryCall, whenEmpty: () => Promise<T>): Promise<T> {
    if (options.retention() === null) return whenEmpty();
    try {
      if (client.isUnavailable()) throw new Error(client.problem() ?? "");
      options.writeNow();
      const value = (await client.call(query)) as T;
      const problem = client.problem();
      return problem === null || Array.isArray(value) ? value : { ...value, problem };
    } catch (error) {
      const value = await whenEmpty();
      return Array.isArray(value) ? value : { ...value, enabled: true, problem: (error as Error).message };
    }
  }

  return {
    findItems: (query) => runQuery<HistoryPage>({ name: "findItems", query }, () => empty.findItems(query)),
    async findStory(query) {
      const result = await runQuery<StoryPage>({ name: "findStory", query }, () => empty.findStory(query));
      const threads = result.threads.map(
        (thread): StoryThread => ({ ...thread, group: groupOf(thread.key) }),
      );
      const retention = options.retention();
      return {
        ...result,
        threads,
        ...(retention ? { kept: { ...retention, mb: readSizeMb(options.path) } } : {}),
      };
    },
    findTranscript: (key) =>
      runQuery<{ readonly path: string | null }>({ name: "findTranscript", key }, () =>
        empty.findTranscript(key),
      ),
    computeStats: (days) => runQuery<Stats>({ name: "computeStats", days }, () => empty.computeStats(days)),
    async computeLanes(from, to) {
      const result = await runQuery<Lanes>({ name: "computeLanes", from, to }, () =>
        empty.computeLanes(from, to),
      );
      const lanes = result.lanes.map((lane): Lane => ({ ...lane, group: groupOf(lane.key) }));
      return { ...result, lanes };
    },
    findMoment: (at) => runQuery<PastMoment>({ name: "findMoment", at }, () => empty.findMoment(at)),
    findMissedEvents: (afterId) =>
      runQuery<readonly StreamEvent[]>({ name: "findMissedEvents", afterId }, () =>
        empty.findMissedEvents(afterId),
      ),
    async study<Task extends StudyTask>(task: Task) {
      if (options.retention() === null) throw new Error("the history is turned off in your settings");
      if (client.isUnavailable()) throw new Error(client.problem() ?? "the history cannot be read");
      options.writeNow();
      return (await client.call({ name: "studyAsks", task })) as StudyResult<Task>;
    },
    async findPast(since) {
      if (options.retention() === null || client.isUnavailable()) return [];
      options.writeNow();
      return (await client.call({ name: "findPast", since })) as readonly PastSession[];
    },
  };
}

function readSizeMb(path: string): number {
  return Math.round((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1024 / 1024);
}
