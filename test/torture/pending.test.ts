/** Hooks that wait for an answer while something goes wrong: then the dialog in the terminal decides. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { parseDecision } from "../answers/fixture.ts";
import { testWith } from "../needs.ts";
import { letTimePass, waitForValue } from "../wait-until.ts";
import { type AppProcess, beckon, createFixture, type Fixture } from "./fixture.ts";
import { permissionRequested, prompted, stopped } from "./scenario.ts";

let fixture: Fixture;
let app: AppProcess;
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

function startHook(id: string, command = "make") {
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

const fetchAsks = async (id: string) => {
  const { asks: open = [] } = (await (await fixture.get(`/api/sessions/${id}`)).json()) as {
    asks?: { answerId?: string; answerable: boolean }[];
  };
  return open;
};
const waitUntilAnswerable = async (id: string) => {
  const open = await waitForValue(
    () => fetchAsks(id).catch(() => []),
    (asks) => asks.some((ask) => ask.answerable),
  );
  return open.find((ask) => ask.answerable)?.answerId ?? "";
};
const answer = (id: string, ask: string, action: object = { do: "allow" }) =>
  fixture.post({ ask, ...action }, `/api/sessions/${id}/answer`);
const expectNoDecision = async (hook: ReturnType<typeof startHook>) => {
  expect(await hook.exited).toBe(0);
  expect(await hook.printed).toBe("");
};

describe("if the app", () => {
  test("is killed and started again, the hook reconnects and gets its answer", async () => {
    const hook = startHook("s-1");
    await waitUntilAnswerable("s-1");
    await app.kill();
    app = await fixture.start();
    const ask = await waitUntilAnswerable("s-1");
    expect((await answer("s-1", ask)).status).toBe(200);
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  }, 20_000);

  test("is stopped and started again, the hook reconnects and gets its answer", async () => {
    const hook = startHook("s-1");
    await waitUntilAnswerable("s-1");
    const before = performance.now();
    expect(await app.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(3_000);
    app = await fixture.start();
    await answer("s-1", await waitUntilAnswerable("s-1"), { do: "deny" });
    expect(parseDecision(await hook.printed).behavior).toBe("deny");
  }, 20_000);

  test("is down while the user answers in the terminal, the hook ends without a decision", async () => {
    const hook = startHook("s-1");
    await waitUntilAnswerable("s-1");
    await app.kill();
    await fixture.hook(stopped("s-1", "done"));
    app = await fixture.start();
    await expectNoDecision(hook);
  }, 20_000);

  test("loses its files and is started again, an old answer id is rejected", async () => {
    const hook = startHook("s-1");
    const ask = await waitUntilAnswerable("s-1");
    await app.kill();
    rmSync(fixture.inHome("journal"), { recursive: true });
    for (const name of ["snapshot.json", "snapshot.json.1", "snapshot.old.json"])
      rmSync(fixture.inHome(name), { force: true });
    app = await fixture.start();
    await expectNoDecision(hook);
    // The dialogs of that session are numbered from the start again.
    const next = startHook("s-1", "rm -r build");
    await waitUntilAnswerable("s-1");
    expect((await answer("s-1", ask)).status).toBe(409);
    expect(next.isRunning()).toBe(true);
  }, 20_000);

  test("has a new token after a restart, the hook uses it; a hook with a wrong token ends", async () => {
    const hook = startHook("s-1");
    await waitUntilAnswerable("s-1");
    await app.kill();
    rmSync(fixture.inHome("auth-header"));
    app = await fixture.start();
    expect((await answer("s-1", await waitUntilAnswerable("s-1"))).status).toBe(200);
    expect(await hook.printed).toContain("allow");
    const token = readFileSync(fixture.inHome("auth-header"), "utf8");
    writeFileSync(fixture.inHome("auth-header"), token.replace(/.{3}\n$/, "xxx\n"));
    await expectNoDecision(startHook("s-2"));
    writeFileSync(fixture.inHome("auth-header"), token);
  }, 20_000);

  testWith("linux")(
    "hangs, a new hook leaves its event in the spool and ends",
    async () => {
      app.signal("SIGSTOP");
      const hook = startHook("s-1");
      await expectNoDecision(hook);
      expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
      app.signal("SIGCONT");
    },
    20_000,
  );

  test("is down, a new hook leaves its event in the spool and ends", async () => {
    await app.kill();
    await expectNoDecision(startHook("s-1"));
    expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
  });

  testWith("linux")(
    "hangs for 25 s, a waiting hook ends by itself",
    async () => {
      const hook = startHook("s-1");
      await waitUntilAnswerable("s-1");
      app.signal("SIGSTOP");
      const before = performance.now();
      await expectNoDecision(hook);
      expect(performance.now() - before).toBeWithin(15_000, 30_000);
      app.signal("SIGCONT");
      const [open] = await waitForValue(
        () => fetchAsks("s-1"),
        (asks) => asks.every((ask) => !ask.answerable),
      );
      expect(open).toBeDefined();
    },
    40_000,
  );
});

testWith("root", "linux", "mount")(
  "on a full disk the hook leaves its event in the spool and ends",
  async () => {
    await app.kill();
    const journal = fixture.inHome("journal");
    mkdirSync(journal, { recursive: true });
    Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", journal]);
    try {
      app = await fixture.start();
      Bun.spawnSync(["sh", "-c", 'cat /dev/zero > "$0/ballast"', journal]);
      await waitForValue(
        () => fixture.post(prompted("other", "x".repeat(5_000))),
        ({ status }) => status === 503,
      );
      await expectNoDecision(startHook("s-1"));
      expect(fixture.read("spool.jsonl")).toContain("PermissionRequest");
      await app.kill();
    } finally {
      Bun.spawnSync(["umount", "-l", journal]);
    }
  },
  20_000,
);

test("30 waiting hooks each get their own answer, and cost little memory and CPU", async () => {
  const before = app.rssMb();
  // One after the other: of thirty processes that start at once on a busy machine, some pass the deadline of a hook.
  const waiting: { id: string; hook: ReturnType<typeof startHook>; name: string }[] = [];
  for (let n = 0; n < 30; n++) {
    const id = `s-${n}`;
    const hook = startHook(id, `make ${n}`);
    waiting.push({ id, hook, name: await waitUntilAnswerable(id) });
  }
  const cpu = () => readCpuMs(app.pid);
  const busy = cpu();
  await letTimePass(2_000, "CPU time is a rate");
  console.log(
    `30 waiting hooks: ${(app.rssMb() - before).toFixed(1)} MB more, ${cpu() - busy} ms of CPU in 2 s`,
  );
  expect(cpu() - busy).toBeLessThan(400);
  expect(app.rssMb() - before).toBeLessThan(60);
  for (const [n, { id, name }] of waiting.entries()) {
    const action = n % 2 === 0 ? { do: "allow" } : { do: "deny", message: `no ${n}` };
    expect((await answer(id, name, action)).status).toBe(200);
  }
  for (const [n, { hook }] of waiting.entries()) {
    const { behavior, message = "" } = parseDecision(await hook.printed);
    expect(behavior).toBe(n % 2 === 0 ? "allow" : "deny");
    if (n % 2 === 1) expect(message).toContain(`no ${n}`);
  }
}, 60_000);

testWith("linux")(
  "200 waiting hooks cost little memory and CPU, and one more is not kept",
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
    const busy = readCpuMs(app.pid);
    await letTimePass(6_000, "CPU time is a rate, and a heartbeat is sent every 5 s");
    const ms = readCpuMs(app.pid) - busy;
    console.log(`200 waiting hooks: ${(app.rssMb() - before).toFixed(1)} MB more, ${ms} ms of CPU in 6 s`);
    expect(ms).toBeLessThan(600);
    expect(app.rssMb() - before).toBeLessThan(80);
    for (const socket of sockets) socket.terminate();
  },
  60_000,
);

/** The CPU time of the process. 0 if the system does not tell. */
function readCpuMs(pid: number): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
