import { describe, expect, test } from "bun:test";
import type { Alert } from "../../../src/core/view/view.ts";
import { createBalloons } from "../../../src/desktop/windows/balloons.ts";
import type { Balloon } from "../../../src/desktop/windows/thread-messages.ts";

const alert = (key: string, urgency: Alert["urgency"] = "normal", title = key): Alert => ({
  key,
  session: "claude:1",
  kind: "failed",
  urgency,
  sound: false,
  title,
  body: "why",
  since: 0,
});

function createFixture() {
  const shown: (string | null)[] = [];
  const balloons = createBalloons(
    (balloon: Balloon | null) => shown.push(balloon?.title ?? null),
    () => {},
  );
  return { shown, balloons };
}

describe("balloons", () => {
  test("are shown one after the other", () => {
    const { shown, balloons } = createFixture();
    for (const key of ["a", "b", "c"]) balloons.show(alert(key));
    balloons.close("a");
    balloons.close("c");
    balloons.close("b");
    expect(shown).toEqual(["a", "b", null]);
  });

  test("an urgent one does not wait, and the one it replaced comes back", () => {
    const { shown, balloons } = createFixture();
    balloons.show(alert("a"));
    balloons.show(alert("urgent", "urgent"));
    balloons.close("urgent");
    expect(shown).toEqual(["a", "urgent", "a"]);
  });

  test("an update replaces the shown one", () => {
    const { shown, balloons } = createFixture();
    balloons.show(alert("a"));
    balloons.show(alert("b"));
    balloons.show(alert("a", "normal", "a, updated"));
    expect(shown).toEqual(["a", "a, updated"]);
    expect([balloons.has("a"), balloons.has("b"), balloons.has("c")]).toEqual([true, true, false]);
  });
});
