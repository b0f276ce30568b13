import { describe, expect, test } from "bun:test";
import type { Alert } from "../../../src/core/view/view.ts";
import { createBalloons } from "../../../src/desktop/windows/balloons.ts";
import type { Balloon } from "../../../src/desktop/windows/messages.ts";

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

function start() {
  const shown: (string | null)[] = [];
  const balloons = createBalloons(
    (balloon: Balloon | null) => shown.push(balloon?.title ?? null),
    () => {},
  );
  return { shown, balloons };
}

describe("balloons", () => {
  test("come one after the other, and none is forgotten", () => {
    const { shown, balloons } = start();
    for (const key of ["a", "b", "c"]) balloons.show(alert(key));
    balloons.ended("a");
    balloons.close("c");
    balloons.ended("b");
    expect(shown).toEqual(["a", "b", null]);
  });

  test("what blocks somebody does not wait, and what it covered comes back", () => {
    const { shown, balloons } = start();
    balloons.show(alert("a"));
    balloons.show(alert("urgent", "critical"));
    balloons.ended("urgent");
    expect(shown).toEqual(["a", "urgent", "a"]);
  });

  test("one that is shown anew changes in its place", () => {
    const { shown, balloons } = start();
    balloons.show(alert("a"));
    balloons.show(alert("b"));
    balloons.show(alert("a", "normal", "a, still"));
    expect(shown).toEqual(["a", "a, still"]);
    expect([balloons.has("a"), balloons.has("b"), balloons.has("c")]).toEqual([true, true, false]);
  });
});
