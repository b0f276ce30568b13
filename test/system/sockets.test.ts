import { afterAll, expect, spyOn, test } from "bun:test";
import {
  findClientOwner,
  findForeignInodes,
  isOwnConnection,
  type SocketEnd,
} from "../../src/system/sockets.ts";
import { testWith } from "../needs.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1188 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:1188 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 2 1
   2: 0100007F:D431 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 3 1
   3: 0A00007F:D432 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1000        0 4 1
   4: 0100007F:D433 0100007F:1188 06 00000000:00000000 03:00000A9D 00000000     0        0 0 3
   5: 0100007F:D434 0100007F:1188 05 00000000:00000000 02:00000A9D 00000000     0        0 0 1
   6: 0100007F:D435 0100007F:1188 02 00000001:00000000 01:00000A9D 00000000  1000        0 5 1
   7: 0100007F:D436 0100007F:1188 01 00000000:00000000 00:00000000 00000000     0        0 0 1
   8: 0100007F:D437 0A00007F:1188 01 00000000:00000000 00:00000000 00000000  1000        0 6 1
   9: 0000000000000000FFFF00000100007F:D438 0000000000000000FFFF00000100007F:1188 01 00000000:00000000 00:00000000 00000000  1002        0 7 1
`;

const at = (port: number, address = "127.0.0.1"): SocketEnd => ({ address, port });

test("the owner of a connection is the client's user, not the server's", () => {
  expect(findClientOwner(table, at(0xd431), 4488)).toBe(1001);
  expect(findClientOwner(table, at(0xd438), 4488)).toBe(1002);
});

test.each([
  ["from an address that is not in the table", at(0xd432)],
  ["from another loopback address", at(0xd432, "127.0.0.10")],
  ["from another address, with the port of a connection from 127.0.0.1", at(0xd431, "127.0.0.2")],
  ["in TIME_WAIT, which the kernel lists with uid 0", at(0xd433)],
  ["that its owner has closed", at(0xd434)],
  ["that is not established", at(0xd435)],
  ["without an inode", at(0xd436)],
  ["to another loopback address", at(0xd437)],
])("a connection %s has no owner", (_what, client) => {
  expect(findClientOwner(table, client, 4488)).toBeNull();
});

test("a connection to another port has no owner", () => {
  expect(findClientOwner(table, at(0xd431), 4489)).toBeNull();
  expect(findClientOwner("", at(0xd431), 4488)).toBeNull();
});

test("other users' connections are known by our ends of them; root's, ours and those not accepted yet are left out", () => {
  const rows = `
   0: 0100007F:1188 0100007F:0001 01 00000000:00000000 00:00000000 00000000  1000        0 10 1
   1: 0100007F:0001 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 11 1
   2: 0100007F:1188 0200007F:0002 01 00000000:00000000 00:00000000 00000000  1000        0 20 1
   3: 0200007F:0002 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 21 1
   4: 0100007F:1188 0100007F:0003 01 00000000:00000000 00:00000000 00000000  1000        0 30 1
   5: 0000000000000000FFFF00000100007F:0003 0000000000000000FFFF00000100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 31 1
   6: 0100007F:1188 0100007F:0004 01 00000000:00000000 00:00000000 00000000  1000        0 40 1
   7: 0100007F:0004 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1000        0 41 1
   8: 0100007F:1188 0100007F:0005 01 00000000:00000000 00:00000000 00000000  1000        0 50 1
   9: 0100007F:0005 0100007F:1188 01 00000000:00000000 00:00000000 00000000     0        0 51 1
  10: 0100007F:1188 0100007F:0006 01 00000000:00000000 00:00000000 00000000     0        0 0 1
  11: 0100007F:0006 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 61 1
  12: 0100007F:0007 0100007F:1189 01 00000000:00000000 00:00000000 00000000  1001        0 71 1`;
  expect([...findForeignInodes(rows, 4488, 1000)]).toEqual(["10", "20", "30"]);
});

const server: Bun.Server<undefined> = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request): Promise<Response> {
    const client = server.requestIP(request) ?? at(0);
    return new Response(String(await isOwnConnection(client, server.port ?? 0)));
  },
});
afterAll(() => server.stop(true));

test("a client of this user is recognised", async () => {
  expect(await (await fetch(server.url)).text()).toBe("true");
});

testWith("linux", "python3")("a client of this user with an IPv6 socket is recognised", async () => {
  const script = `
import socket
s = socket.socket(socket.AF_INET6)
s.connect(("::ffff:127.0.0.1", ${server.port}))
s.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n")
text = b""
while chunk := s.recv(4096): text += chunk
print(text.decode().split("\\r\\n\\r\\n")[1])`;
  const child = Bun.spawn(["python3", "-c", script], { stdout: "pipe", stderr: "pipe" });
  expect((await child.stdout.text()).trim()).toBe("true");
});

testWith(
  "root",
  "linux",
  "setpriv",
  "curl",
)("a client of another user is refused", async () => {
  // Only a server that is not root's can tell: root's own uid is allowed to everyone.
  const program = `
    const { isOwnConnection } = await import(${JSON.stringify(new URL("../../src/system/sockets.ts", import.meta.url).pathname)});
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, async fetch(request) {
      return new Response(String(await isOwnConnection(server.requestIP(request), server.port)));
    } });
    console.log(server.port);`;
  const asUser = (uid: number, command: string[]) =>
    Bun.spawn(["setpriv", `--reuid=${uid}`, "--clear-groups", ...command], {
      env: { PATH: process.env.PATH ?? "", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
      stdout: "pipe",
      stderr: "pipe",
    });
  const owner = asUser(12_345, [process.execPath, "-e", program]);
  try {
    const port = new TextDecoder().decode((await owner.stdout.getReader().read()).value).trim();
    const ask = (uid: number) => asUser(uid, ["curl", "-s", `http://127.0.0.1:${port}/`]).stdout.text();
    expect([await ask(12_345), await ask(12_346), await ask(0)]).toEqual(["true", "false", "true"]);
  } finally {
    owner.kill();
    await owner.exited;
  }
});

test("sockets that are not asked about take little time, however many another user opens", () => {
  const row =
    "   0: 0200007F:1189 0200007F:118A 01 00000000:00000000 00:00000000 00000000 65534        0 1 1\n";
  const rows = row.repeat(100_000);
  const measure = (run: () => unknown): number => {
    const start = performance.now();
    for (let times = 0; times < 5; times++) run();
    return performance.now() - start;
  };
  const parseMs = measure(() => rows.split("\n").map((text) => text.trim().split(/\s+/)));
  expect(measure(() => findClientOwner(rows, at(0xd431), 4488))).toBeLessThan(parseMs / 3);
  expect(measure(() => findForeignInodes(rows, 4488, 1000))).toBeLessThan(parseMs / 3);
});

testWith("linux")("many checks at once share what they read", async () => {
  const open = spyOn(Bun, "file");
  try {
    const checks = Array.from({ length: 100 }, (_, n) => isOwnConnection(at(n + 1), 1));
    expect(new Set(await Promise.all(checks))).toEqual(new Set([false]));
    // Each reads two tables three times: 600 if nothing were shared, and about 20 if everything is, a few more on a busy machine.
    expect(open.mock.calls.length).toBeLessThan(60);
  } finally {
    open.mockRestore();
  }
});
