/** The login item on macOS, by what launchctl is told, and on Windows, by what the registry holds. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { ExecResult } from "../../src/core/ports.ts";
import { binaryIn, launchAgent, plistText } from "../../src/desktop/login/launch-agent.ts";
import { type Registry, runKeyLogin, runValue } from "../../src/desktop/login/run-key.ts";
import { testWith } from "../needs.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-login-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("on macOS", () => {
  const plist = () => join(home, "Library/LaunchAgents/local.beckon.plist");
  const fine: ExecResult = { code: 0, stdout: "", stderr: "" };

  /** launchctl, answering by its first word; what is not named is fine. */
  function agent(answers: Record<string, ExecResult[]> = {}) {
    const told: string[] = [];
    const item = launchAgent({
      home,
      uid: 501,
      async exec([program, word = "", ...args]) {
        told.push([program, word, ...args].join(" "));
        return answers[word]?.shift() ?? fine;
      },
    });
    return { item, told };
  }

  test("launchd loads it now and at every login, also after it was disabled once", async () => {
    const { item, told } = agent({ bootout: [{ code: 3, stdout: "", stderr: "No such process" }] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toStartWith(
      "beckon runs, and starts when",
    );
    expect(told).toEqual([
      "/bin/launchctl bootout gui/501/local.beckon",
      "/bin/launchctl enable gui/501/local.beckon",
      `/bin/launchctl bootstrap gui/501 ${plist()}`,
    ]);
    // launchd refuses a file that others may write.
    expect(statSync(plist()).mode & 0o022).toBe(0);
  });

  test("while the old one is on its way out, it tries again", async () => {
    const busy = { code: 37, stdout: "", stderr: "Bootstrap failed: 37: Operation already in progress" };
    const { item, told } = agent({ bootstrap: [busy, fine] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toStartWith("beckon runs");
    expect(told.filter((line) => line.includes("bootstrap"))).toHaveLength(2);
  });

  test("over ssh, where launchd has no desktop to load it into, it says so and waits for the login", async () => {
    const failed = { code: 5, stdout: "", stderr: "Bootstrap failed: 5: Input/output error\n" };
    const { item } = agent({ bootstrap: [failed] });
    expect(await item.enable({ binary: "/opt/beckon", home: null })).toEndWith(
      "now it could not be started: Bootstrap failed: 5: Input/output error",
    );
    expect(existsSync(plist())).toBe(true);
  });

  test("off again, it is unloaded and the file is gone", async () => {
    const print = [
      { code: 0, stdout: "gui/501/local.beckon = {\n\tstate = not running\n}\n", stderr: "" },
      { code: 113, stdout: "", stderr: "Could not find service" },
    ];
    const { item, told } = agent({ print });
    await item.enable({ binary: "/opt/beckon", home: null });
    expect(await item.disable()).toContain("no longer starts");
    expect(told.at(-1)).toBe("/bin/launchctl bootout gui/501/local.beckon");
    expect(existsSync(plist())).toBe(false);
    expect(await item.disable()).toBeNull();
  });

  test("off while it runs, it goes on running", async () => {
    const stdout = "gui/501/local.beckon = {\n\tstate = running\n\tpid = 77\n}\n";
    const { item, told } = agent({ print: [{ code: 0, stdout, stderr: "" }] });
    await item.enable({ binary: "/opt/beckon", home: null });
    told.length = 0;
    expect(await item.disable()).toContain("no longer starts");
    expect(told).toEqual(["/bin/launchctl print gui/501/local.beckon"]);
    expect(existsSync(plist())).toBe(false);
  });

  test.each([
    ['"local.beckon" => disabled', true],
    ['"local.beckon" => true', true],
    ['"local.beckon" => enabled', false],
    ['"local.beckon.other" => disabled', false],
  ])("print-disabled says %j: turned off is %p", async (line, turnedOff) => {
    const stdout = `disabled services = {\n\t\t"com.example" => disabled\n\t\t${line}\n\t}\n`;
    const { item } = agent({ "print-disabled": [{ code: 0, stdout, stderr: "" }] });
    const binary = join(home, "beckon");
    writeFileSync(binary, "");
    await item.enable({ binary, home: null });
    expect(await item.state()).toMatchObject({ on: !turnedOff, turnedOff, binary });
  });

  test("whatever the path is called, it is read as it was written", () => {
    const anyPath = fc.string({ unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(anyPath, fc.option(anyPath), (binary, folder) => {
        expect(binaryIn(plistText({ binary, home: folder }))).toBe(binary);
      }),
    );
  });

  testWith("python3")("the file is a property list, and says when to start it and when not", async () => {
    const path = join(home, "x.plist");
    writeFileSync(path, plistText({ binary: "/Users/a & b/<bin>/beckon", home: "/Users/a & b/]]>" }));
    const read = "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
    const { stdout, stderr } = Bun.spawnSync(["python3", "-c", read, path]);
    expect(stderr.toString()).toBe("");
    expect(JSON.parse(stdout.toString())).toEqual({
      Label: "local.beckon",
      ProgramArguments: ["/Users/a & b/<bin>/beckon", "run", "--at-login", "--home=/Users/a & b/]]>"],
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      LimitLoadToSessionType: "Aqua",
      ProcessType: "Interactive",
    });
  });
});

describe("on Windows", () => {
  const run = "Software\\Microsoft\\Windows\\CurrentVersion\\Run beckon";
  const approved = "Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run beckon";

  function machine(failing: string | null = null) {
    const values = new Map<string, Buffer>();
    const registry: Registry = {
      read: (key, name) => values.get(`${key} ${name}`) ?? null,
      write(key, name, text) {
        if (failing) return failing;
        values.set(`${key} ${name}`, Buffer.from(`${text}\0`, "utf16le"));
        return null;
      },
      remove: (key, name) => void values.delete(`${key} ${name}`),
    };
    return { values, item: runKeyLogin(registry, "C:\\Windows") };
  }

  test("a console without a window runs it; paths may hold spaces, and end as they like", () => {
    expect(runValue({ binary: "C:\\Users\\Ann Lee\\beckon.exe", home: null }, "C:\\Windows")).toBe(
      'C:\\Windows\\System32\\conhost.exe --headless "C:\\Users\\Ann Lee\\beckon.exe" run --at-login',
    );
    expect(runValue({ binary: "C:\\b.exe", home: "D:\\my state\\" }, "C:\\Windows")).toEndWith(
      '"C:\\b.exe" run --at-login "--home=D:\\my state\\\\"',
    );
  });

  test("on, turned off in Task Manager, on because asked for, off", async () => {
    const { values, item } = machine();
    const binary = join(home, "beckon.exe");
    writeFileSync(binary, "");
    expect((await item.state()).on).toBe(false);
    await item.enable({ binary, home: null });
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

  test("what Windows would pass over without a word is refused aloud", async () => {
    const { values, item } = machine();
    await expect(item.enable({ binary: `C:\\${"x".repeat(260)}.exe`, home: null })).rejects.toThrow("260");
    await expect(item.enable({ binary: 'C:\\a" /c "evil', home: null })).rejects.toThrow("quotes");
    expect(values.has(run)).toBe(false);
    await expect(machine("no right to").item.enable({ binary: "C:\\b.exe", home: null })).rejects.toThrow(
      "no right to",
    );
  });
});
