/** beckon talks to a socket of Codex's only if no other user could have put it there. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectServer } from "../../../src/agents/codex/watch/connection.ts";
import { isOwnSocket } from "../../../src/agents/watch/own-socket.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-socket-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const events = { onMessage: () => {}, onClosed: () => {} };

test("a socket in a folder that every user can write to is not used", async () => {
  const shared = join(folder, "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  const socket = join(shared, "socket");
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    client.destroy();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const link = join(folder, "link");
  symlinkSync(socket, link);
  expect(connectServer(link, events)).rejects.toThrow("can be changed by other users");
  chmodSync(shared, 0o700);
  await connectServer(link, events).catch(() => {});
  expect(connections).toBe(1);
  server.close();
});

test("a file and a relative path are not one's own", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect([file, "file", join(folder, "nothing"), "/dev/null"].map(isOwnSocket)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("a missing socket means that there is no server", async () => {
  expect(connectServer(join(folder, "missing"), events)).rejects.toMatchObject({ code: "ENOENT" });
});
