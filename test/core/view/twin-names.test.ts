/** How two sessions of one project are distinguished. */
import { expect, test } from "bun:test";
import type { Session } from "../../../src/core/session/session.ts";
import { formatSessionName, namePartsOf, nameSessions } from "../../../src/core/view/session-names.ts";
import { ago, done, minute } from "./menu/fixture.ts";

function nameTwins(one: Partial<Session>, other: Partial<Session>): string[] {
  const twins = [
    done("app", minute, { sessionId: "5e55109e-1", ...one }),
    done("app", 2 * minute, { sessionId: "7a11ba11-2", ...other }),
  ];
  return [...nameSessions(twins.map(namePartsOf)).values()].map(formatSessionName);
}

test("a live session keeps its plain name beside an ended one of the same project", () => {
  const ended = { ...ago(minute), reason: "clear", whileBusy: false };
  expect(nameTwins({}, { ended })).toEqual(["app", "app #7a11ba11"]);
});

test("without a branch, folder or title the last prompt tells them apart, then the terminal", () => {
  expect(nameTwins({ lastPrompt: "fix the\ncart" }, { lastPrompt: "write docs" })).toEqual([
    "app “fix the cart”",
    "app “write docs”",
  ]);
  const place = (tty: string) => ({
    local: true,
    pid: 7,
    procStart: "1",
    tty,
    terminalSessionId: null,
    env: {},
  });
  expect(nameTwins({ place: place("/dev/pts/1") }, { place: place("/dev/pts/2") })).toEqual([
    "app on pts/1",
    "app on pts/2",
  ]);
});
