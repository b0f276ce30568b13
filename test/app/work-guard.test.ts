/** What the running app says about the work guard's hooks. */
import { afterAll, expect, test } from "bun:test";
import { createGuardHooksKeeper } from "../../src/app/work-guard.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { agentsOn, removeHomes, temporaryHome } from "../setup/home.ts";
import { waitUntil } from "../wait-until.ts";

afterAll(removeHomes);

test("asks for --install until it has run, and then registers the guard's hooks", async () => {
  const home = temporaryHome();
  home.claude("2.1.325");
  const changes: string[] = [];
  const keeper = createGuardHooksKeeper({
    table: agentsOn(),
    paths: home.places,
    env: home.env,
    config: () => ({ ...defaultConfig, workGuard: { ...defaultConfig.workGuard, mode: "strict" } }),
    onChange: (sentence) => void changes.push(sentence),
    onProblem: () => {},
  });
  keeper.update();
  await waitUntil(() => keeper.problems().length > 0, 5_000);
  expect(keeper.problems()).toEqual([
    "The work guard is on, but beckon's hooks are not. Run: beckon --install",
  ]);

  await home.install();
  expect(keeper.problems()).toEqual([]);
  await waitUntil(() => changes.length > 0, 5_000);
  expect(changes[0]).toStartWith("The work guard registered its hooks in ");
  expect(home.read()).toContain("--guard");
  expect(keeper.problems()).toEqual([]);
});
