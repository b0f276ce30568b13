/**
 * A day of six agents in one real repository: how many of the collisions that are shown are true, and how many true ones are missed. Each
 * edit adds a line of its own, so the files themselves tell whose changes are not committed. SEED=… repeats a day.
 */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { SharedFile } from "../../src/core/session/event.ts";
import { type Change, createInternalEvent } from "../../src/core/session/event.ts";
import { createStore } from "../../src/state/store.ts";
import { exec } from "../../src/system/exec.ts";
import { createCollisions } from "../../src/workguard/collisions.ts";
import { createFileReader } from "../../src/workguard/git.ts";
import { chooseSeed, createRandom } from "../random.ts";
import { removeTemporaryFolders } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";
import { createRepository } from "../workguard/repository.ts";

afterAll(removeTemporaryFolders);

const agentNames = ["claude", "codex", "opencode", "gemini", "qwen", "copilot"] as const;
const startedAt = 1_800_000_000_000;
const dayMs = 8 * 3_600_000;

test("a day of six agents", async () => {
  const seed = chooseSeed();
  const random = createRandom(seed);
  const folders = agentNames.map((_, n) => `src/part${n}`);
  const names = [
    ...folders.flatMap((folder) => [1, 2, 3, 4].map((n) => `${folder}/file${n}.ts`)),
    "src/index.ts",
    "src/types.ts",
    "README.md",
  ];
  const repository = createRepository(startedAt - 60_000, {
    ...Object.fromEntries(names.map((name) => [name, "start\n"])),
    ".gitignore": "out/\n",
    "package-lock.json": "{}\n",
  });
  let now = startedAt;
  const clock = () => ({ at: now, t: now - startedAt, boot: null, host: null });
  const store = createStore();
  const works: (() => void)[] = [];
  let reading = 0;
  const readFile = createFileReader(exec);
  const collisions = createCollisions({
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    async readFile(path, since) {
      reading++;
      try {
        return await readFile(path, since);
      } finally {
        reading--;
      }
    },
    readChange: async () => null,
    schedule(work) {
      works.push(work);
      return () => works.splice(works.indexOf(work), 1);
    },
    setShared: ({ agent, sessionId }, files: readonly SharedFile[]) =>
      dispatch({ agent, sessionId }, { kind: "shared-files", files }),
  });
  store.subscribe((session, event, before) => collisions.onChange({ session, event, before }));

  let count = 0;
  function dispatch(about: { readonly agent: string; readonly sessionId: string }, change: Change): void {
    const more = { ...about, cwd: repository.folder, project: "shop" };
    store.dispatch(createInternalEvent(`e${++count}`, clock(), more, change));
  }
  /** Everything that was scheduled has run, and git has answered. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      for (const work of works.splice(0)) work();
      await waitUntil(() => reading === 0, 30_000);
    }
  }

  const sessions = agentNames.map((agent) => ({ agent: agent as string, sessionId: `${agent}-1`, lives: 1 }));
  type Member = (typeof sessions)[number];
  const tokenOf = ({ sessionId }: Member) => `<${sessionId}>`;
  const read = (name: string): string => {
    try {
      return readFileSync(repository.path(name), "utf8");
    } catch {
      return "";
    }
  };
  const committed = new Map(names.map((name) => [name, "start\n"]));
  const countTokens = (text: string, token: string) => text.split(token).length - 1;

  /** `file member member` for every pair of live sessions with lines in the file that are not committed. */
  function listTrue(): Set<string> {
    const pairs = new Set<string>();
    for (const name of names) {
      const open = sessions.filter(
        (member) =>
          countTokens(read(name), tokenOf(member)) > countTokens(committed.get(name) ?? "", tokenOf(member)),
      );
      for (const a of open)
        for (const b of open) if (a !== b) pairs.add(`${name} ${a.sessionId} ${b.sessionId}`);
    }
    return pairs;
  }
  const listShown = (): Set<string> =>
    new Set(
      store
        .sessions(clock())
        .flatMap(({ ended, sessionId, sharedFiles }) =>
          ended
            ? []
            : sharedFiles.map(
                (file) => `${file.path.replace(`${repository.folder}/`, "")} ${sessionId} ${file.sessionId}`,
              ),
        ),
    );

  async function edit(member: Member, name: string, text: string): Promise<void> {
    const call = { tool: "Edit", toolUseId: `t${count}`, skill: null, editPaths: [repository.path(name)] };
    dispatch(member, { kind: "tool-start", ...call, inputKey: "k", summary: name });
    // The hook is over before the edit, and beckon reads the file at once.
    await settle();
    repository.write(name, text);
    dispatch(member, { kind: "tool-end", ...call, outcome: "ok" });
  }

  async function act(member: Member): Promise<void> {
    const own = folders[sessions.indexOf(member)];
    const ownNames = names.filter((name) => name.startsWith(`${own}/`));
    const dice = random.next();
    if (dice < 0.68) {
      const name = random.chance(0.7) ? random.pick(ownNames) : random.pick(names);
      return edit(member, name, `${read(name)}${tokenOf(member)} ${count}\n`);
    }
    if (dice < 0.74) {
      if (repository.git("status", "--porcelain") !== "") repository.commit(now);
      for (const name of names) committed.set(name, read(name));
      return;
    }
    // Takes its work back, or puts it away.
    if (dice < 0.8) {
      const name = random.pick(ownNames);
      repository.git("checkout", "--quiet", "HEAD", "--", name);
      return;
    }
    if (dice < 0.82) {
      repository.git("stash", "--quiet");
      return;
    }
    // A formatter changes every file, and no tool for edits is called.
    if (dice < 0.9) {
      for (const name of names) repository.write(name, `${read(name).trimEnd()}\n`);
      return;
    }
    if (dice < 0.93)
      return edit(member, random.pick(["package-lock.json", "out/bundle.js", "dist/app.js"]), `${count}\n`);
    // The commits so far are on another branch from now on.
    if (dice < 0.95) {
      repository.git("checkout", "--quiet", "-B", `side-${count}`);
      return;
    }
    dispatch(member, { kind: "session-end", reason: "exit" });
    member.lives++;
    member.sessionId = `${member.agent}-${member.lives}`;
  }

  const figures = { edits: 0, alarms: 0, right: 0, overlaps: 0, missed: 0 };
  let shownBefore = new Set<string>();
  let trueBefore = new Set<string>();
  while (now < startedAt + dayMs) {
    now += random.between(10_000, 90_000);
    await act(random.pick(sessions));
    await settle();
    const [shown, right] = [listShown(), listTrue()];
    for (const pair of shown) {
      if (shownBefore.has(pair)) continue;
      figures.alarms++;
      if (right.has(pair)) figures.right++;
      else console.log(`false: ${pair}`);
    }
    for (const pair of right) {
      if (trueBefore.has(pair)) continue;
      figures.overlaps++;
      if (!shown.has(pair)) {
        figures.missed++;
        console.log(`missed: ${pair}`);
      }
    }
    [shownBefore, trueBefore] = [shown, right];
  }
  figures.edits = store.sessions(clock()).length;
  collisions.stop();
  console.log(
    `seed ${seed}: ${count} events of ${figures.edits} sessions; shown ${figures.alarms / 2}, true of them ${figures.right / 2}; overlaps ${figures.overlaps / 2}, missed ${figures.missed / 2}`,
  );
  expect(figures.overlaps).toBeGreaterThan(10);
  expect(figures.alarms - figures.right).toBe(0);
  expect(figures.missed).toBe(0);
}, 600_000);
