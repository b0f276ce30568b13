/** Laws of the menu, for any sessions, preferences and times. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import { createDismissedAskKey, type Preferences } from "../../../../src/core/config/preferences.ts";
import { answerIdOf } from "../../../../src/core/session/keys.ts";
import type { Ask, Session } from "../../../../src/core/session/session.ts";
import { viewKeyOf } from "../../../../src/core/session/session-ref.ts";
import { measureMenuWidth, wrapLine } from "../../../../src/core/text/fit.ts";
import { groupMarks } from "../../../../src/core/view/group-names.ts";
import type { MenuInput } from "../../../../src/core/view/menu/menu.ts";
import { sortViews } from "../../../../src/core/view/order.ts";
import { createSessionView } from "../../../../src/core/view/session-view.ts";
import type { MenuEntry, MenuItem } from "../../../../src/core/view/view.ts";
import { detailsArbitrary } from "../../session/ask-fixture.ts";
import {
  ask,
  child,
  createTestMenu,
  facts,
  hour,
  keyOf,
  listEntries,
  minute,
  now,
  session,
} from "./fixture.ts";

/** Odd texts: half characters, marks of direction, controls, other scripts, what commands are called. */
const texts = fc.oneof(
  fc.constantFrom(
    "api",
    "Quit",
    "",
    " ",
    "Settings…",
    "a/b",
    "%2F",
    "漢字".repeat(60),
    "👩‍👩‍👧‍👦".repeat(40),
  ),
  fc.string({ unit: "binary", maxLength: 120 }),
  fc.string({
    unit: fc.constantFrom(
      "a",
      " ",
      "\n",
      "\u202e",
      "\u0000",
      "\ud83d",
      "\u0301",
      "\u200d",
      "🙂",
      "\u001b[31m",
    ),
    maxLength: 200,
  }),
);
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const times = fc.oneof(fc.integer({ min: 0, max: 2 * hour }), fc.integer({ min: -minute, max: 60 * hour }));
const kinds = fc.constantFrom("permission", "question", "plan", "elicitation", "idle");
const moment = times.map((ms) => ({ at: now.at - ms, t: now.t - ms }));

const asks = fc.record({
  waited: times,
  kind: kinds,
  tool: nullable(texts),
  summary: texts,
  hidden: fc.boolean(),
});
const children = fc.record({ type: texts, detail: nullable(texts), running: fc.boolean() });

const sessions: fc.Arbitrary<Session[]> = fc
  .array(
    fc.record({
      id: fc.oneof(fc.uuid(), texts),
      project: nullable(texts),
      title: nullable(texts),
      branch: nullable(texts),
      response: nullable(texts),
      error: nullable(texts),
      running: fc.boolean(),
      isSeen: fc.boolean(),
      attended: nullable(fc.boolean()),
      ended: nullable(moment),
      turn: moment,
      last: moment,
      asks: fc.array(asks, { maxLength: 7 }),
      children: fc.array(children, { maxLength: 7 }),
    }),
    { maxLength: 45 },
  )
  .map((list) =>
    list.map((made, index) => {
      const base = session("x");
      return {
        ...base,
        sessionId: `${made.id}${index}`,
        project: made.project,
        firstCwd: null,
        title: made.title,
        gitBranch: made.branch,
        lastResponse: made.response,
        attended: made.attended,
        place: made.isSeen ? base.place : null,
        turn: { ...made.turn, running: made.running, byHook: true, error: made.error },
        last: made.last,
        ended: made.ended && { ...made.ended, reason: "x", whileBusy: made.running },
        asks: made.ended
          ? []
          : made.asks.map((one, n) =>
              ask(one.waited, { ...one, id: `s-${n}`, agentId: n % 3 === 2 ? `${n}` : null }),
            ),
        children: made.children.map((one, n) =>
          child(`${n}`, { ...one, running: one.running && !made.ended }),
        ),
      };
    }),
  );

const inputs: fc.Arbitrary<MenuInput> = sessions.chain((list) => {
  const keys = fc.subarray(list.map(keyOf));
  const preferences: fc.Arbitrary<Preferences> = fc.record({
    quietUntil: nullable(
      fc.oneof(
        times.map((ms) => now.at + ms),
        fc.constant(Number.MAX_SAFE_INTEGER),
      ),
    ),
    muted: keys,
    mutedProjects: fc.array(texts, { maxLength: 3 }),
    snoozed: keys.map((chosen) =>
      chosen.map((key, n) => ({ session: key, until: now.at + (n - 1) * 7 * minute + 1 })),
    ),
    dismissed: keys.map((chosen) => chosen.map((key) => createDismissedAskKey(key, "s-0"))),
  });
  return fc.record({
    sessions: fc.constant(list),
    preferences,
    config: fc
      .boolean()
      .map((enabled) => ({ ...defaultConfig, answering: { ...defaultConfig.answering, enabled } })),
    findDetails: fc.array(fc.option(detailsArbitrary, { nil: null }), { minLength: 1, maxLength: 4 }).map(
      (some) =>
        ({ id }: Ask) =>
          some[Number(id.slice(2)) % some.length] ?? null,
    ),
    confirming: nullable(fc.constantFrom("none", ...list.flatMap((one) => one.asks.map(answerIdOf)))),
    now: fc.integer({ min: 0, max: 2 * minute }).map((ms) => ({ at: now.at + ms, t: now.t + ms })),
    facts: fc.record({
      unconnected: fc.subarray([{ id: "claude", name: "Claude Code" }]),
      dashboard: fc.boolean(),
      version: fc.constant("1.2.3"),
      home: fc.constantFrom("", "/home/dev"),
      problems: fc.array(texts, { maxLength: 2 }),
      agentName: fc.constant(facts.agentName),
      formatTime: fc.constant(facts.formatTime),
      quietHoursEnd: fc.constant(null),
    }),
  });
});

const menuFor = (input: MenuInput) => createTestMenu(input.sessions, input);
const checkLaw = (law: (input: MenuInput) => void): void =>
  fc.assert(fc.property(inputs, law), { numRuns: 250 });
const depth = (items: readonly MenuItem[]): number =>
  Math.max(
    0,
    ...items.map((item) => (item.kind === "entry" && item.children ? 1 + depth(item.children) : 0)),
  );

describe("for any sessions", () => {
  test("no two entries have the same id", () => {
    checkLaw((input) => {
      const { items } = menuFor(input);
      const listIds = (list: readonly MenuItem[]): string[] =>
        list.flatMap((item) => [item.id, ...(item.kind === "entry" ? listIds(item.children ?? []) : [])]);
      const ids = listIds(items);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  test("every session that has not ended is in the menu exactly once", () => {
    checkLaw((input) => {
      const ids = listEntries(menuFor(input).items).map(({ id }) => id);
      const copies = listEntries(menuFor(input).items).flatMap(({ action }) =>
        action?.do === "copy-id" ? [action.session] : [],
      );
      expect(new Set(copies).size).toBe(copies.length);
      for (const one of input.sessions) {
        if (!one.ended && one.place) expect(copies).toContain(keyOf(one));
      }
      for (const always of ["quiet", "settings", "about", "quit"]) expect(ids).toContain(always);
    });
  });

  test("no label is empty, too long, or contains control or invisible characters", () => {
    checkLaw((input) => {
      const { items, title, tooltip } = menuFor(input);
      for (const label of [
        ...listEntries(items).map((entry) => entry.label),
        title,
        ...tooltip.split("\n"),
      ]) {
        expect(label.trim()).not.toBe("");
        // A terminal counts some rare scripts otherwise.
        expect(Bun.stringWidth(label)).toBeLessThanOrEqual(84);
        expect(label.length).toBeLessThanOrEqual(80 * 16);
        expect(label).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u);
        expect(label.isWellFormed()).toBe(true);
      }
    });
  });

  test("the entry of a session starts with a mark, and no command does", () => {
    checkLaw((input) => {
      for (const { id, label } of listEntries(menuFor(input).items)) {
        expect(/^[●✗◌◐○·] /u.test(label)).toBe(id.startsWith("session/"));
      }
    });
  });

  test("the submenu of a session has no submenus, and no menu starts or ends with a separator", () => {
    checkLaw((input) => {
      const { items } = menuFor(input);
      expect(items.length).toBeLessThanOrEqual(50);
      for (const { id, children = [] } of listEntries(items)) {
        if (id.startsWith("session/")) expect(depth(children)).toBe(0);
      }
      for (const menu of [
        items,
        ...listEntries(items).flatMap(({ children }) => (children ? [children] : [])),
      ]) {
        const kinds = menu.map(({ kind }) => kind);
        expect([kinds[0], kinds.at(-1)]).toEqual(["entry", "entry"]);
        expect(kinds.some((kind, n) => kind === "separator" && kinds[n + 1] === "separator")).toBe(false);
      }
    });
  });

  test("nothing dangerous is allowed with the first click", () => {
    checkLaw((input) => {
      const dangerous = new Set(
        input.sessions.flatMap((one) =>
          one.asks.flatMap((open) =>
            input.findDetails(open)?.dangers.length ? [`${keyOf(one)} ${answerIdOf(open)}`] : [],
          ),
        ),
      );
      for (const { action } of listEntries(menuFor(input).items)) {
        if (action?.do !== "answer" || action.answer.do === "deny") continue;
        if (dangerous.has(`${action.session} ${action.ask}`)) expect(action.ask).toBe(input.confirming ?? "");
      }
    });
  });

  test("sessions are in the order of beckon status", () => {
    checkLaw((input) => {
      const context = { ...input, formatTime: String };
      const known = input.sessions.map((one) => createSessionView(one, input.now, context));
      const order = sortViews(known).map(viewKeyOf);
      const listed = listEntries(menuFor(input).items).flatMap(({ action }) =>
        action?.do === "copy-id" ? [action.session] : [],
      );
      expect(listed).toEqual(order.filter((key) => listed.includes(key)));
    });
  });

  test("answers are offered only for what can be answered, and approval only below everything that is asked", () => {
    checkLaw((input) => {
      const asks = input.sessions.flatMap((one) => one.asks.map((open) => ({ open, key: keyOf(one) })));
      for (const parent of listEntries(menuFor(input).items)) {
        const { children = [] } = parent;
        const answers = children.flatMap((item) =>
          item.kind === "entry" && item.action?.do === "answer" ? [{ ...item, action: item.action }] : [],
        );
        if (answers.length === 0) continue;
        expect(input.config.answering.enabled).toBe(true);
        const [first] = answers;
        const found = asks.find(
          ({ open, key }) => answerIdOf(open) === first?.action.ask && key === first.action.session,
        );
        const asked = found && input.findDetails(found.open);
        if (!asked) throw new Error("an answer without an ask");
        for (const { action, needsAll } of answers) {
          expect(action.ask).toBe(first?.action.ask ?? "");
          expect(needsAll === true).toBe(action.answer.do !== "deny");
        }
        if (!answers.some(({ needsAll }) => needsAll)) continue;
        expect(asked.isWhole).toBe(true);
        const labels = children.map((item) => (item.kind === "entry" ? item.label : ""));
        const rows = labels.filter((label) => label.startsWith("│")).map((label) => label.slice(2));
        const wanted = asked.lines.flatMap((line) =>
          wrapLine(line.replaceAll("\t", "    "), 78, measureMenuWidth),
        );
        expect(rows).toEqual(wanted.map((row) => row.trimEnd()));
        expect(labels.filter((label) => label.startsWith("⚠"))).toHaveLength(asked.dangers.length);
        // GTK preselects the first entry with an action if the menu is opened with a key.
        expect(children.find((item) => item.kind === "entry" && item.action)).toMatchObject({
          action: { do: "focus" },
        });
        const lastText = labels.findLastIndex((label) => /^[│⚠]/u.test(label));
        expect(labels.findIndex((_, n) => (children[n] as MenuEntry).needsAll)).toBeGreaterThan(lastText);
      }
    });
  });

  test("the label of an answer is always a text of beckon", () => {
    const ours =
      /^(?:Allow|Allow… ⚠|Yes, allow it ⚠|Deny|Approve plan|Send back|Decline to answer|Answer “.+”|Go to terminal|Look at all of it in the terminal|Always .+)$/su;
    checkLaw((input) => {
      for (const { id, label, action } of listEntries(menuFor(input).items)) {
        if (action?.do === "answer" || action?.do === "confirm" || id.startsWith("focus-ask/"))
          expect(label).toMatch(ours);
      }
    });
  });

  test("the icon counts the sessions that are listed as needing you", () => {
    checkLaw((input) => {
      const { icon, items } = menuFor(input);
      const heading = listEntries(items).find(({ id }) => id === "heading/needs_you")?.label;
      expect(heading).toBe(icon.count > 0 ? `Needs you (${icon.count})` : undefined);
      expect(icon.phase === "blocked").toBe(icon.count > 0);
      expect(items.some(({ id }) => id === "next")).toBe(icon.count > 0);
    });
  });

  test("a session is listed in the group that the API reports", () => {
    checkLaw((input) => {
      const context = { ...input, formatTime: String };
      const groups = new Map(
        input.sessions.map((one) => [keyOf(one), createSessionView(one, input.now, context).group]),
      );
      for (const { id, label } of listEntries(menuFor(input).items)) {
        const group = groups.get(decodeURIComponent(id.replace(/^session\//, "")));
        if (id.startsWith("session/")) expect(label[0]).toBe(groupMarks[group ?? "ended"]);
      }
    });
  });

  test("nothing changes by time alone before nextChange", () => {
    fc.assert(
      fc.property(inputs, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (input, part) => {
        const menu = menuFor(input);
        const left = (menu.nextChange ?? input.now.at + 100 * hour) - input.now.at;
        expect(left).toBeGreaterThan(0);
        const ms = Math.floor(left * part);
        const later = { at: input.now.at + ms, t: input.now.t + ms };
        expect(menuFor({ ...input, now: later })).toEqual(menu);
      }),
      { numRuns: 250 },
    );
  });
});
