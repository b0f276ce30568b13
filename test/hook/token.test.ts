/** Who gets the token of the state folder: the app that wrote endpoint.json, and nobody else. For both forwarders. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callApi } from "../../src/cli/client.ts";
import { readTokenFile } from "../../src/hook/token-file.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { readStartTime } from "../../src/system/processes.ts";
import { findListenerOwner } from "../../src/system/sockets.ts";
import { copyScript } from "../known-folder.ts";
import { testWith } from "../needs.ts";
import { hookScript } from "../repo.ts";
import {
  beckonHook,
  createHarness,
  environment,
  event,
  expectNoOutput,
  type Harness,
  run,
  token,
} from "./harness.ts";

const nobody = 65534;
const text = JSON.stringify(event);

let harness: Harness;
const children: Bun.Subprocess[] = [];
beforeEach(() => {
  harness = createHarness();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill();
    await child.exited;
  }
  harness.destroy();
});

/** Prints its port, and then every byte that it gets. Runs as another user. */
const foreignSource = `
  const server = Bun.listen({ hostname: process.env.ADDRESS, port: 0, socket: {
    data(socket, bytes) {
      process.stdout.write(bytes);
      socket.write("HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}");
    },
  } });
  console.log(server.port);`;

async function startForeignListener(address = "127.0.0.1") {
  const asNobody = ["setpriv", "--reuid", `${nobody}`, "--regid", `${nobody}`, "--clear-groups", "--"];
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: "/nonexistent",
    ADDRESS: address,
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
  };
  const child = Bun.spawn([...asNobody, process.execPath, "-e", foreignSource], {
    env,
    cwd: "/",
    stdout: "pipe",
  });
  children.push(child);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const readRest = async () => {
    child.kill();
    let rest = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      rest += new TextDecoder().decode(chunk.value);
    return rest;
  };
  return { port: Number(new TextDecoder().decode(value).trim()), readRest };
}

const scriptFolder = mkdtempSync(join(tmpdir(), "beckon-token-"));
afterAll(() => rmSync(scriptFolder, { recursive: true }));

const forwarders: [string, string[]][] = [
  ["beckon hook", beckonHook],
  ["beckon-hook.sh", ["sh", copyScript(hookScript, scriptFolder)]],
];

describe.each(forwarders)("%s", (_, command) => {
  const forward = async (env: Record<string, string> = {}) =>
    expectNoOutput(await run([...command, "claude"], environment(harness.home, env), text));

  test("a program at BECKON_URL gets the event, but not the token", async () => {
    const { received, port } = harness.receiver();
    // The app is somewhere else.
    harness.announce(9);
    symlinkSync(harness.inHome("auth-header"), harness.inHome("link"));
    mkdirSync(harness.inHome("more"));
    symlinkSync(harness.home, harness.inHome("more/folder"));
    const url = { BECKON_URL: `http://127.0.0.1:${port}` };
    await forward(url);
    for (const name of ["auth-header", "link", "more/folder/auth-header"])
      await forward({ ...url, BECKON_TOKEN_FILE: harness.inHome(name) });
    linkSync(harness.inHome("auth-header"), harness.inHome("hard"));
    await forward({ ...url, BECKON_TOKEN_FILE: harness.inHome("hard") });
    expect(received).toHaveLength(5);
    expect(JSON.stringify(received)).not.toContain(token);
    expect(harness.log().match(/BECKON_TOKEN_FILE ignored/g)).toHaveLength(4);
  });

  test("a program at BECKON_URL gets the token that BECKON_TOKEN_FILE names", async () => {
    const { received, port } = harness.receiver();
    harness.announce(9);
    harness.write("for-elsewhere", "Authorization: Bearer other\n");
    await forward({
      BECKON_URL: `http://127.0.0.1:${port}`,
      BECKON_TOKEN_FILE: harness.inHome("for-elsewhere"),
    });
    expect(received[0]?.headers.authorization).toBe("Bearer other");
  });

  test("BECKON_URL with the app's own address changes nothing", async () => {
    const { received, port } = harness.receiver();
    await forward({ BECKON_URL: `http://127.0.0.1:${port}/` });
    expect(received[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });

  testWith(
    "linux",
    "root",
    "setpriv",
  )("another user's program that has the app's port gets nothing, and the event is spooled", async () => {
    const foreign = await startForeignListener();
    harness.announce(foreign.port, process.pid, { start: readStartTime(process.pid) });
    await forward();
    expect(harness.spool()).toHaveLength(1);
    expect(await foreign.readRest()).toBe("");
  });

  testWith(
    "linux",
    "root",
    "setpriv",
  )(
    "another user's program at BECKON_URL gets nothing: the event is spooled, and hook.log says why",
    async () => {
      harness.write("for-elsewhere", "Authorization: Bearer other\n");
      const BECKON_TOKEN_FILE = harness.inHome("for-elsewhere");
      const cases = [
        ["127.0.0.1", "127.0.0.1"],
        ["127.0.0.1", "localhost"],
        ["0.0.0.0", "127.0.0.1"],
        ["::", "127.0.0.1"],
        ["::1", "[::1]"],
      ] as const;
      for (const [address, host] of cases) {
        const foreign = await startForeignListener(address);
        await forward({ BECKON_URL: `http://${host}:${foreign.port}`, BECKON_TOKEN_FILE });
        expect([address, await foreign.readRest()]).toEqual([address, ""]);
      }
      expect(harness.spool()).toHaveLength(cases.length);
      expect(harness.log().match(/another user's program listens at BECKON_URL/g)).toHaveLength(cases.length);
    },
  );

  test("a relative BECKON_HOME or HOME writes nothing into the project", async () => {
    const project = harness.inHome("project");
    mkdirSync(project);
    for (const folders of [
      { BECKON_HOME: "x" },
      { BECKON_HOME: "", HOME: "x" },
      { BECKON_HOME: "", HOME: "." },
    ]) {
      const result = await run([...command, "claude"], environment(harness.home, folders), text, project);
      expectNoOutput(result);
      expect(readdirSync(project)).toEqual([]);
    }
  });

  testWith("root")("an endpoint.json of another user is not followed", async () => {
    const { received } = harness.receiver();
    chownSync(harness.inHome("endpoint.json"), nobody, nobody);
    await forward();
    expect(received).toEqual([]);
    expect(harness.spool()).toHaveLength(1);
  });

  test("an endpoint.json with a second name is not followed", async () => {
    const { received } = harness.receiver();
    linkSync(harness.inHome("endpoint.json"), harness.inHome("second"));
    await forward();
    expect(received).toEqual([]);
    expect(harness.spool()).toHaveLength(1);
  });

  // The binary follows a link to a file of this user: finding out takes it 0.3 ms, and nobody else can put one there.
  if (command[0] !== "sh") return;
  test("an endpoint.json or token that is a link is not followed", async () => {
    for (const name of ["endpoint.json", "auth-header"]) {
      const { received } = harness.receiver();
      const content = await Bun.file(harness.inHome(name)).text();
      writeFileSync(harness.inHome("target"), content);
      await Bun.file(harness.inHome(name)).delete();
      symlinkSync(harness.inHome("target"), harness.inHome(name));
      await forward();
      expect(JSON.stringify(received)).not.toContain(token);
      await Bun.file(harness.inHome(name)).delete();
    }
  });
});

test.each(["auth-header.", "auth-header. .", "auth-header::$DATA", "AUTH-H~1", "auth\u200c-header"])(
  "%s is not taken for another token: some systems open auth-header by that name",
  (name) => {
    harness.write(name, `Authorization: Bearer ${token}\n`);
    expect(readTokenFile(harness.inHome(name))).toBeNull();
    harness.write("auth-header-of-server", "Authorization: Bearer other\n");
    expect(readTokenFile(harness.inHome("auth-header-of-server"))).toBe("Authorization: Bearer other");
  },
);

testWith(
  "linux",
  "root",
  "setpriv",
)("beckon status sends nothing to another user's program either", async () => {
  const foreign = await startForeignListener();
  harness.announce(foreign.port, process.pid, { start: readStartTime(process.pid) });
  const answer = await callApi(resolvePaths({ BECKON_HOME: harness.home }), "/api/sessions");
  expect(answer).toContain("another user's program listens");
  expect(await foreign.readRest()).toBe("");
});

test("the owner of a listening socket is read from the kernel's table", () => {
  const rows = [
    "   0: 0100007F:1188 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0",
    "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000 100 0 0 10 0",
    "   2: 0A00000A:1189 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33        0 4713 1 0000000000000000 100 0 0 10 0",
  ].map((row) => `${row.padEnd(149)}\n`);
  const connection = rows[2]?.replace(" 0A ", " 01 ") ?? "";
  const find = (port: number, more = "") => findListenerOwner(rows.join("") + more, port);
  expect([find(4488), find(22), find(4489), find(4489, connection)]).toEqual([1000, 0, undefined, null]);
});
