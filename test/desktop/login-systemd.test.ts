/** Without a desktop: systemd must understand the service, and find it enabled. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLoginItem } from "../../src/desktop/login/index.ts";
import { createSystemdLoginItem } from "../../src/desktop/login/systemd.ts";
import { checkLogin } from "../../src/setup/doctor/login.ts";
import { testWith } from "../needs.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-systemd-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const unit = () => join(home, ".config/systemd/user/beckon.service");
const link = () => join(home, ".config/systemd/user/default.target.wants/beckon.service");

function createItem(hasLinger: boolean) {
  const calls: string[] = [];
  const item = createSystemdLoginItem({
    env: { HOME: home },
    exec: async (argv) => {
      calls.push(argv.join(" "));
      return { code: 0, stdout: "", stderr: "", timedOut: false };
    },
    hasLinger: () => hasLinger,
  });
  return { item, calls };
}

function putBinary(name: string): string {
  const path = join(home, name);
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 });
  return path;
}

test("the service is written, enabled and started, and removed without a trace", async () => {
  const { item, calls } = createItem(false);
  const binary = putBinary("beckon");
  const done = await item.enable({ binary, home: null });
  expect(done).toBe(
    `systemd starts beckon when you log in (${unit()}). To let it run from boot on, also while you are logged out, run: loginctl enable-linger`,
  );
  expect(calls).toEqual(["systemctl --user daemon-reload", "systemctl --user start beckon.service"]);
  expect(readFileSync(link(), "utf8")).toBe(readFileSync(unit(), "utf8"));
  expect(await item.state()).toMatchObject({
    on: true,
    binary,
    problem: expect.stringContaining("enable-linger"),
  });
  expect(await createItem(true).item.state()).toEqual({ on: true, turnedOff: false, binary, problem: null });
  expect(await item.disable()).toContain("no longer starts beckon");
  expect([existsSync(unit()), existsSync(link())]).toEqual([false, false]);
  expect(await item.disable()).toBeNull();
});

for (const name of ["beckon", "with space", "100%", "dollar $HOME"])
  testWith("systemd-analyze")(`systemd takes the service of a program named ${name}`, async () => {
    const binary = putBinary(name);
    await createItem(true).item.enable({ binary, home: "/tmp/a $b %c" });
    const child = Bun.spawn(["systemd-analyze", "--user", "verify", unit()], {
      env: { PATH: process.env.PATH ?? "", HOME: home, XDG_RUNTIME_DIR: home },
      stdout: "pipe",
      stderr: "pipe",
    });
    const complaints = (await child.stderr.text())
      .split("\n")
      .filter((line) => line.includes("beckon.service"));
    expect(complaints).toEqual([]);
    expect((await createItem(true).item.state()).binary).toBe(binary);
  });

test("a path that systemd does not take is refused", async () => {
  for (const name of ['quo"te', "back\\slash", "line\nbreak"])
    expect(createItem(true).item.enable({ binary: putBinary(name), home: null })).rejects.toThrow(
      "systemd takes no",
    );
});

test("it is used where there is no desktop and systemd runs the user's services", async () => {
  const runtime = join(home, "run");
  const read = async (env: Record<string, string>) => {
    const item = await openLoginItem({ env: { HOME: home, ...env }, folder: join(home, "helpers") }, "linux");
    const done = (await item?.enable({ binary: putBinary("beckon"), home: null })) ?? "";
    await item?.disable();
    return done.startsWith("systemd");
  };
  mkdirSync(join(runtime, "systemd"), { recursive: true });
  expect(await read({ XDG_RUNTIME_DIR: runtime, PATH: home })).toBe(true);
  expect(await read({ XDG_RUNTIME_DIR: runtime, PATH: home, DISPLAY: ":0" })).toBe(false);
});

test("without a desktop and a user manager nothing is written, and an entry from earlier does not count", async () => {
  const env = { HOME: home, XDG_RUNTIME_DIR: join(home, "run"), PATH: home };
  const folder = join(home, "helpers");
  const entry = join(home, ".config/autostart/beckon.desktop");
  const binary = putBinary("beckon");
  const item = await openLoginItem({ env, folder }, "linux");
  expect(item?.enable({ binary, home: null })).rejects.toThrow("nothing would start beckon at login");
  expect(existsSync(join(home, ".config"))).toBe(false);
  const look = async () => checkLogin({ item: (await item?.state()) ?? null, isOff: false });
  expect(await look()).toMatchObject([{ state: "info", fix: expect.stringContaining("beckon start") }]);

  const onDesktop = await openLoginItem({ env: { ...env, DISPLAY: ":0" }, folder }, "linux");
  await onDesktop?.enable({ binary, home: null });
  expect(existsSync(entry)).toBe(true);
  expect(await look()).toMatchObject([{ state: "warn", fix: expect.stringContaining("beckon start") }]);
  await item?.disable();
  expect(existsSync(entry)).toBe(false);
});

test("a service that is enabled counts while the user manager does not run", async () => {
  const binary = putBinary("beckon");
  await createItem(true).item.enable({ binary, home: null });
  const env = { HOME: home, XDG_RUNTIME_DIR: join(home, "run") };
  const item = await openLoginItem({ env, folder: join(home, "helpers") }, "linux");
  expect(await item?.state()).toMatchObject({ on: true, binary });
});

test("systemctl finds the user manager from a shell without XDG_RUNTIME_DIR", async () => {
  const seen: unknown[] = [];
  const item = createSystemdLoginItem({
    env: { HOME: home },
    exec: async (_, options) => {
      seen.push(options?.env);
      return { code: 0, stdout: "", stderr: "", timedOut: false };
    },
  });
  await item.enable({ binary: putBinary("beckon"), home: null });
  const folder = { XDG_RUNTIME_DIR: `/run/user/${process.getuid?.()}` };
  expect(seen).toEqual([folder, folder]);
});
