/** `beckon machine add` and `remove` against machines behind a real ssh, as a user who is not root there. */
import { describe, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { home } from "../agent/namespace.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { type Host, labNeeds } from "./lab.ts";
import { openLaptop } from "./laptop.ts";

const soonMs = 20_000;

/** Every file of the user's, but not those of beckon's own state. */
const listHome = ({ folder }: Host): string[] =>
  readdirSync(folder, { recursive: true }).map(String).toSorted();

const runsBeckon = ({ space }: Host): boolean =>
  space.listProcesses().some((command) => /\/beckon run\b/.test(command));

describe("beckon machine add", () => {
  testWith(...labNeeds)(
    "sets a machine up in one command, asks first, and can be run again",
    async () => {
      await using laptop = await openLaptop();
      const { app, lab, run } = laptop;
      const devbox = await lab.openHost("devbox");
      await devbox.run(["mkdir", "-p", ".claude"]);
      const before = listHome(devbox);
      const planned = await run("machine", "add", "devbox", "--dry-run");
      expect(planned.stdout).toContain("Linux x64, glibc");
      expect(planned.stdout).toMatch(/1\. copy beckon \(\d+ MB\) to \/home\/dev\/\.local\/bin\/beckon\n/);
      expect(await run("machine", "add", "devbox")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("there is no terminal to ask in. Add --yes"),
      });
      expect(await laptop.runInTerminal("n", "machine", "add", "devbox")).toMatchObject({ code: 1 });
      expect(listHome(devbox)).toEqual(before);
      expect(existsSync(app.paths.config)).toBe(false);

      await laptop.start();
      const added = await laptop.runInTerminal("", "machine", "add", "devbox");
      expect(added).toMatchObject({ code: 0 });
      for (const step of ["1. Copying", "2. Connecting", "3. Starting", "4. Linking", "5. Saving"])
        expect(added.screen).toContain(step);
      expect(added.screen).toContain("A test event from there arrived here.");
      expect(added.screen).toMatch(
        /hooks +✓ all \d+ events registered in \/home\/dev\/\.claude\/settings\.json/,
      );
      // Every ssh of the command has ended: what was started there goes on.
      expect(runsBeckon(devbox)).toBe(true);
      await waitUntil(() => laptop.isLinked("devbox"), soonMs);
      // The test event was not shown as a session.
      expect(await app.fetchSessions()).toEqual([]);
      const { stdout: listening } = await devbox.run(["ss", "-Hltn"]);
      expect(listening.split("\n").filter((row) => row && !/\s127\.0\.0\.1:|:22\s/.test(row))).toEqual([]);

      const placed = join(devbox.folder, ".local/bin/beckon");
      const [file, hooks] = [
        statSync(placed),
        readFileSync(join(devbox.folder, ".claude/settings.json"), "utf8"),
      ];
      const again = await run("machine", "add", "devbox", "--yes");
      expect(again).toMatchObject({ code: 0, stdout: expect.not.stringContaining("Copying") });
      expect(statSync(placed).ino).toBe(file.ino);
      expect(readFileSync(join(devbox.folder, ".claude/settings.json"), "utf8")).toBe(hooks);

      const { stdout: removed } = await run("machine", "remove", "devbox");
      const command = /beckon stays installed there\. To remove it too: (.*)\n/.exec(removed)?.[1] ?? "";
      const shell = laptop.spawn(["sh", "-c", command]);
      expect(await shell.exited).toBe(0);
      expect([existsSync(placed), runsBeckon(devbox)]).toEqual([false, false]);
    },
    60_000,
  );

  testWith(...labNeeds)(
    "what keeps beckon from a machine is one clear line, and nothing is left behind there",
    async () => {
      await using laptop = await openLaptop();
      const { app, lab, run } = laptop;
      const refused = async (host: string, why: string | RegExp, ...more: string[]) => {
        const result = await run("machine", "add", host, "--yes", ...more);
        expect(result.code).toBe(1);
        expect(result.stdout).toMatch(why);
        expect(result.stdout).toContain("Nothing was changed.");
      };
      const box = await lab.openHost("box");
      const foreign = join(app.home, "beckon-linux-arm64");
      const header = readFileSync(binary).subarray(0, 65_536);
      header.writeUInt16LE(0xb7, 18);
      writeFileSync(foreign, header);
      await refused(
        "box",
        /is built for Linux arm64, but this machine is Linux x64\.\n/,
        "--binary",
        foreign,
      );
      await refused("box", /may not write to \/usr\/local there\./, "--program", "/usr/local/beckon/beckon");
      writeFileSync(join(box.folder, "other"), "#!/bin/sh\necho other 1\n", { mode: 0o755 });
      await refused("box", /\/home\/dev\/other there is another program\./, "--program", `${home}/other`);
      expect(listHome(box)).toEqual(["other"]);

      const mountHome = (options: string) =>
        box.space.run(["mount", "-t", "tmpfs", "-o", `uid=1001,gid=1001,${options}`, "tmpfs", home], {
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        });
      await mountHome("noexec");
      await refused("box", /programs may not be run in \/home\/dev there \(it is mounted with noexec\)/);
      await mountHome("size=20m");
      await refused("box", /has 2\d MB free there, and beckon needs 12\d MB\./);
      expect(readdirSync(join(box.space.root, home))).toEqual([]);
      expect(existsSync(app.paths.config)).toBe(false);

      box.allowLogin(false);
      const denied = await run("machine", "add", "box", "--yes");
      expect(denied.stdout).toContain("box: ssh may not log in there without a password.\n");
      expect(denied.stdout).toContain("To see why: ssh box. Then: beckon machine add box\n");
    },
    60_000,
  );

  testWith(...labNeeds)(
    "a name that another machine has is not taken over",
    async () => {
      await using laptop = await openLaptop();
      mkdirSync(dirname(laptop.app.paths.config), { recursive: true });
      const config = '{"machines": {"devbox": {"ssh": "me@devbox"}}}';
      writeFileSync(laptop.app.paths.config, config);
      const { code, stderr } = await laptop.run("machine", "add", "gpu", "--name", "devbox", "--yes");
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("devbox is another machine already (ssh me@devbox): choose another name"),
      ]);
      expect(readFileSync(laptop.app.paths.config, "utf8")).toBe(config);
    },
    60_000,
  );

  testWith(...labNeeds)(
    "a host that looks like an option is refused before anything is run",
    async () => {
      await using laptop = await openLaptop();
      for (const host of ["-oProxyCommand=touch evil", "--", "a b"]) {
        const { code, stderr } = await laptop.run("machine", "add", "--yes", "--", host);
        expect(code).toBe(2);
        expect(stderr).toContain("cannot be linked: it must be one word that does not start with a dash");
      }
    },
    60_000,
  );
});
