/** `beckon update` with the real program, against a file server. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import {
  archiveName,
  brokenProgram,
  createInstallation,
  type Installation,
  olderVersion,
  ownVersion,
  packRelease,
} from "./installation.ts";

const test = testWith("linux", "gzip");
const limitMs = 60_000;
const soonMs = 20_000;
let here: Installation;

beforeAll(async () => {
  here = await createInstallation();
  here.offer("newest", await packRelease(readFileSync(binary), version));
  here.offer("broken", await packRelease(brokenProgram("9.9.9"), "9.9.9"));
}, limitMs);
afterAll(() => here.destroy());

/** Nothing but the program that was there, and it runs. */
async function expectUntouched(): Promise<void> {
  expect(here.listPrograms()).toEqual(["beckon"]);
  expect(await here.readVersion()).toBe(olderVersion);
}

describe("an update that cannot be made says why, and changes nothing", () => {
  const small = brokenProgram("9.9.9");
  const change = async (
    files: (packed: Record<string, Buffer>) => Record<string, Buffer | (() => Response)>,
  ) => files(await packRelease(small, "9.9.9"));
  const cut = (bytes: Buffer | undefined) => bytes?.subarray(0, bytes.length / 2) ?? Buffer.alloc(0);
  const faults: readonly (readonly [
    what: string,
    files: () => Promise<Record<string, Buffer | (() => Response)>>,
    why: string,
  ])[] = [
    [
      "a wrong checksum",
      () =>
        change((packed) => ({ ...packed, [archiveName]: Buffer.alloc(packed[archiveName]?.length ?? 0) })),
      `the checksum of ${archiveName} is wrong`,
    ],
    [
      "a file that is shorter than the manifest says",
      () => change((packed) => ({ ...packed, [archiveName]: cut(packed[archiveName]) })),
      "was not downloaded as a whole",
    ],
    [
      "no archive",
      () => change(({ "manifest.json": manifest }) => ({ ...(manifest && { "manifest.json": manifest }) })),
      "the server does not have it",
    ],
    [
      "no release at all",
      async () => ({}),
      "manifest.json could not be downloaded: the server does not have it",
    ],
    [
      "a manifest that is none",
      async () => ({ "manifest.json": Buffer.from("<html>") }),
      "is not the manifest of a release",
    ],
    [
      "a release without a program for this machine",
      () =>
        change(({ "manifest.json": manifest }) => ({
          "manifest.json": Buffer.from(String(manifest).replace(archiveName, "other.tar.gz")),
        })),
      `beckon 9.9.9 has no ${archiveName}`,
    ],
    [
      "a program that does not run",
      () => packRelease("#!/bin/sh\nexit 3\n", "9.9.9"),
      "the new program does not run here",
    ],
    [
      "a program of another version",
      () => packRelease(brokenProgram("9.9.8"), "9.9.9"),
      "the new program is beckon 9.9.8, not 9.9.9",
    ],
  ];
  for (const [n, [what, files, why]] of faults.entries())
    test(
      what,
      async () => {
        here.offer(`fault-${n}`, await files());
        const { stderr, code } = await here.update(`fault-${n}`);
        expect(stderr).toContain(why);
        expect(code).toBe(1);
        await expectUntouched();
      },
      limitMs,
    );

  test("a connection that is lost on the way", async () => {
    const packed = await packRelease(small, "9.9.9");
    const respond = (length: number, body: Buffer) =>
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`),
        body,
      ]);
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, chunk) {
          const file =
            packed[chunk.includes("manifest.json") ? "manifest.json" : archiveName] ?? Buffer.alloc(0);
          socket.end(respond(file.length, chunk.includes("manifest.json") ? file : cut(file)));
        },
      },
    });
    const { stderr } = await here.run([here.installed, "update"], {
      BECKON_DOWNLOAD_URL: `http://127.0.0.1:${server.port}`,
    });
    server.stop(true);
    expect(stderr).toContain("was not downloaded as a whole");
    expect(stderr).toContain("the connection to 127.0.0.1");
    await expectUntouched();
  });

  test("no connection, and plain http from elsewhere", async () => {
    const from = (url: string) => here.run([here.installed, "update"], { BECKON_DOWNLOAD_URL: url });
    expect((await from("http://127.0.0.1:1")).stderr).toContain("127.0.0.1:1 cannot be reached");
    expect((await from("http://example.org")).stderr).toContain("must begin with https://");
    await expectUntouched();
  });

  test("there is no earlier version to go back to", async () => {
    const { stderr, code } = await here.beckon("update", "--rollback");
    expect({ stderr, code }).toEqual({
      stderr: expect.stringContaining("no earlier beckon to go back to"),
      code: 1,
    });
  });

  testWith("linux", "root", "unshare")(
    "a full disk, and a folder that is read-only",
    async () => {
      const folder = join(here.home, ".local/bin");
      const within = (prepare: string, as = "") =>
        here.run(
          [
            "unshare",
            "--mount",
            "sh",
            "-c",
            `set -e; cp ${here.installed} ${here.home}/kept; ${prepare}; ${as} ${here.installed} update`,
          ],
          { BECKON_DOWNLOAD_URL: here.urlOf("newest") },
        );
      const full = await within(
        `mount -t tmpfs -o size=20m tmpfs ${folder}; cp ${here.home}/kept ${here.installed}`,
      );
      expect(full.stderr).toContain("the disk is full (ENOSPC). Nothing was changed");
      const readOnly = await within(`mount --bind ${folder} ${folder}; mount -o remount,ro,bind ${folder}`);
      expect(readOnly.stderr).toContain("the disk is read-only (EROFS)");
      await expectUntouched();
    },
    limitMs,
  );
});

test("--check says that there is a newer version, and changes nothing", async () => {
  expect(await here.update("newest", "--check")).toMatchObject({
    stdout: `beckon ${version} is available. You have 0.0.9. To update: beckon update\n`,
    code: 0,
  });
  await expectUntouched();
});

test(
  "an update that does not start is rolled back by itself, and the app runs as before",
  async () => {
    expect((await here.beckon("start")).code).toBe(0);
    const { pid } = here.readEndpoint();
    const { stdout, stderr, code } = await here.update("broken");
    expect(code).toBe(1);
    expect(stdout).toContain("and restarting beckon … not possible.\n");
    expect(stderr).toContain("beckon 9.9.9 does not run here: beckon could not be started: it cannot start.");
    expect(stderr).toContain("So beckon 0.0.9 was put back, and runs again");
    expect(here.readEndpoint().pid).not.toBe(pid);
    expect((await here.request("/api/sessions")).status).toBe(200);
    await expectUntouched();
  },
  limitMs,
);

const event = {
  session_id: "s",
  hook_event_name: "PermissionRequest",
  cwd: "/home/dev/proj",
  tool_name: "Bash",
  tool_input: { command: "npm test" },
};

test(
  "an update restarts the app and a rollback does: sessions, an open request and settings are kept",
  async () => {
    const { beckon, fetchSession, readEndpoint } = here;
    expect((await beckon("start")).code).toBe(0);
    expect((await beckon("config", "set", "alerts.sound", "false")).code).toBe(0);
    writeFileSync(join(here.home, "event.json"), JSON.stringify(event));
    const hook = here.start(["sh", "-c", `${here.installed} hook claude <event.json`]);
    const findAsk = async () => (await fetchSession("s"))?.asks.find(({ answerable }) => answerable);
    const isAsked = async () => (await findAsk().catch(() => undefined)) !== undefined;
    await waitUntil(isAsked, soonMs);
    const first = readEndpoint().pid;

    const updated = await here.update("newest");
    expect(updated.stderr).toBe("");
    expect(updated.stdout).toContain(
      `beckon ${version} is installed and running. To go back to 0.0.9: beckon update --rollback\n`,
    );
    expect(readFileSync(here.installed).equals(readFileSync(binary))).toBe(true);
    expect(here.listPrograms()).toEqual(["beckon", "beckon.previous"]);
    const second = readEndpoint().pid;
    expect(second).not.toBe(first);
    await waitUntil(isAsked, soonMs);
    expect(await here.update("newest")).toMatchObject({
      stdout: `${ownVersion} is the newest version.\n`,
      code: 0,
    });
    expect(readEndpoint().pid).toBe(second);

    const back = await beckon("update", "--rollback");
    expect(back.stdout).toContain(
      `beckon 0.0.9 is installed and running. To go back to ${version}: beckon update --rollback\n`,
    );
    expect(await here.readVersion()).toBe(olderVersion);
    expect(here.listPrograms()).toEqual(["beckon", "beckon.previous"]);
    expect(readEndpoint().pid).not.toBe(second);
    await waitUntil(isAsked, soonMs);
    expect((await beckon("config", "get", "alerts.sound")).stdout).toContain("false");
    const answer = { by: "command line", do: "allow", ask: (await findAsk())?.answerId };
    const answered = await here.request("/api/sessions/claude%3As/answer", {
      method: "POST",
      body: JSON.stringify(answer),
    });
    expect(await answered.json()).toEqual({ ok: true, answered: "allowed" });
    expect(await hook.stdout.text()).toContain('"behavior":"allow"');
  },
  limitMs,
);

test(
  "of two updates at once, one is made",
  async () => {
    expect((await here.beckon("update", "--rollback")).code).toBe(0);
    expect((await here.beckon("update", "--rollback")).code).toBe(0);
    const both = await Promise.all([here.update("newest"), here.update("newest")]);
    const codes = both.map(({ code }) => code).sort();
    const [, second] = both.sort((a, b) => b.stdout.length - a.stdout.length);
    expect(`${second?.stdout}${second?.stderr}`).toMatch(
      /is the newest version|another beckon has been changing/,
    );
    expect(codes[0]).toBe(0);
    expect(await here.readVersion()).toBe(ownVersion);
    expect(here.listPrograms()).toEqual(["beckon", "beckon.previous"]);
  },
  limitMs,
);

test("--uninstall removes both programs", async () => {
  expect((await here.beckon("--uninstall")).code).toBe(0);
  expect(here.listPrograms()).toEqual([]);
});
