/** beckon's plugin for opencode sends events itself once beckon's program has delivered one, and only while that is safe. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { readStat } from "../../../src/system/processes.ts";
import { forEachTest } from "../../for-each-test.ts";
import { createHarness, environment, parseEnvelope, token } from "../../hook/harness.ts";
import { testWith } from "../../needs.ts";
import { binary } from "../../repo.ts";
import { waitUntil } from "../../wait-until.ts";
import { loadPluginFor, writePlugin } from "./plugin.ts";

const harness = forEachTest(createHarness);

/** As the app announces itself. */
const identity = () => ({ key: "k".repeat(43), start: readStat(process.pid)?.start ?? null });

/** The plugin with the real program, in a home folder of its own. Every run of the program leaves a line. */
async function load() {
  const { home, user } = harness;
  const { HOME, BECKON_HOME } = environment(home, { HOME: user });
  const runs = join(user, "runs");
  const program = join(user, "beckon.sh");
  const variables = `HOME='${HOME}' BECKON_HOME='${BECKON_HOME}'`;
  writeFileSync(program, `#!/bin/sh\necho "$*" >>'${runs}'\n${variables} exec '${binary}' "$@"\n`, {
    mode: 0o755,
  });
  const prompted: object[] = [];
  const client = { session: { promptAsync: async (prompt: object) => void prompted.push(prompt) } };
  const hooks = await loadPluginFor(program, undefined, client);
  return {
    /** What was sent to opencode as the user's prompt. */
    prompted,
    runs: (): string[] => (existsSync(runs) ? readFileSync(runs, "utf8").trim().split("\n") : []),
    startTool: (n: number) =>
      hooks["tool.execute.before"]?.({ tool: "bash", sessionID: "ses_1", callID: `call_${n}` }, { args: {} }),
    ask: () =>
      hooks.event?.({
        event: {
          type: "permission.asked",
          properties: { id: "per_1", sessionID: "ses_1", permission: "bash", patterns: [], metadata: {} },
        },
      }),
  };
}

test("the last event of a run arrives, although opencode ends at once", async () => {
  const { user } = harness;
  const sent = join(user, "sent");
  const program = join(user, "beckon.sh");
  // The program of the first event is slow: the others wait for it.
  writeFileSync(program, `#!/bin/sh\n[ "$3" = --connect ] && sleep 0.1\ncat >>'${sent}'\n`, { mode: 0o755 });
  const plugin = join(user, "plugin.js");
  writeFileSync(plugin, writePlugin(program));
  const script = `
    const { Beckon } = await import(${JSON.stringify(plugin)});
    const { event } = await Beckon({ directory: "/", client: {} });
    const report = (type) =>
      event({ event: { type: "session.status", properties: { sessionID: "ses_1", status: { type } } } });
    report("busy");
    report("idle");
    setTimeout(() => process.exit(0), 1);
  `;
  const { exitCode } = Bun.spawnSync([process.execPath, "-e", script], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(exitCode).toBe(0);
  expect(readFileSync(sent, "utf8")).toContain('"session.idle"');
});

describe("opencode's events", () => {
  testWith("linux")("need beckon's program once, and arrive in order with all that it knows", async () => {
    const { received, port } = harness.receiver();
    harness.announce(port, process.pid, identity());
    const plugin = await load();
    for (let n = 0; n < 20; n++) await plugin.startTool(n);
    await waitUntil(() => received.length === 20, 10_000);
    const envelopes = received.map(({ text }) => parseEnvelope(text));
    expect(envelopes.map(({ payload }) => payload.call)).toEqual(
      Array.from({ length: 20 }, (_, n) => `call_${n}`),
    );
    expect(plugin.runs()).toEqual(["hook opencode --connect"]);
    expect(received.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);

    const [first, ...others] = envelopes.map(({ _meta, payload, ...rest }) => {
      // Of an event that the program sends, the plugin's own moment counts.
      const { id, at, collected_at, seq, ...lasting } = { ..._meta, ...payload._meta };
      return { moment: { id, at, collected_at, seq }, envelope: { ...rest, payload: null }, lasting };
    });
    for (const other of others) {
      expect(other.lasting).toEqual(first?.lasting);
      expect(other.envelope).toEqual(first?.envelope);
      expect(other.moment.seq).toBeGreaterThanOrEqual(first?.moment.seq);
      expect(new Date(other.moment.collected_at).getTime()).toBe(other.moment.at);
    }
    expect(new Set(envelopes.map(({ _meta }) => _meta.id)).size).toBe(20);
  });

  testWith("linux")("are followed by an inbox for prompts, which needs beckon's token", async () => {
    const { received, port } = harness.receiver();
    harness.announce(port, process.pid, identity());
    const plugin = await load();
    await plugin.startTool(0);
    await waitUntil(() => received.length === 1, 10_000);
    const path = harness.inHome(`inbox/${process.pid}.sock`);
    await waitUntil(() => existsSync(path), 10_000);
    const send = (line: string) =>
      new Promise<string>((resolve) => {
        let answer = "";
        const socket = createConnection({ path });
        socket.on("data", (chunk) => {
          answer += chunk;
        });
        socket.on("close", () => resolve(answer.trim()));
        socket.on("error", () => {});
        socket.write(`${line}\n`);
      });
    const prompt = { session: "ses_1", text: "/clear\nis text" };
    expect(await send(JSON.stringify(prompt))).toBe("refused");
    expect(await send(JSON.stringify({ ...prompt, token: `${token}x` }))).toBe("refused");
    expect(await send("not JSON")).toBe("");
    expect(plugin.prompted).toEqual([]);
    const given = { ...prompt, token: `Authorization: Bearer ${token}` };
    expect(await send(JSON.stringify(given))).toBe("taken");
    expect(plugin.prompted).toEqual([
      { path: { id: "ses_1" }, body: { parts: [{ type: "text", text: "/clear\nis text" }] } },
    ]);
  });

  testWith("linux")("are kept in the spool by beckon's program while beckon is down", async () => {
    const { received, port } = harness.receiver();
    harness.announce(port, process.pid, identity());
    const plugin = await load();
    for (let n = 0; n < 3; n++) await plugin.startTool(n);
    await waitUntil(() => received.length === 3, 10_000);
    rmSync(harness.inHome("endpoint.json"));
    await plugin.startTool(3);
    await waitUntil(() => harness.spool().length === 1, 10_000);
    expect(parseEnvelope(harness.spool()[0]).payload.call).toBe("call_3");
    expect(received).toHaveLength(3);
    expect(plugin.runs()).toHaveLength(2);
    harness.announce(port, process.pid, identity());
    for (let n = 4; n < 7; n++) await plugin.startTool(n);
    await waitUntil(() => received.length === 6, 10_000);
    expect(plugin.runs()).toHaveLength(3);
  });

  testWith("linux")("are not sent by the plugin once the process that had the port is gone", async () => {
    const { received, port } = harness.receiver();
    const app = Bun.spawn(["sleep", "60"]);
    harness.announce(port, app.pid, { ...identity(), start: readStat(app.pid)?.start ?? null });
    const plugin = await load();
    for (let n = 0; n < 3; n++) await plugin.startTool(n);
    await waitUntil(() => received.length === 3, 10_000);
    app.kill("SIGKILL");
    await app.exited;
    // The port still answers: it can be another user's by now.
    await plugin.startTool(3);
    await waitUntil(() => harness.spool().length === 1, 10_000);
    expect(received).toHaveLength(3);
  });

  testWith("linux")(
    "go to the program if beckon refuses or does not answer, which then keeps them",
    async () => {
      let isHanging = false;
      let count = 0;
      harness.listener((socket) => {
        count++;
        if (!isHanging) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      });
      const { url } = JSON.parse(readFileSync(harness.inHome("endpoint.json"), "utf8"));
      harness.announce(Number(new URL(url).port), process.pid, identity());
      const plugin = await load();
      for (let n = 0; n < 3; n++) await plugin.startTool(n);
      await waitUntil(() => count === 3, 10_000);
      isHanging = true;
      await plugin.startTool(3);
      await waitUntil(() => harness.spool().length === 1, 10_000);
      expect(parseEnvelope(harness.spool()[0]).payload.call).toBe("call_3");
    },
  );

  testWith("linux")("that ask something are sent by the program, which waits for the answer", async () => {
    const { received, port } = harness.receiver();
    harness.announce(port, process.pid, identity());
    const plugin = await load();
    await plugin.startTool(0);
    await waitUntil(() => received.length === 1, 10_000);
    await plugin.ask();
    await waitUntil(() => received.length === 2, 10_000);
    expect(received.map(({ path }) => path)).toEqual(["/api/hook", "/api/hook?hold"]);
    expect(plugin.runs()).toEqual(["hook opencode --connect", "hook opencode"]);
  });
});
