import { afterAll, expect, test } from "bun:test";
import { findClientOwner, isOwnSocket } from "../../src/system/sockets.ts";
import { testWith } from "../needs.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1188 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:1188 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 2 1
   2: 0100007F:D431 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1001        0 3 1
   3: 0A00007F:D432 0100007F:1188 01 00000000:00000000 00:00000000 00000000  1000        0 4 1
`;

test("the owner of a connection is the client's user, not the server's", () => {
  expect(findClientOwner(table, 0xd431, 4488)).toBe(1001);
});

test("a connection that is not in the table has no owner", () => {
  expect(findClientOwner(table, 0xd432, 4488)).toBeNull();
  expect(findClientOwner(table, 0xd431, 4489)).toBeNull();
  expect(findClientOwner("", 0xd431, 4488)).toBeNull();
});

const server: Bun.Server<undefined> = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request): Promise<Response> {
    const clientPort = server.requestIP(request)?.port ?? 0;
    return new Response(String(await isOwnSocket(clientPort, server.port ?? 0)));
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
    const { isOwnSocket } = await import(${JSON.stringify(new URL("../../src/system/sockets.ts", import.meta.url).pathname)});
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, async fetch(request) {
      return new Response(String(await isOwnSocket(server.requestIP(request).port, server.port)));
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
