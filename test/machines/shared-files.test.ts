/** Sessions of two machines that change the same file of one repository. Apps, link and repositories are real. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hostname } from "node:os";
import { normalizeAddress } from "../../src/workguard/repository-files.ts";
import { forEachTest } from "../for-each-test.ts";
import { removeTemporaryFolders } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";
import { createRepository, type Repository } from "../workguard/repository.ts";
import { createTwoMachines } from "./two-machines.ts";

const two = forEachTest(createTwoMachines);
afterAll(removeTemporaryFolders);
setDefaultTimeout(60_000);
const soonMs = 15_000;

/** Equal files, committed at the same time, make equal commits. */
const committedAt = Date.now() - 60_000;

function clone(address: string, files = { "src/cart.ts": "start\n" }): Repository {
  const repository = createRepository(committedAt, files);
  repository.git("remote", "add", "origin", address);
  return repository;
}

const here = "git@example.com:acme/shop.git";
const there = "https://me:token@example.com/acme/shop";

async function edit(machine: typeof two.laptop, session_id: string, repository: Repository): Promise<void> {
  repository.write("src/cart.ts", `${session_id}\n`);
  await machine.postHook({
    ...{ session_id, hook_event_name: "PostToolUse", cwd: repository.folder, tool_name: "Edit" },
    ...{ tool_use_id: session_id, tool_input: { file_path: repository.path("src/cart.ts") } },
  });
}

const sharedOf = async (machine: typeof two.laptop, session: string) =>
  ((await machine.fetchSession(session))?.sharedFiles ?? []).map(({ path, ...other }) => ({
    path,
    with: `${other.agent} ${other.sessionId} on ${other.machine}`,
  }));

const waitForShared = (machine: typeof two.laptop, session: string, others: readonly string[]) =>
  waitUntil(
    async () =>
      Bun.deepEquals(
        (await sharedOf(machine, session)).map((shared) => shared.with),
        others,
      ),
    soonMs,
    async () => `${session}: ${JSON.stringify(await sharedOf(machine, session))}`,
  );

describe("two machines in one repository", () => {
  test("both rows say so until one of them commits", async () => {
    const [ours, theirs] = [clone(here), clone(there)];
    await two.start();
    await edit(two.devbox, "dev", theirs);
    await edit(two.laptop, "lap", ours);
    await waitForShared(two.laptop, "lap", ["claude dev on devbox"]);
    await waitForShared(two.laptop, "dev", [`claude lap on ${hostname()}`]);
    expect(await sharedOf(two.laptop, "lap")).toMatchObject([{ path: "src/cart.ts" }]);
    // The other machine does not follow this one.
    expect(await sharedOf(two.devbox, "dev")).toEqual([]);

    // What else happens there does not take it away.
    await two.devbox.postHook({
      session_id: "dev",
      hook_event_name: "Stop",
      last_assistant_message: "Done.",
    });
    await waitUntil(async () => (await two.laptop.fetchSession("dev"))?.lastResponse === "Done.", soonMs);
    await waitForShared(two.laptop, "dev", [`claude lap on ${hostname()}`]);

    theirs.commit(Date.now());
    await edit(two.devbox, "dev2", theirs);
    await two.devbox.postHook({
      session_id: "dev",
      hook_event_name: "Stop",
      last_assistant_message: "Again.",
    });
    await waitForShared(two.laptop, "lap", []);
    await waitForShared(two.laptop, "dev", []);
  });

  test("other repositories, other commits and a machine that is gone do not count", async () => {
    const ours = clone(here);
    const others = [clone("git@example.com:acme/other.git"), clone(there, { "src/cart.ts": "older\n" })];
    await two.start();
    await edit(two.laptop, "lap", ours);
    for (const [n, repository] of others.entries()) await edit(two.devbox, `dev${n}`, repository);
    // Once this is known, so is everything before it.
    await edit(two.devbox, "last", clone(there));
    await waitForShared(two.laptop, "lap", ["claude last on devbox"]);
    await two.cut();
    await waitForShared(two.laptop, "lap", []);
  });
});

test.each([
  ["git@github.com:acme/shop.git", "github.com/acme/shop"],
  ["https://me:token@GitHub.com/acme/shop/", "github.com/acme/shop"],
  ["ssh://git@github.com:22/acme/shop.git", "github.com/acme/shop"],
  ["/srv/git/shop.git", "/srv/git/shop"],
])("%s is %s", (address, expected) => {
  expect(normalizeAddress(address)).toBe(expected);
});
