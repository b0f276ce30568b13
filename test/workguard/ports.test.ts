/** Ports and who works on them, in memory and on disk. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { limits } from "../../src/core/limits.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import {
  createPort,
  emptyBook,
  endPort,
  findIdMistake,
  findPort,
  findProject,
  findRun,
  findTitleMistake,
  type PortBook,
  PortError,
  portStatus,
  type SessionIdentity,
  startPort,
  summarizePort,
} from "../../src/workguard/ports.ts";
import { changePorts, findStoreProblem, readPorts } from "../../src/workguard/store.ts";
import { repo } from "../repo.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";

afterAll(removeTemporaryFolders);

const shop = "/p/shop";
const session = (more: Partial<SessionIdentity> = {}): SessionIdentity => ({
  agent: "claude",
  sessionId: "s1",
  fingerprint: "f1",
  pid: 100,
  procStart: "5",
  terminalSessionId: "%1",
  ...more,
});
const add = (book: PortBook, id: string, dependsOn: readonly string[] = []): PortBook =>
  createPort(book, shop, { id, title: `About ${id}`, dependsOn }, 1);
const two = add(add(emptyBook, "login"), "search", ["login"]);
const never = () => false;
const always = () => true;
const runOf = (book: PortBook, who: SessionIdentity, isAlive = never): string | undefined =>
  findRun(book, shop, who, isAlive)?.port;

describe("ids and titles are checked", () => {
  test.each(["login", "a", "fix-42", "v1.2_b", "0", "ENG-42", "SHOP_7", "Login"])("%p is an id", (id) => {
    expect(findIdMistake(id)).toBeNull();
  });
  test.each(["", "-a", "a-", "a b", "a/b", "../x", "a;b", "a\n", "ä", "x".repeat(65)])(
    "%p is not an id",
    (id) => {
      expect(findIdMistake(id)).toContain("a port's id has");
    },
  );
  test.each(["", "  ", "two\nlines", "\u202Ereversed", "x".repeat(201), "a\u0007"])(
    "%p is not a title",
    (title) => {
      expect(findTitleMistake(title)).not.toBeNull();
    },
  );
  test("a port is created once, and depends on ports that exist", () => {
    expect(() => add(two, "login")).toThrow(new PortError("there is a port login already"));
    expect(() => add(two, "third", ["nothing"])).toThrow("there is no port nothing to depend on");
  });
});

describe("an id keeps its case, and is found in any", () => {
  const eng = add(add(emptyBook, "ENG-42"), "SHOP_7", ["eng-42"]);

  test("there is no second port that differs in case only", () => {
    expect(() => add(eng, "eng-42")).toThrow(new PortError("there is a port ENG-42 already"));
    expect(() => add(eng, "x", ["X"])).toThrow("the port x cannot depend on itself");
  });
  test("dependencies, runs and ends have the id as it was created", () => {
    expect(eng.projects[shop]?.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ["ENG-42", []],
      ["SHOP_7", ["ENG-42"]],
    ]);
    const started = startPort(eng, shop, "Eng-42", session(), 10);
    expect(runOf(started, session())).toBe("ENG-42");
    const ended = endPort(started, shop, "eng-42", null, 11);
    expect(findPort(ended, shop, "ENG-42")?.endedAt).toBe(11);
    expect(ended.runs).toEqual([]);
  });
});

describe("who works on a port", () => {
  const own = startPort(two, shop, "login", session(), 10);

  test("a session's port is its own", () => {
    expect(runOf(own, session())).toBe("login");
    expect(
      runOf(own, session({ sessionId: "s2", fingerprint: "f2", pid: 200, procStart: "9" })),
    ).toBeUndefined();
  });
  test("a port that nobody's session started counts for every session without one", () => {
    const both = startPort(own, shop, "search", null, 11);
    expect(runOf(both, session())).toBe("login");
    expect(runOf(both, session({ sessionId: "s2", fingerprint: "f2", pid: 200 }))).toBe("search");
    expect(findRun(both, "/p/other", session(), never)).toBeNull();
  });
  test("after /clear, the same process keeps its port", () => {
    expect(runOf(own, session({ sessionId: "s2", fingerprint: "f2" }))).toBe("login");
  });
  test("a resumed session gets its port back, but not while the first process runs", () => {
    const resumed = session({ fingerprint: "f2", pid: 200, procStart: "9" });
    expect(runOf(own, resumed, never)).toBe("login");
    expect(runOf(own, resumed, always)).toBeUndefined();
  });
  test("a later process with the same pid is another session", () => {
    const later = session({ sessionId: "s2", fingerprint: "f2", procStart: "77" });
    expect(runOf(own, later)).toBeUndefined();
  });
  test("without a process, the terminal counts, then the id", () => {
    const nowhere = { fingerprint: null, pid: null, procStart: null };
    const bound = startPort(two, shop, "login", session(nowhere), 10);
    expect(runOf(bound, session({ ...nowhere, sessionId: "s2" }))).toBe("login");
    expect(runOf(bound, session({ ...nowhere, terminalSessionId: "%2" }))).toBe("login");
    expect(runOf(bound, session({ ...nowhere, sessionId: "s2", terminalSessionId: "%2" }))).toBeUndefined();
  });
  test("a session works on one port at a time, and the other is open again", () => {
    const next = startPort(own, shop, "search", session(), 20);
    expect(runOf(next, session())).toBe("search");
    const login = next.projects[shop]?.[0];
    expect(login && portStatus(next, shop, login)).toBe("open");
  });
  test("a port that has ended cannot be started, and frees what depends on it", () => {
    const ended = endPort(own, shop, "login", "done", 30);
    expect(runOf(ended, session())).toBeUndefined();
    expect(() => startPort(ended, shop, "login", null, 31)).toThrow("the port login has ended");
    const search = (book: PortBook) => summarizePort(book, shop, (book.projects[shop] ?? [])[1] as never);
    expect(search(own).open_dependencies).toEqual(["login"]);
    expect(search(ended).open_dependencies).toEqual([]);
  });
  test("the nearest folder with settings or ports is the project", () => {
    expect(findProject(two, ["/p"], "/p/shop/src", "/p/shop/src")).toBe(shop);
    expect(findProject(emptyBook, ["/p"], "/p/shop/src", "/p/shop")).toBe("/p");
    expect(findProject(emptyBook, ["/p/shop"], "/p/shopping", "/p/shopping")).toBe("/p/shopping");
  });
});

describe("on disk", () => {
  const createPaths = () => resolvePaths({ BECKON_HOME: temporaryFolder() });

  test("what was written is read back, and only its owner can read it", async () => {
    const paths = createPaths();
    const written = await changePorts(paths, shop, false, () => startPort(two, shop, "login", session(), 10));
    expect(readPorts(paths)).toEqual(written);
    expect((await Bun.file(paths.ports).stat()).mode & 0o777).toBe(0o600);
  });

  test("a project's own file has its ports, but not who works on them", async () => {
    const paths = createPaths();
    const folder = temporaryFolder();
    const create = (id: string) => (book: PortBook) =>
      createPort(book, folder, { id, title: id, dependsOn: [] }, 1);
    await changePorts(paths, folder, false, create("before"));
    await changePorts(paths, folder, true, (book) => startPort(book, folder, "before", session(), 2));
    await changePorts(paths, folder, true, create("after"));
    const text = readFileSync(join(folder, ".beckon/ports.json"), "utf8");
    expect(JSON.parse(text).ports.map(({ id }: { id: string }) => id)).toEqual(["before", "after"]);
    expect(text).not.toContain("fingerprint");
    const book = readPorts(paths, [folder]);
    expect(book.projects[folder]).toHaveLength(2);
    expect(book.runs.map(({ port }) => port)).toEqual(["before"]);
  });

  test("a file from others cannot smuggle in invalid ports", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".beckon"));
    const ports = [
      { id: "$(reboot)", title: "x" },
      { id: "fine", title: "Fine", dependsOn: ["x", 3], createdAt: "soon" },
      { id: "two", title: "a\nb" },
      null,
    ];
    writeFileSync(join(folder, ".beckon/ports.json"), JSON.stringify({ version: 1, ports }));
    expect(readPorts(createPaths(), [folder]).projects[folder]).toEqual([
      { id: "fine", title: "Fine", dependsOn: ["x"], createdAt: 0, endedAt: null, note: null },
    ]);
  });

  const addToProject = (paths: ReturnType<typeof createPaths>, folder: string) =>
    changePorts(paths, folder, true, (book) =>
      createPort(book, folder, { id: "a", title: "A", dependsOn: [] }, 1),
    );

  test("a project's folder of ports that is a link leads nowhere", async () => {
    const paths = createPaths();
    const folder = temporaryFolder();
    const elsewhere = temporaryFolder();
    symlinkSync(elsewhere, join(folder, ".beckon"));
    expect(addToProject(paths, folder)).rejects.toThrow("is a link, so beckon writes no ports there");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("a lock file that is a second name of another file does not empty that file", async () => {
    const paths = createPaths();
    const folder = temporaryFolder();
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "important");
    mkdirSync(join(folder, ".beckon"));
    linkSync(victim, join(folder, ".beckon/ports.json.beckon-lock"));
    await expect(addToProject(paths, folder)).rejects.toThrow("it has a second name (a hard link)");
    expect(readFileSync(victim, "utf8")).toBe("important");
  });

  test("a probe for free space empties no file that a link names", () => {
    const paths = createPaths();
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "important");
    symlinkSync(victim, `${paths.ports}.${process.pid}.tmp`);
    expect(findStoreProblem(paths)).toBeNull();
    expect(readFileSync(victim, "utf8")).toBe("important");
  });

  test("a link in a project's folder does not make beckon overwrite another file", async () => {
    const paths = createPaths();
    const folder = temporaryFolder();
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "mine");
    mkdirSync(join(folder, ".beckon"));
    symlinkSync(victim, join(folder, `.beckon/ports.json.${process.pid}.tmp`));
    await addToProject(paths, folder);
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(readPorts(paths, [folder]).projects[folder]).toHaveLength(1);
  });

  test("a database in the place of a project's lock file is not opened", async () => {
    const paths = createPaths();
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".beckon"));
    const lock = join(folder, ".beckon/ports.json.beckon-lock");
    new Database(lock).run("CREATE TABLE t (a)");
    const sizes: number[] = [];
    await changePorts(paths, folder, true, (book) => {
      sizes.push(statSync(lock).size);
      return book;
    });
    expect(sizes).toEqual([0]);
  });

  test("a project's file with countless dependencies is read, and listed quickly", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".beckon"));
    const dependsOn = Array.from({ length: 400_000 }, (_, n) => `d${n}`);
    const others = Array.from({ length: 9_000 }, (_, n) => ({
      id: `p${n}`,
      title: "T",
      dependsOn: ["a", "b"],
    }));
    const ports = [{ id: "many", title: "Many", dependsOn }, ...others];
    writeFileSync(join(folder, ".beckon/ports.json"), JSON.stringify({ version: 1, ports }));
    const book = readPorts(createPaths(), [folder]);
    const listed = book.projects[folder] ?? [];
    expect(listed[0]?.dependsOn).toHaveLength(limits.maxPortDependencies);
    const started = performance.now();
    for (const port of listed) summarizePort(book, folder, port);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  test("a damaged file is reported, and not overwritten", async () => {
    const paths = createPaths();
    writeFileSync(paths.ports, "{oops", { mode: 0o600 });
    const change = async () => changePorts(paths, shop, false, (book) => add(book, "a"));
    expect(change()).rejects.toThrow("is not a file of ports that beckon can read");
    expect(readFileSync(paths.ports, "utf8")).toBe("{oops");
  });

  test("two processes that write ports at once lose nothing", async () => {
    const state = temporaryFolder();
    const folder = temporaryFolder();
    const count = 15;
    const writer = (name: string) => `
      import { resolvePaths } from ${JSON.stringify(join(repo, "src/storage/paths.ts"))};
      import { createPort } from ${JSON.stringify(join(repo, "src/workguard/ports.ts"))};
      import { changePorts } from ${JSON.stringify(join(repo, "src/workguard/store.ts"))};
      const paths = resolvePaths({ BECKON_HOME: ${JSON.stringify(state)} });
      for (const isShared of [true, false]) for (let n = 0; n < ${count}; n++) {
        const folder = isShared ? ${JSON.stringify(folder)} : "/p/shop";
        await changePorts(paths, folder, isShared, (book) =>
          createPort(book, folder, { id: "${name}-" + n, title: "T", dependsOn: [] }, 1));
      }`;
    const children = ["a", "b", "c"].map((name) =>
      Bun.spawn([process.execPath, "-e", writer(name)], { stdio: ["ignore", "inherit", "inherit"] }),
    );
    expect(await Promise.all(children.map(({ exited }) => exited))).toEqual([0, 0, 0]);
    const { projects } = readPorts(resolvePaths({ BECKON_HOME: state }), [folder]);
    expect([projects[folder]?.length, projects["/p/shop"]?.length]).toEqual([3 * count, 3 * count]);
  }, 30_000);

  test("a store that cannot be written is noticed", () => {
    expect(findStoreProblem(createPaths())).toBeNull();
    expect(findStoreProblem({ state: "/nowhere", ports: "/nowhere/ports.json" })).toBe("ENOENT");
  });
});
