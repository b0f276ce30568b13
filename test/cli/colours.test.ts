/** Every colour that the command line writes can be read on a white and on a black background. */
import { expect, test } from "bun:test";
import { formatFindings } from "../../src/cli/doctor.ts";
import { formatPage } from "../../src/cli/history.ts";
import { formatStatusTable } from "../../src/cli/status-table.ts";
import type { HistoryItem } from "../../src/core/interfaces/wire.ts";
import { asking, failed, now, over, session, working } from "./sessions.ts";
import { answerable, asks, openScreen } from "./watch/harness.ts";

const every = [
  asking("a"),
  failed("b"),
  working("c"),
  session("d"),
  over("e"),
  asking("f", { group: "set_aside", silence: "muted" }),
];

const levels = [0, 95, 135, 175, 215, 255];

/** The part of the palette that no theme changes: a cube of 216 colours, then 24 greys. */
function readColour(index: number): readonly [number, number, number] {
  const grey = 8 + 10 * (index - 232);
  if (index >= 232) return [grey, grey, grey];
  const cube = index - 16;
  const level = (n: number) => levels[n % 6] ?? 0;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)];
}

/** As WCAG 2.1 defines it. */
function luminanceOf(colour: readonly [number, number, number]): number {
  const [r, g, b] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrastOf = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

function listCodes(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes that beckon writes
  return [...new Set([...text.matchAll(/\u001b\[([\d;]*)m/g)].map(([, code = ""]) => code))];
}

const item = (kind: HistoryItem["kind"], more: Partial<HistoryItem> = {}): HistoryItem => ({
  id: kind,
  at: now,
  key: "claude:a",
  provider: "claude",
  project: "a",
  branch: null,
  kind,
  severity: "info",
  text: "text",
  how: "allowed",
  where: "menu",
  waitedMs: 1_000,
  ...more,
});

const outputs: Readonly<Record<string, () => readonly string[]>> = {
  status: () => formatStatusTable(every, { now, columns: 100, colour: true, home: "/home/dev" }),
  "status --all": () =>
    formatStatusTable(every, { now, columns: 100, colour: true, home: "/home/dev", listsEnded: true }),
  "status --watch": () => {
    const dangers = ["deletes without asking (rm -rf)"];
    const screen = openScreen([asks("x", answerable("1", { dangers })), ...every], undefined, true);
    const list = screen.screen();
    screen.press("a");
    return [...list, ...screen.screen()];
  },
  doctor: () =>
    formatFindings(
      (["ok", "warn", "fail", "info"] as const).map((state) => {
        return { id: `x.${state}`, link: "beckon", state, text: state, fix: null };
      }),
      { columns: 100, colour: true },
    ),
  history: () =>
    formatPage(
      {
        enabled: true,
        total: 9,
        next: null,
        items: [item("permission"), item("prompt"), item("tool"), item("failed", { severity: "error" })],
      },
      { columns: 100, colour: true, home: "/home/dev" },
    ),
};

test.each(Object.entries(outputs))("%s can be read on white and on black", (_, draw) => {
  const codes = listCodes(draw().join("\n"));
  expect(codes).toContain("0");
  for (const code of codes) {
    if (["0", "1", "7"].includes(code)) continue;
    expect(code).toMatch(/^38;5;\d+$/);
    const luminance = luminanceOf(readColour(Number(code.split(";")[2])));
    expect(contrastOf(luminance, 1)).toBeGreaterThanOrEqual(4.5);
    expect(contrastOf(luminance, 0)).toBeGreaterThanOrEqual(4);
  }
});
