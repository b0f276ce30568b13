/** The login item on macOS and on Windows, with a fake launchctl and a fake registry. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { ExecResult } from "../../src/core/terminals/plan.ts";
import { createMacLoginItem, formatPlist, readPlistBinary } from "../../src/desktop/login/macos.ts";
import { createWindowsLoginItem, formatRunValue, type Registry } from "../../src/desktop/login/windows.ts";
import { testWith } from "../needs.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-login-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("on macOS", () => {
  const plist = () => join(home, "Library/LaunchAgents/local.beckon.plist");
  const success: ExecResult = { code: 0, stdout: "", stderr: "" };

  /** `answers`: what launchctl answers to each subcommand, in turn; it succeeds at everything else. */
  function createItem(answers: Record<string, ExecResult[]> = {}) {
    const calls: string[] = [];
    const item = createMacLoginItem({
      home,
      uid: 501,
      async exec([program, subcommand = "", ...args]) {
        calls.push([program, subcommand, ...args].join(" "));
        return answers[subcommand]?.shift() ?? success;
      },
    });
    return { item, calls };
  }

  test("beckon starts now and at every login, also if it was disabled before", async () => {
    const { item, calls } = createItem({ bootout: [{ code: 3, stdout: "", stderr: "No such process" }] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toStartWith(
      "beckon runs, and starts when",
    );
    expect(calls).toEqual([
      "/bin/launchctl bootout gui/501/local.beckon",
      "/bin/launchctl enable gui/501/local.beckon",
      `/bin/launchctl bootstrap gui/501 ${plist()}`,
    ]);
    // launchd refuses a file that others may write.
    expect(statSync(plist()).mode & 0o022).toBe(0);
  });

  test("while the old agent is being unloaded, beckon tries again", async () => {
    const busy = { code: 37, stdout: "", stderr: "Bootstrap failed: 37: Operation already in progress" };
    const racing = { code: 5, stdout: "", stderr: "Bootstrap failed: 5: Input/output error\n" };
    const { item, calls } = createItem({ bootstrap: [busy, racing, success] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toStartWith("beckon runs");
    expect(calls.filter((line) => line.includes("bootstrap"))).toHaveLength(3);
  });

  test("over ssh, where launchd has no desktop session, beckon reports it and starts at the next login", async () => {
    const failed = { code: 5, stdout: "", stderr: "Bootstrap failed: 5: Input/output error\n" };
    const notLoaded = { code: 3, stdout: "", stderr: "No such process" };
    const { item } = createItem({ bootout: [notLoaded], bootstrap: [failed] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toEndWith(
      "it could not be started now: Bootstrap failed: 5: Input/output error",
    );
    expect(existsSync(plist())).toBe(true);
  });

  test("turned off, the agent is unloaded and its file is gone", async () => {
    const print = [
      { code: 0, stdout: "gui/501/local.beckon = {\n\tstate = not running\n}\n", stderr: "" },
      { code: 113, stdout: "", stderr: "Could not find service" },
    ];
    const { item, calls } = createItem({ print });
    await item.enable({ binary: "/opt/beckon", home: null });
    expect(await item.disable()).toContain("no longer starts");
    expect(calls.at(-1)).toBe("/bin/launchctl bootout gui/501/local.beckon");
    expect(existsSync(plist())).toBe(false);
    expect(await item.disable()).toBeNull();
  });

  test("turned off while beckon runs, beckon keeps running", async () => {
    const stdout = "gui/501/local.beckon = {\n\tstate = running\n\tpid = 77\n}\n";
    const { item, calls } = createItem({ print: [{ code: 0, stdout, stderr: "" }] });
    await item.enable({ binary: "/opt/beckon", home: null });
    calls.length = 0;
    expect(await item.disable()).toContain("no longer starts");
    expect(calls).toEqual(["/bin/launchctl print gui/501/local.beckon"]);
    expect(existsSync(plist())).toBe(false);
  });

  test.each([
    ['"local.beckon" => disabled', true],
    ['"local.beckon" => true', true],
    ['"local.beckon" => enabled', false],
    ['"local.beckon.other" => disabled', false],
  ])("print-disabled prints %j: turned off is %p", async (line, turnedOff) => {
    const stdout = `disabled services = {\n\t\t"com.example" => disabled\n\t\t${line}\n\t}\n`;
    const { item } = createItem({ "print-disabled": [{ code: 0, stdout, stderr: "" }] });
    const binary = join(home, "beckon");
    writeFileSync(binary, "");
    await item.enable({ binary, home: null });
    expect(await item.state()).toMatchObject({ on: !turnedOff, turnedOff, binary });
  });

  test("any path is read back as it was written", () => {
    const anyPath = fc.string({ unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(anyPath, fc.option(anyPath), (binary, folder) => {
        expect(readPlistBinary(formatPlist({ binary, home: folder }))).toBe(binary);
      }),
    );
  });

  testWith("python3")(
    "the file is a valid property list: start at login, restart after a crash, not after Quit",
    async () => {
      const path = join(home, "x.plist");
      writeFileSync(path, formatPlist({ binary: "/Users/a & b/<bin>/beckon", home: "/Users/a & b/]]>" }));
      const script = "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
      const { stdout, stderr } = Bun.spawnSync(["python3", "-c", script, path]);
      expect(stderr.toString()).toBe("");
      expect(JSON.parse(stdout.toString())).toEqual({
        AssociatedBundleIdentifiers: "dev.beckon",
        Label: "local.beckon",
        ProgramArguments: ["/Users/a & b/<bin>/beckon", "run", "--at-login", "--home=/Users/a & b/]]>"],
        RunAtLoad: true,
        KeepAlive: { SuccessfulExit: false },
        LimitLoadToSessionType: "Aqua",
        ProcessType: "Interactive",
      });
    },
  );
});

describe("on Windows", () => {
  const run = "Software\\Microsoft\\Windows\\CurrentVersion\\Run beckon";
  const approved = "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run beckon";

  function createItem(failure: string | null = null) {
    const values = new Map<string, Buffer>();
    const registry: Registry = {
      read: (key, name) => values.get(`${key} ${name}`) ?? null,
      write(key, name, text) {
        if (failure) return failure;
        values.set(`${key} ${name}`, Buffer.from(`${text}\0`, "utf16le"));
        return null;
      },
      remove: (key, name) => void values.delete(`${key} ${name}`),
    };
    return { values, item: createWindowsLoginItem(registry) };
  }

  test("starts without a window, also from a path with spaces or a backslash at the end", () => {
    expect(formatRunValue({ binary: "C:\\Users\\Ann Lee\\beckon.exe", home: null })).toBe(
      '"C:\\Users\\Ann Lee\\beckonw.exe" run --at-login',
    );
    expect(formatRunValue({ binary: "C:\\b.exe", home: "D:\\my state\\" })).toEndWith(
      '"C:\\b.exe" run --at-login "--home=D:\\my state\\\\"',
    );
  });

  test("on, turned off in Task Manager, turned on again by --install --login, off", async () => {
    const { values, item } = createItem();
    const binary = join(home, "beckon.exe");
    writeFileSync(binary, "");
    expect((await item.state()).on).toBe(false);
    await item.enable({ binary, home: null });
    expect(await item.state()).toMatchObject({ on: true, problem: expect.stringContaining("beckonw.exe") });
    writeFileSync(join(home, "beckonw.exe"), "");
    expect(await item.state()).toEqual({ on: true, turnedOff: false, binary, problem: null });
    values.set(approved, Buffer.from([3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]));
    expect(await item.state()).toMatchObject({ on: false, turnedOff: true });
    values.set(approved, Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    expect(await item.state()).toMatchObject({ on: true, turnedOff: false });
    values.set(approved, Buffer.from([3]));
    await item.enable({ binary, home: null });
    expect(await item.state()).toMatchObject({ on: true, turnedOff: false });
    expect(await item.disable()).toContain("no longer starts");
    expect([...values]).toEqual([]);
    expect(await item.disable()).toBeNull();
  });

  test("a command that Windows would silently ignore is an error", async () => {
    const { values, item } = createItem();
    await expect(item.enable({ binary: `C:\\${"x".repeat(260)}.exe`, home: null })).rejects.toThrow("260");
    await expect(item.enable({ binary: 'C:\\a" /c "evil', home: null })).rejects.toThrow("quotes");
    expect(values.has(run)).toBe(false);
    await expect(
      createItem("access denied").item.enable({ binary: "C:\\b.exe", home: null }),
    ).rejects.toThrow("access denied");
  });
});
