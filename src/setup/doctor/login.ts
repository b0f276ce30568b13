/** Checks whether beckon starts at login, and whether a session may start it. */
import { createFindings, type Finding } from "../../agents/finding.ts";

export interface LoginFacts {
  /** Null if beckon does not know how on this system. */
  readonly item: {
    readonly on: boolean;
    /** By the user, in the system's own settings. */
    readonly turnedOff: boolean;
    readonly binary: string | null;
    /** Why it will not start and, after the first full stop, what to do. */
    readonly problem: string | null;
  } | null;
  /** The user quit it on purpose. */
  readonly isOff: boolean;
}

const finding = createFindings("login", "login");

export function checkLogin({ item, isOff }: LoginFacts): Finding[] {
  return [
    itemFinding(item),
    ...(isOff
      ? [
          finding(
            "info",
            "quit",
            "you quit beckon, so no session starts it until you do",
            "Run: beckon start",
          ),
        ]
      : []),
  ];
}

function itemFinding(item: LoginFacts["item"]): Finding {
  const addItem = "Run: beckon --install --login";
  if (item === null)
    return finding("info", "unknown", "beckon does not know how to start at login on this system");
  if (item.problem !== null) {
    const [text = "", ...fix] = item.problem.split(". ");
    // Without a binary there is no login item that could fail.
    return finding(
      item.turnedOff || item.binary === null ? "info" : "warn",
      "problem",
      text,
      fix.join(". ") || addItem,
    );
  }
  return item.on
    ? finding("ok", "on", `beckon starts when you log in${item.binary === null ? "" : ` (${item.binary})`}`)
    : finding(
        "info",
        "off",
        "beckon does not start when you log in",
        `${addItem}. Without a desktop, it writes a systemd user service`,
      );
}
