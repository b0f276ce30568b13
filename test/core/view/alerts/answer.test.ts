import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import type { AskDetails } from "../../../../src/core/session/ask-details.ts";
import { answerIdOf } from "../../../../src/core/session/keys.ts";
import type { Ask } from "../../../../src/core/session/session.ts";
import { selectButtons } from "../../../../src/core/view/alerts/text.ts";
import type { Alert } from "../../../../src/core/view/view.ts";
import { createStep } from "../../answers/fixture.ts";
import { createDetails, createQuestion, detailsArbitrary } from "../../session/ask-fixture.ts";
import { ask, blocked, keyOf, minute } from "../menu/fixture.ts";
import { computeTestAlerts, withAlerts } from "./fixture.ts";

const open = ask(4 * minute, { request: "event-1" });
const session = blocked("checkout-api", 4 * minute, { asks: [open] });

function alertFor(what: AskDetails | null): Alert {
  const [alert] = computeTestAlerts([{ ...session, asks: [{ ...open, kind: what?.kind ?? open.kind }] }], {
    findDetails: () => what,
  }).show;
  if (!alert) throw new Error("no alert");
  return alert;
}
const labels = (what: AskDetails | null): string[] =>
  (alertFor(what).buttons ?? []).map(({ label }) => label);
const bodyRows = (what: AskDetails): string[] => alertFor(what).body.split("\n").slice(0, -1);

describe("an ask that can be answered", () => {
  test("has its exact text, and buttons that answer only it", () => {
    const lines = ["set -e", "", "  make   all"];
    const { body, isExact, buttons } = alertFor(createDetails({ lines }));
    expect(body).toBe("set -e\n\n  make   all\npts/1 · since 14:16");
    expect(isExact).toBe(true);
    const action = {
      do: "answer",
      session: keyOf(session),
      ask: answerIdOf(open),
      step: createStep("notification"),
    } as const;
    expect(buttons).toEqual([
      {
        id: `allow@${answerIdOf(open)}`,
        label: "Allow",
        needsAll: true,
        action: { ...action, answer: { do: "allow" } },
      },
      {
        id: `deny@${answerIdOf(open)}`,
        label: "Deny",
        needsAll: false,
        action: { ...action, answer: { do: "deny", message: null } },
      },
    ]);
  });

  test("has no buttons if its hook does not wait", () => {
    expect(alertFor(null).buttons).toBeUndefined();
    expect(alertFor(null).body).toBe("npm run deploy\npts/1 · since 14:16");
  });

  test("names the file that would be changed", () => {
    expect(bodyRows(createDetails({ heading: "Edit src/app.ts", lines: ["- a", "+ b"] }))).toEqual([
      "Edit src/app.ts",
      "- a",
      "+ b",
    ]);
  });

  test("that is dangerous starts with a warning and cannot be allowed from here", () => {
    const what = createDetails({ lines: ["rm -rf build"], dangers: ["deletes without asking (rm -rf)"] });
    expect(bodyRows(what)).toEqual(["⚠ deletes without asking (rm -rf)", "rm -rf build"]);
    expect(labels(what)).toEqual(["Deny"]);
  });

  test("that is too long for a notification cannot be allowed from here", () => {
    const what = createDetails({ lines: Array.from({ length: 13 }, (_, n) => `step ${n}`) });
    expect(bodyRows(what)).toEqual(["npm run deploy"]);
    expect(labels(what)).toEqual(["Deny"]);
    expect(labels(createDetails({ lines: ["x ".repeat(300)] }))).toEqual(["Deny"]);
    expect(labels(createDetails({ isWhole: false }))).toEqual(["Deny"]);
  });

  test("that is a question has its options in quotes", () => {
    const what = createQuestion(["SQLite", "Postgres", "Allow"]);
    expect(labels(what)).toEqual(["“SQLite”", "“Postgres”", "“Allow”"]);
    expect(alertFor(what).buttons?.[1]?.action).toMatchObject({
      answer: { do: "reply", replies: [["Postgres"]] },
    });
  });

  test("that is a question shows the question alone if the descriptions have no room", () => {
    const what = {
      ...createQuestion(["a", "b"]),
      lines: ["Which?", ...Array(20).fill("  a long description")],
    };
    expect(bodyRows(what)).toEqual(["Which database should the new service use?"]);
    expect(labels(what)).toEqual(["“a”", "“b”"]);
  });

  test.each([
    ["four options", createQuestion(["a", "b", "c", "d"])],
    ["a long option", createQuestion(["a", "b".repeat(30)])],
    ["several answers", createQuestion(["a", "b"], { isMultiple: true })],
    [
      "two questions",
      {
        ...createQuestion(["a"]),
        questions: [...createQuestion(["a"]).questions, ...createQuestion(["b"]).questions],
      },
    ],
  ])("that is a question with %s has no buttons", (_, what) => {
    expect(labels(what)).toEqual([]);
  });

  test("that is a plan can be approved only if all of it is shown", () => {
    const plan = createDetails({
      kind: "plan",
      tool: "ExitPlanMode",
      heading: "Approve a plan",
      lines: ["1. Ship it"],
    });
    expect(labels(plan)).toEqual(["Approve", "Send back"]);
    expect(labels({ ...plan, lines: Array(20).fill("step") })).toEqual([]);
  });

  test("an alert for several sessions has no answers, only Show", () => {
    const many = Array.from({ length: 8 }, (_, n) => blocked(`p${n}`, (n + 1) * minute));
    const { show } = computeTestAlerts(many, { findDetails: () => createDetails() });
    expect(show.map(({ covers, buttons }) => [covers?.length ?? 1, buttons?.length ?? 0])).toEqual([
      ...Array(3).fill([1, 2]),
      [5, 1],
    ]);
    expect(show.at(-1)?.buttons?.map(({ label }) => label)).toEqual(["Show"]);
  });

  test("an alert for several sessions marks what is dangerous", () => {
    const many = Array.from({ length: 5 }, (_, n) => blocked(`p${n}`, (5 - n) * minute));
    const findDetails = ({ at }: Ask) =>
      createDetails(at === many[4]?.asks[0]?.at ? { dangers: ["deletes without asking (rm -rf)"] } : {});
    const { show } = computeTestAlerts(many, { findDetails });
    expect(show.at(-1)?.body.split("\n")).toEqual(["p3: npm run deploy", "p4: ⚠ npm run deploy"]);
  });

  test("has no buttons if answering is turned off", () => {
    const config = { ...defaultConfig, answering: { ...defaultConfig.answering, enabled: false } };
    expect(
      computeTestAlerts([session], { findDetails: () => createDetails(), config }).show[0]?.buttons,
    ).toBeUndefined();
    expect(withAlerts({}).answering.enabled).toBe(true);
  });
});

describe("for any ask", () => {
  test("approval is offered only below the whole text, and only if nothing is dangerous", () => {
    fc.assert(
      fc.property(detailsArbitrary, (what) => {
        const { buttons = [], body, isExact } = alertFor(what);
        if (!buttons.some(({ needsAll }) => needsAll)) return;
        expect([what.isWhole, what.dangers.length, isExact]).toEqual([true, 0, true]);
        const rows = body.split("\n").slice(0, -1);
        const text = rows.join("\n").replaceAll("\n⤷ ", "");
        const whole = (lines: readonly string[]) =>
          lines.join("\n").replaceAll("\n⤷ ", "").replaceAll("\t", "    ");
        if (what.kind === "question") expect(text).toContain(whole([what.questions[0]?.question ?? ""]));
        else expect(text).toEndWith(whole(what.lines));
        if (what.kind === "permission") expect(text).toStartWith(whole([what.heading]));
      }),
      { numRuns: 1_000 },
    );
  });

  test("approval is not offered where not all rows are shown", () => {
    fc.assert(
      fc.property(detailsArbitrary, fc.integer({ min: 0, max: 20 }), (what, rows) => {
        const alert = alertFor(what);
        const isShown = alert.body.split("\n").length <= rows;
        for (const { needsAll } of selectButtons(alert, rows)) expect(isShown || !needsAll).toBe(true);
      }),
    );
  });

  test("there are at most three buttons with different, clean labels", () => {
    fc.assert(
      fc.property(detailsArbitrary, (what) => {
        const { buttons = [] } = alertFor(what);
        expect(buttons.length).toBeLessThanOrEqual(3);
        expect(new Set(buttons.map(({ id }) => id)).size).toBe(buttons.length);
        for (const { label } of buttons) {
          expect(label).toMatch(/^(?:Allow|Deny|Approve|Send back|“.+”)$/u);
          expect(label).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u);
          expect(Bun.stringWidth(label)).toBeLessThanOrEqual(26);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
