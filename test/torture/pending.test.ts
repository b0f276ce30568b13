/** Hooks that wait for an answer, while everything goes wrong: the terminal's dialog decides, and nothing else. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { decisionOf } from "../answers/world.ts";
import { testWith } from "../needs.ts";
import { type App, beckon, createFixture, type Fixture, until } from "./fixture.ts";
import { permissionRequested, prompted, stopped } from "./scenario.ts";

let fixture: Fixture;
let app: App;
const hooks: Bun.Subprocess<"pipe", "pipe", "pipe">[] = [];
beforeEach(async () => {
  fixture = await createFixture();
  rmSync(fixture.inHome("config.json"));
  app = await fixture.start();
});
afterEach(async () => {
  for (const hook of hooks.splice(0)) {
    hook.kill("SIGKILL");
    await hook.exited;
  }
  await fixture.destroy();
});

function wait(id: string, command = "make") {
  const env = { ...fixture.env, CLAUDE_CODE_SESSION_ATTENDED: "1" };
  const hook = Bun.spawn([...beckon, "hook", "claude"], {
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  hooks.push(hook);
  hook.stdin.write(JSON.stringify(permissionRequested(id, command)));
  hook.stdin.end();
  return {
    pid: hook.pid,
    exited: hook.exited,
    printed: new Response(hook.stdout).text(),
    isRunning: () => hook.exitCode === null,
  };
}

const openAsks = async (id: string) => {
  const { asks: open = [] } = (await (await fixture.get(`/api/sessions/${id}`)).json()) as {
    asks?: { answerId?: string; answerable: boolean }[];
  };
  return open;
};
const answerable = async (id: string) => {
  const open = await until(
    () => openAsks(id).catch(() => []),
    (found) => found.some((ask) => ask.answerable),
  );
  return open.find((ask) => ask.answerable)?.answerId ?? "";
};
const answer = (id: string, ask: string, given: object = { do: "allow" }) =>
  fixture.post({ ask, ...given }, `/api/sessions/${id}/answer`);
const expectNothing = async (hook: ReturnType<typeof wait>) => {
  expect(await hook.exited).toBe(0);
  expect(await hook.printed).toBe("");
};

describe("the app", () => {
  test("killed and started again: the hook comes back, and is answered", async () => {
    const hook = wait("s-1");
    await answerable("s-1");
    await app.kill();
    app = await fixture.start();
    const ask = await answerable("s-1");
    expect((await answer("s-1", ask)).status).toBe(200);
    expect(decisionOf(await hook.printed)).toEqual({ behavior: "allow" });
  }, 20_000);

  test("stopped as a person does it, and started again: the same", async () => {
    const hook = wait("s-1");
    await answerable("s-1");
    const before = performance.now();
    expect(await app.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(3_000);
    app = await fixture.start();
    await answer("s-1", await answerable("s-1"), { do: "deny" });
    expect(decisionOf(await hook.printed).behavior).toBe("deny");
  }, 20_000);

  test("answered in the terminal while it was down: the hook is let go", async () => {
    const hook = wait("s-1");
    await answerable("s-1");
    await app.kill();
    await fixture.hook(stopped("s-1", "done"));
    app = await fixture.start();
    await expectNothing(hook);
  }, 20_000);

  test("started again with everything it knew lost: an old name means nothing", async () => {
    const hook = wait("s-1");
    const ask = await answerable("s-1");
    await app.kill();
    rmSync(fixture.inHome("journal"), { recursive: true });
    for (const name of ["snapshot.json", "snapshot.json.1", "snapshot.old.json"])
      rmSync(fixture.inHome(name), { force: true });
    app = await fixture.start();
    await expectNothing(hook);
    // The next dialog of that session is counted from the beginning.
    const next = wait("s-1", "rm -r build");
    await answerable("s-1");
    expect((await answer("s-1", ask)).status).toBe(409);
    expect(next.isRunning()).toBe(true);
  }, 20_000);

  test("its token changed while it was down: the hook has the new one, and one with a wrong one lets go", async () => {
    const hook = wait("s-1");
    await answerable("s-1");
    await app.kill();
    rmSync(fixture.inHome("auth-header"));
    app = await fixture.start();
    expect((await answer("s-1", await answerable("s-1"))).status).toBe(200);
    expect(await hook.printed).toContain("allow");
    const token = readFileSync(fixture.inHome("auth-header"), "utf8");
    writeFileSync(fixture.inHome("auth-header"), token.replace(/.{3}\n$/, "xxx\n"));
    await expectNothing(wait("s-2"));
    writeFileSync(fixture.inHome("auth-header"), token);
  }, 20_000);

  testWith("linux")(
    "hangs: hooks that come are kept in the spool and not held",
    async () => {
      app.signal("SIGSTOP");
      const hook = wait("s-1");
      await expectNothing(hook);
      expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
      app.signal("SIGCONT");
    },
    20_000,
  );

  test("is not there: the same", async () => {
    await app.kill();
    await expectNothing(wait("s-1"));
    expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
  });

  testWith("linux")(
    "hangs for 25 s while it holds: the hook lets go by itself",
    async () => {
      const hook = wait("s-1");
      await answerable("s-1");
      app.signal("SIGSTOP");
      const before = performance.now();
      await expectNothing(hook);
      expect(performance.now() - before).toBeWithin(15_000, 30_000);
      app.signal("SIGCONT");
      const [open] = await until(
        () => openAsks("s-1"),
        (found) => found.every((ask) => !ask.answerable),
      );
      expect(open).toBeDefined();
    },
    40_000,
  );
});

testWith("root", "linux", "mount")(
  "a full disk: the event is kept in the spool, and nothing is held",
  async () => {
    await app.kill();
    const journal = fixture.inHome("journal");
    mkdirSync(journal, { recursive: true });
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", journal]);
    try {
      app = await fixture.start();
      Bun.spawnSync(["sh", "-c", 'cat /dev/zero > "$0/ballast"', journal]);
      await until(
        () => fixture.post(prompted("other", "x".repeat(5_000))),
        ({ status }) => status === 503,
      );
      await expectNothing(wait("s-1"));
      expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
      await app.kill();
    } finally {
      Bun.spawnSync(["umount", "-l", journal]);
    }
  },
  20_000,
);

test("30 hooks at once: each gets its own answer, and the app stays small and quiet", async () => {
  const before = app.rssMb();
  const waiting = Array.from({ length: 30 }, (_, n) => ({ id: `s-${n}`, hook: wait(`s-${n}`, `make ${n}`) }));
  const names: string[] = [];
  for (const { id } of waiting) names.push(await answerable(id));
  const cpu = () => cpuMs(app.pid);
  const busy = cpu();
  await Bun.sleep(2_000);
  console.log(
    `30 held lines: ${(app.rssMb() - before).toFixed(1)} MB more, ${cpu() - busy} ms of CPU in 2 s`,
  );
  expect(cpu() - busy).toBeLessThan(400);
  expect(app.rssMb() - before).toBeLessThan(60);
  for (const [n, { id }] of waiting.entries()) {
    const given = n % 2 === 0 ? { do: "allow" } : { do: "deny", message: `no ${n}` };
    expect((await answer(id, names[n] ?? "", given)).status).toBe(200);
  }
  for (const [n, { hook }] of waiting.entries()) {
    const { behavior, message = "" } = decisionOf(await hook.printed);
    expect(behavior).toBe(n % 2 === 0 ? "allow" : "deny");
    if (n % 2 === 1) expect(message).toContain(`no ${n}`);
  }
}, 60_000);

testWith("linux")(
  "200 lines at once: the app stays small and quiet, and lets the next one go",
  async () => {
    const before = app.rssMb();
    const token = fixture.read("auth-header").trim();
    const ends: Promise<void>[] = [];
    const sockets: Bun.Socket[] = [];
    for (let n = 0; n < limits.maxPendingRequests + 1; n++) {
      const envelope = {
        provider: "claude",
        _meta: { id: `many-${n}` },
        payload: permissionRequested(`s-${n}`, "make"),
      };
      expect((await fixture.post(envelope)).status).toBe(200);
      const body = JSON.stringify(envelope);
      const head = `POST /api/hold HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n${token}\r\nContent-Type: application/json\r\n`;
      const closed = Promise.withResolvers<void>();
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: app.port,
        socket: { data() {}, close: () => closed.resolve() },
      });
      socket.write(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
      sockets.push(socket);
      ends.push(closed.promise);
    }
    // The last one.
    await ends.at(-1);
    const busy = cpuMs(app.pid);
    await Bun.sleep(6_000);
    const ms = cpuMs(app.pid) - busy;
    console.log(`200 held lines: ${(app.rssMb() - before).toFixed(1)} MB more, ${ms} ms of CPU in 6 s`);
    expect(ms).toBeLessThan(600);
    expect(app.rssMb() - before).toBeLessThan(80);
    for (const socket of sockets) socket.terminate();
  },
  60_000,
);

/** Of the whole process, in milliseconds; 0 where the system does not tell. */
function cpuMs(pid: number): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
