/** Whether beckon starts with the desktop, and whether a session may start it. */
import { createFindings, type Finding } from "../../agents/finding.ts";

export interface LoginFacts {
  /** null: beckon knows no way on this system. */
  readonly item: {
    readonly on: boolean;
    /** By the person, in their system's own settings. */
    readonly turnedOff: boolean;
    readonly binary: string | null;
    /** Why it will not start; then, behind a full stop, what to do. */
    readonly problem: string | null;
  } | null;
  /** The person quit it on purpose. */
  readonly isOff: boolean;
}

const finding = createFindings("login", "login");

export function loginFindings({ item, isOff }: LoginFacts): Finding[] {
  return [
    itemFinding(item),
    ...(isOff
      ? [
          finding(
            "info",
            "quit",
            "you quit beckon: no session starts it until you do",
            "Start it with: beckon start",
          ),
        ]
      : []),
  ];
}

function itemFinding(item: LoginFacts["item"]): Finding {
  const again = "Run: beckon --install --login";
  if (item === null)
    return finding("info", "unknown", "beckon knows no way to start at login on this system");
  if (item.problem !== null) {
    const [text = "", ...fix] = item.problem.split(". ");
    return finding(item.turnedOff ? "info" : "warn", "problem", text, fix.join(". ") || again);
  }
  return item.on
    ? finding("ok", "on", `beckon starts when you log in${item.binary === null ? "" : ` (${item.binary})`}`)
    : finding("info", "off", "beckon does not start when you log in", again);
}
