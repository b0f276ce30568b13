/** beckon's own server with invented data behind it: the guard, the page and its policy are the real ones. */

import { createPageAccess } from "../../src/api/page-access.ts";
import { type ApiServer, listen, type SettingsRequests } from "../../src/api/server.ts";
import type { Lanes, RulesReport, SessionPrompts } from "../../src/core/interfaces/wire.ts";
import { limits } from "../../src/core/limits.ts";
import { viewKeyOf } from "../../src/core/session/session-ref.ts";
import { loadPage } from "../../src/dashboard/index.ts";
import { createEmptyHistory } from "../../src/history/index.ts";
import { createEventStream } from "../../src/streams/event-stream.ts";
import type { Sample } from "./sample.ts";

const token = "t".repeat(limits.minTokenLength);
const never = () => {
  throw new Error("not asked for here");
};

export interface SampleServer {
  readonly url: string;
  /** Requests that change something: "answer", and its body. */
  readonly actions: { readonly name: string; readonly action: string; readonly body: object }[];
  /** What the page asked for. */
  readonly laneRanges: { readonly from: number; readonly to: number }[];
  createPageUrl(): string;
  /** What the server sends from now on. */
  setSample(sample: Sample): void;
  stop(): Promise<void>;
}

const noRules: RulesReport = {
  rules: [],
  settings: [],
  trusts: [],
  asks: 0,
  since: null,
  suggestions: [],
  problems: [],
};

/** The same day, earlier. */
function shiftLanes(day: Lanes, ms: number): Lanes {
  const shift = <T extends { readonly from: number; readonly to: number | null }>(span: T): T => ({
    ...span,
    from: span.from + ms,
    to: span.to === null ? null : span.to + ms,
  });
  const lanes = day.lanes.map((lane) => ({ ...lane, spans: lane.spans.map(shift) }));
  return { ...shift(day), lanes, anyWaiting: day.anyWaiting.map(shift) };
}

/** By default on a port below those that systems give to outgoing connections. */
export function serveSample(
  first: Sample,
  {
    port = 20_000 + Math.floor(Math.random() * 12_000),
    unconnected = [] as readonly string[],
    problems = [] as readonly string[],
    isDemo = false,
    prompts = { prompts: [], obstacle: null, way: "Arrives as a message from @beckon" } as SessionPrompts,
    settings = { read: never, save: never, open: never } as SettingsRequests,
  } = {},
): SampleServer {
  const createSecret = () => crypto.randomUUID();
  const pageAccess = createPageAccess({ token, startSecret: createSecret(), now: Date.now, createSecret });
  let sample = first;
  const actions: SampleServer["actions"] = [];
  const laneRanges: SampleServer["laneRanges"] = [];
  const find = (name: string) => sample.sessions.find((session) => viewKeyOf(session) === name) ?? null;
  const events = createEventStream({
    now: () => sample.now,
    sessions: () => sample.sessions,
    findSession: find,
    quiet: () => null,
    history: { findMissedEvents: async () => [], addStreamEvent() {} },
    schedule: (work, ms) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    startRendering() {},
  });
  const server: ApiServer = listen(port, {
    events,
    token,
    pageAccess,
    pageFacts: () => ({
      version: "0.1.0",
      agents: { claude: "Claude Code", gemini: "Gemini CLI" },
      unconnected,
      problems,
      ...(isDemo ? { isDemo: true } : {}),
      ...(sample.machines ? { machines: sample.machines } : {}),
      ...(sample.teams ? { teams: sample.teams.map(({ name }) => name) } : {}),
    }),
    reportPageFocus: () => {},
    loadPage,
    isOwnUser: async () => true,
    stop: never,
    accept: never,
    sessions: {
      all: () => sample.sessions,
      find,
      findChild: () => null,
      findMatches: () => [],
      more: () => ({ now: sample.now }),
    },
    history: {
      findItems: async ({ kind }) => ({
        ...sample.history,
        items: sample.history.items.filter((item) => kind === undefined || item.kind === kind),
      }),
      findStory: async (query) => sample.story(query),
      findTranscript: async () => ({ path: null }),
      computeStats: async () => sample.stats,
      computeLanes: async (from, to) => {
        laneRanges.push({ from, to });
        return to < sample.now ? shiftLanes(sample.lanes, from - sample.lanes.from) : sample.lanes;
      },
      findMoment: async (at) => sample.moment?.(at) ?? createEmptyHistory(() => sample.now).findMoment(at),
      findMissedEvents: async () => [],
    },
    readTranscript: async () => sample.transcript ?? { lines: [], hasEarlier: false, hasLater: false },
    act: async (name, action, body) => {
      actions.push({ name, action, body });
      return find(name) && { ok: true, says: "Brought to the front." };
    },
    setQuiet: () => ({ ok: true, quiet: { by: "you", until: null } }),
    readStatusLine: () => null,
    checkGuard: () => "off",
    listWorkPorts: () => sample.ports ?? [],
    sign: (_, text) => text,
    pending: { add: never, end: never },
    settings,
    channels: () => [],
    testChannel: async () => null,
    machines: () => sample.machines ?? [],
    prompts: {
      async act(name, action, body) {
        actions.push({ name, action, body });
        return { ok: true };
      },
      list: async () => prompts,
    },
    rules: {
      report: async () => sample.rules ?? noRules,
      async act(action, body) {
        actions.push({ name: "rules", action, body });
        return { ok: true };
      },
    },
    retryMachine(name) {
      actions.push({ name, action: "retry", body: {} });
      return true;
    },
    teams: () => sample.teams ?? [],
    fleets: { report: () => [], update: never },
    link: { connect: never, take: never },
    doctor: never,
    onError: (text) => console.error(text),
  });
  return {
    url: `http://127.0.0.1:${port}`,
    actions,
    laneRanges,
    createPageUrl: () => pageAccess.createUrl(port),
    setSample(next) {
      sample = next;
      events.render?.({
        sessions: [],
        now: { at: Number.MAX_SAFE_INTEGER, t: 0, boot: null, host: null, minuteOfDay: 0 },
      });
    },
    async stop() {
      events.stop();
      await server.stop();
    },
  };
}
