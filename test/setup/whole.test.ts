/** The built binary, run in a terminal: what it prints, installs and removes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../../package.json";
import { hooksFor } from "../../src/agents/claude/hooks.ts";
import { agents } from "../../src/agents/index.ts";
import { readEndpoint } from "../../src/system/endpoint.ts";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { testWith } from "../needs.ts";
import { binary as builtBinary, mainSource } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type Home, removeHomes, temporaryHome } from "./home.ts";

/** What the CLI of these tests gets. */
const hookCount = hooksFor("2.1.325").length;

let folder = "";
let binary = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-install-"));
  chmodSync(folder, 0o755);
  binary = join(folder, "beckon");
  copyFileSync(builtBinary, binary);
});
afterAll(() => {
  removeHomes();
  rmSync(folder, { recursive: true, force: true });
});

interface How {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly program?: string;
  readonly before?: readonly string[];
}

async function run(
  home: Home,
  args: readonly string[],
  { env = {}, cwd, program = binary, before = [] }: How = {},
) {
  const child = Bun.spawn([...before, program, ...args], {
    cwd: cwd ?? home.home,
    env: { ...home.env, PATH: `${home.env.PATH}:/usr/bin:/bin`, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err, code: await child.exited };
}

const theirs =
  '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}';
const stable = (home: Home) => home.at(".local", "bin", "beckon");

describe("install and uninstall", () => {
  test("install, install again, uninstall: the home folder is as before, byte for byte", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs, 0o644);
    home.claude("2.1.325");
    const before = home.tree();

    const first = await run(home, ["--install"]);
    expect(first).toMatchObject({ err: "", code: 0 });
    expect(first.out).toContain(`Found Claude Code 2.1.325 at ~/programs/claude.\n`);
    expect(first.out).toContain(`Copied beckon ${version} to ~/.local/bin/beckon.\n`);
    expect(first.out).toContain(
      `Registered ${hookCount} hooks in ~/.claude/settings.json.\n  Backup of the file: ~/.local/state/beckon/backups/`,
    );
    expect(first.out).toContain(
      'add this line to your shell\'s profile: export PATH="$HOME/.local/bin:$PATH"\n',
    );
    expect(first.out).toContain(
      "There is no desktop here, so beckon is not started. For alerts on your phone: ~/.local/bin/beckon channel add phone. Start it with: ~/.local/bin/beckon start\n",
    );
    expect(listOwnHooks(home.read())).toHaveLength(hookCount);

    const installed = home.tree();
    const second = await run(home, ["--install"], { program: stable(home) });
    expect(second).toMatchObject({ err: "", code: 0 });
    expect(second.out).toStartWith("Everything is in place already.\n");
    expect(home.tree()).toEqual(installed);

    const look = await run(home, ["--uninstall", "--dry-run"], { program: stable(home) });
    expect(look.out).toContain(
      `Would restore ~/.claude/settings.json as it was before the install.\nWould remove ~/.local/bin/beckon.\n`,
    );
    expect(home.tree()).toEqual(installed);

    const gone = await run(home, ["--uninstall"], { program: stable(home) });
    expect(gone).toEqual({
      out: "Restored ~/.claude/settings.json as it was before the install.\nRemoved ~/.local/bin/beckon.\n",
      err: "",
      code: 0,
    });
    expect(home.tree()).toEqual(before);
    expect(await run(home, ["--uninstall"])).toEqual({
      out: "There is nothing to uninstall.\n",
      err: "",
      code: 0,
    });
  });

  test("uninstalling one scope leaves the hooks of the others, and beckon itself", async () => {
    const home = temporaryHome();
    const cwd = home.at("project");
    mkdirSync(cwd);
    const project = join(cwd, ".claude", "settings.json");
    await run(home, ["--install"], { cwd });
    await run(home, ["--install", "--scope", "project"], { cwd, program: stable(home) });
    expect(existsSync(project)).toBe(true);

    const planned = await run(home, ["--uninstall", "--scope", "project", "--dry-run"], { cwd });
    expect(planned.out).toBe(
      "This is what beckon --uninstall would do. Nothing has been changed.\nWould remove ~/project/.claude/settings.json, which the install had created.\n",
    );
    expect(existsSync(project)).toBe(true);

    const gone = await run(home, ["--uninstall", "--scope", "project"], { cwd, program: stable(home) });
    expect(gone).toEqual({
      out: "Removed ~/project/.claude/settings.json, which the install had created.\n",
      err: "",
      code: 0,
    });
    expect(readdirSync(cwd)).toEqual([]);
    expect(listOwnHooks(home.read()).length).toBeGreaterThan(0);
    expect(existsSync(stable(home))).toBe(true);
    expect(home.installed()?.files.map(({ path }) => path)).toEqual([home.settings]);

    const rest = await run(home, ["--uninstall", "--agent", "claude"], { program: stable(home) });
    expect(rest.out).toBe("Removed ~/.claude/settings.json, which the install had created.\n");
    expect(existsSync(stable(home))).toBe(true);
  });

  test("an uninstall leaves the plugin, and says how to remove it", async () => {
    const home = temporaryHome();
    const stays =
      "The plugin beckon@beckon stays in Claude Code. To remove it too: claude plugin uninstall beckon@beckon\n";
    home.put(home.settings, '{"enabledPlugins": {"beckon@beckon": true}}');
    expect((await run(home, ["--uninstall"])).out).toBe(`There is nothing to uninstall.\n${stays}`);
    await run(home, ["--install"]);
    for (const more of [["--dry-run"], []]) {
      const { out, err, code } = await run(home, ["--uninstall", ...more], { program: stable(home) });
      expect({ err, code }).toEqual({ err: "", code: 0 });
      expect(out).toEndWith(`beckon.\n${stays}`);
    }
    expect(home.read()).toBe('{"enabledPlugins": {"beckon@beckon": true}}');
  });

  test("--dry-run says in a few lines what would happen, and changes nothing", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    const before = home.tree();
    const { out, code } = await run(home, ["--install", "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toStartWith("This is what beckon --install would do. Nothing has been changed.\n");
    expect(out).toMatch(/^Would register \d+ hooks in .*\.\n[\s\S]*^There is no desktop here, /m);
    expect(out).toEndWith("\n\nTo see every line that would change: beckon --install --dry-run --diff\n");
    expect(out).not.toContain("@@");
    expect(out.split("\n").length).toBeLessThan(12);
    expect(home.tree()).toEqual(before);
  });

  test("--dry-run --diff shows every line after the summary, and changes nothing", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    const before = home.tree();
    const { out, code } = await run(home, ["--install", "--dry-run", "--diff"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /Would register \d+ hooks in .*\.\n[\s\S]*There is no desktop here, [\s\S]*:\n@@[\s\S]*^\+.*beckon' hook claude/m,
    );
    expect((await run(home, ["--install", "--diff"])).err).toContain("--diff goes with --dry-run");
    // The diff shows paths as they would be in the file, without ~.
    expect(out).toContain(`'${stable(home)}' hook claude`);
    expect(home.tree()).toEqual(before);
  });

  test("--dry-run with several agents lists them first", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    home.put(home.at(".codex", "config.toml"), "");
    const { out } = await run(home, ["--install", "--dry-run"]);
    expect(out).toMatch(
      /^This connects 2 agents:\n {2}Claude Code: \d+ hooks in .*\n {2}Codex: 12 hooks in /m,
    );
    const { out: whole } = await run(home, ["--install", "--dry-run", "--diff"]);
    expect(whole).toMatch(/settings\.json:\n@@[\s\S]*hooks\.json:\n@@/);
  });

  test("--dry-run says what would change at login", async () => {
    const home = temporaryHome();
    // A display that is not of this machine, as with `ssh -X`.
    const env = { DISPLAY: "elsewhere:10" };
    const look = () => run(home, ["--install", "--dry-run", "--login"], { program: stable(home), env });
    const first = await run(home, ["--install", "--dry-run", "--login"], { env });
    expect(first.out).toContain("Would start beckon when you log in.\n");
    expect((await run(home, ["--install", "--login"], { env })).code).toBe(0);
    expect((await look()).out).toContain("beckon already starts when you log in.\n");
    await run(home, ["--uninstall"], { program: stable(home), env });
    expect(existsSync(home.at(".config"))).toBe(false);
  });

  test("--login without a desktop and systemd says that nothing would start beckon, and writes nothing", async () => {
    const home = temporaryHome();
    const env = { XDG_RUNTIME_DIR: home.at("run") };
    await run(home, ["--install"], { env });
    const before = home.tree();
    const obstacle =
      "there is no desktop here, and systemd runs no services for you, so nothing would start beckon at login. " +
      "To start it when you log in to a shell, add this line to your shell's profile: beckon start >/dev/null";
    const plan = await run(home, ["--install", "--login", "--dry-run"], { program: stable(home), env });
    expect(plan.out).toContain(`Would not add a login item: ${obstacle}`);
    const { out, code } = await run(home, ["--install", "--login"], { program: stable(home), env });
    expect(out).toContain(`The login item could not be added: ${obstacle}`);
    expect(code).toBe(1);
    expect(home.tree()).toEqual(before);
  });

  test("without a desktop, an install says what runs beckon: a service that is there is not offered again", async () => {
    const home = temporaryHome();
    mkdirSync(home.at("run", "systemd"), { recursive: true, mode: 0o700 });
    const env = { XDG_RUNTIME_DIR: home.at("run") };
    const first = await run(home, ["--install"], { env });
    expect(first.out).toContain(
      "To run it now and whenever you log in: ~/.local/bin/beckon --install --login (a systemd user service; after a reboot it runs without a login only with loginctl enable-linger).",
    );
    expect((await run(home, ["--install", "--login"], { env })).code).toBe(0);
    const { out } = await run(home, ["--install"], { program: stable(home), env });
    expect(out).toContain("beckon is not running. It starts when you log in. Start it with:");
    expect(out).not.toContain("--install --login");
  }, 20_000);

  test("an uninstall prints a command to remove what is kept", async () => {
    const home = temporaryHome();
    await run(home, ["--install"]);
    home.put(home.places.hookLog, "");
    home.put(home.places.config, "{}");
    const { out } = await run(home, ["--uninstall"], { program: stable(home) });
    const [state, settings] = [home.places.state, dirname(home.places.config)];
    const command = `rm -r '${state}' '${settings}'`;
    expect(out).toEndWith(
      `Kept beckon's data (~/.local/state/beckon) and your settings (~/.config/beckon). To remove them too: ${command}\n`,
    );
    expect(Bun.spawnSync(["sh", "-c", command]).exitCode).toBe(0);
    expect([state, settings].filter((path) => existsSync(path))).toEqual([]);
  });

  test("the registered hook reaches the running app, and an uninstall stops the app", async () => {
    const home = temporaryHome();
    await run(home, ["--install"]);
    const hook = listOwnHooks(home.read()).find(({ event }) => event === "UserPromptSubmit");
    const app = Bun.spawn([stable(home)], {
      env: { ...home.env, BECKON_PORT: "23488" },
      stdout: "pipe",
      stderr: "pipe",
    });
    await waitUntil(() => existsSync(home.places.endpoint), 5_000);
    const event = { session_id: "s1", hook_event_name: "UserPromptSubmit", cwd: home.home, prompt: "go" };
    const called = Bun.spawnSync(["/bin/sh", "-c", hook?.command ?? ""], {
      env: home.env,
      stdin: Buffer.from(JSON.stringify(event)),
    });
    expect(called).toMatchObject({ exitCode: 0 });
    expect(called.stdout.toString() + called.stderr.toString()).toBe("");
    expect((await run(home, ["status", "--json"])).out).toContain('"s1"');

    const again = await run(home, ["--install"]);
    expect(again.out).toContain(`beckon is running (pid ${app.pid}).\n`);
    const gone = await run(home, ["--uninstall", "--purge"], { program: stable(home) });
    expect(gone).toMatchObject({ err: "", code: 0 });
    expect(gone.out).toStartWith("Stopped beckon.\n");
    expect(await app.exited).toBe(0);
    expect(existsSync(home.places.state)).toBe(false);
    expect(existsSync(home.settings)).toBe(false);
    // A session that still calls the removed hook sees no error.
    const late = Bun.spawnSync(["/bin/sh", "-c", hook?.command ?? ""], {
      env: home.env,
      stdin: Buffer.from("{}"),
    });
    expect([late.exitCode, late.stdout.toString() + late.stderr.toString()]).toEqual([0, ""]);
  }, 30_000);

  test("after an update, an uninstall restores the home folder too", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    const before = home.tree();
    await run(home, ["--install"]);
    const newer = join(folder, "newer");
    copyFileSync(binary, newer);
    appendFileSync(newer, "\n");
    const { out } = await run(home, ["--install"], { program: newer });
    expect(out).toContain("Copied beckon");
    home.put(home.places.authHeader, "");
    expect(await run(home, ["--uninstall", "--purge"])).toMatchObject({ err: "", code: 0 });
    expect(home.tree()).toEqual(before);
  });

  test("with BECKON_HOME everything is in that folder, and the hooks name it", async () => {
    const home = temporaryHome();
    const env = { BECKON_HOME: home.at("my beckon's") };
    const { code } = await run(home, ["--install"], { env });
    expect(code).toBe(0);
    expect(existsSync(home.at("my beckon's", "bin", "beckon"))).toBe(true);
    // Hooks use the folder because this file names it.
    const others = [...new Bun.Glob("**").scanSync({ cwd: home.at(".local"), dot: true })];
    expect(others).toEqual(["state/beckon/beckon-folders"]);
    const { command = "" } = listOwnHooks(home.read())[0] ?? {};
    const spooled = Bun.spawnSync(["/bin/sh", "-c", command], {
      env: home.env,
      stdin: Buffer.from('{"session_id":"s1","hook_event_name":"Stop"}'),
    });
    expect(spooled.exitCode).toBe(0);
    expect(readFileSync(home.at("my beckon's", "spool.jsonl"), "utf8")).toContain('"s1"');
    expect(await run(home, ["--uninstall", "--purge"], { env })).toMatchObject({ err: "", code: 0 });
    expect(readdirSync(home.home)).toEqual([]);
  });

  test("hooks of a beckon in another folder are removed too, and that folder is named", async () => {
    const home = temporaryHome();
    const env = { BECKON_HOME: home.at("portable") };
    home.put(home.settings, theirs);
    await run(home, ["--install"], { env });
    const { out, code } = await run(home, ["--uninstall"]);
    expect(code).toBe(0);
    expect(out).toContain(`To remove it: BECKON_HOME='${home.at("portable")}' beckon --uninstall\n`);
    await run(home, ["--uninstall", "--purge"], { env });
    expect(existsSync(home.at("portable"))).toBe(false);
    expect(home.read()).toBe(theirs);
  });

  test("an uninstall finds a project's settings from another folder", async () => {
    const home = temporaryHome();
    const cwd = home.at("project");
    mkdirSync(cwd);
    await run(home, ["--install", "--scope", "local"], { cwd });
    await run(home, ["--install", "--scope=project"], { cwd });
    expect(readdirSync(join(cwd, ".claude")).sort()).toEqual(["settings.json", "settings.local.json"]);
    expect((await run(home, ["--uninstall"])).code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("several at once", () => {
  test("ten installs into the same settings leave one set of hooks", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    home.claude("2.1.325");
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        run(home, ["--install"], { env: n % 2 === 0 ? {} : { BECKON_HOME: home.at(`b${n}`) } }),
      ),
    );
    expect(all.map(({ err, code }) => `${code} ${err}`)).toEqual(all.map(() => "0 "));
    expect(listOwnHooks(home.read())).toHaveLength(hookCount);
    expect(JSON.parse(home.read())).toMatchObject({ model: "opus" });
    expect(home.read()).toContain('{"hooks": [{"type": "command", "command": "say done"}]}');
    expect(readdirSync(home.at(".claude"))).toEqual(["settings.json"]);
    expect(readdirSync(home.at(".local", "bin"))).toEqual(["beckon"]);
  }, 60_000);

  test("installs and uninstalls leave everything or nothing", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, n) => run(home, [n % 2 === 0 ? "--install" : "--uninstall"])),
      );
      expect(all.map(({ err, code }) => `${code} ${err}`)).toEqual(all.map(() => "0 "));
      const isInstalled = listOwnHooks(home.read()).length > 0;
      expect([existsSync(stable(home)), home.installed() !== null]).toEqual([isInstalled, isInstalled]);
    }
    await run(home, ["--uninstall"]);
    expect(home.read()).toBe(theirs);
    expect(existsSync(home.places.state)).toBe(false);
  }, 60_000);

  test("an uninstall removes everything that a killed install left", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    await run(home, ["--install"]);
    for (let round = 0; round < 10; round++) {
      const child = Bun.spawn([binary, round % 2 === 0 ? "--uninstall" : "--install"], {
        env: { ...home.env },
        stdio: ["ignore", "ignore", "ignore"],
      });
      await letTimePass(30 + 25 * round, "it is killed at another moment each time");
      child.kill("SIGKILL");
      await child.exited;
      expect([theirs, expect.stringContaining("hook claude")]).toContainEqual(home.read());
    }
    expect(await run(home, ["--install"])).toMatchObject({ err: "", code: 0 });
    expect(listOwnHooks(home.read())).not.toEqual([]);
    expect(await run(home, ["--uninstall"])).toMatchObject({ err: "", code: 0 });
    expect(home.read()).toBe(theirs);
    expect(readdirSync(home.at(".claude"))).toEqual(["settings.json"]);
    expect(existsSync(stable(home))).toBe(false);
    expect(existsSync(`${home.places.installed}.beckon-lock`)).toBe(false);
  }, 60_000);

  test("ten projects are all recorded", async () => {
    const home = temporaryHome();
    const folders = Array.from({ length: 10 }, (_, n) => home.at(`p${n}`));
    for (const cwd of folders) mkdirSync(cwd);
    await Promise.all(folders.map((cwd) => run(home, ["--install", "--scope", "project"], { cwd })));
    expect(
      home
        .installed()
        ?.files.map(({ path }) => path)
        .sort(),
    ).toEqual(folders.map((cwd) => join(cwd, ".claude", "settings.json")));
  }, 60_000);
});

const agentIds = agents.map(({ id }) => id).join(", ");

describe("an error is one line", () => {
  test.each([
    [
      ["--install", "--scope", "galaxy"],
      '--scope takes user, project, local, but not "galaxy". See beckon help install.',
    ],
    [["--install", "--scope"], "--scope needs a value: --scope user|project|local. See beckon help install."],
    [
      ["--install", "--agent", "hal"],
      `beckon does not know the agent "hal": it knows ${agentIds}. See beckon help install.`,
    ],
    [["--install", "--agent"], `--agent needs a name: ${agentIds}. See beckon help install.`],
    [
      ["--install", "--login", "--no-login"],
      "--login and --no-login exclude each other. See beckon help install.",
    ],
    [
      ["--install", "--force"],
      'unknown option "--force": --install takes --dry-run, --diff, --login, --no-login, --statusline, --no-statusline, --scope user|project|local and --agent NAME. See beckon help install.',
    ],
    [
      ["--uninstall", "--all"],
      'unknown option "--all": --uninstall takes --purge, --dry-run, --scope user|project|local and --agent NAME. See beckon help uninstall.',
    ],
    [
      ["--uninstall", "--purge", "--scope", "user"],
      "--purge removes everything: it excludes --scope and --agent. See beckon help uninstall.",
    ],
  ])("%j", async (args, says) => {
    const home = temporaryHome();
    const err = says.startsWith("beckon ") ? `${says}\n` : `beckon: ${says}\n`;
    expect(await run(home, args)).toEqual({ out: "", err, code: 2 });
    expect(readdirSync(home.home)).toEqual([]);
  });

  test("--agent claude is the default", async () => {
    const home = temporaryHome();
    expect((await run(home, ["--install", "--agent", "claude", "--dry-run"])).code).toBe(0);
    expect((await run(home, ["--install", "--agent=claude", "--dry-run"])).code).toBe(0);
  });

  test("for settings with a mistake, with line and column", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{\n  "model": "opus",\n}\n');
    const before = home.tree();
    const { out, err, code } = await run(home, ["--install"]);
    expect({ out, code }).toEqual({ out: "", code: 1 });
    expect(err).toStartWith("beckon: ~/.claude/settings.json, line 3, column 1: ");
    expect(err).toEndWith(". Nothing was changed.\n");
    expect(err.split("\n")).toHaveLength(2);
    expect(home.tree()).toEqual(before);
  });

  test.each(["/nonexistent/ann", "/dev/null", "", "relative", "/proc/self"])("HOME=%j", async (HOME) => {
    const home = temporaryHome();
    const cut = { HOME, CLAUDE_CONFIG_DIR: home.at("claude"), BECKON_HOME: home.at("state") };
    for (const args of [
      ["--install", "--dry-run"],
      ["--uninstall", "--dry-run"],
    ]) {
      expect((await run(home, args, { env: cut })).err).not.toContain("    at ");
    }
    const bare = await run(home, ["--install", "--dry-run"], { env: { HOME } });
    expect(bare.err).not.toContain("    at ");
  });

  test("for a failing step of an uninstall, and the other steps run", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    await run(home, ["--install"]);
    chmodSync(home.settings, 0o444);
    const failed = await run(home, ["--uninstall"]);
    expect(failed.code).toBe(1);
    expect(failed.err).toBe(
      `beckon: the hooks are still in ~/.claude/settings.json: ~/.claude/settings.json is read-only. To let beckon change it: chmod u+w '${home.settings}'\n`,
    );
    // Still recorded and still there, for the next try.
    chmodSync(home.settings, 0o644);
    expect(await run(home, ["--uninstall"], { program: stable(home) })).toMatchObject({ code: 0, err: "" });
    expect(home.read()).toBe(theirs);
    expect(existsSync(stable(home))).toBe(false);
  });

  test.each(["", "--purge"])(
    "--uninstall %s does not touch a folder that is not beckon's, whatever the names in it",
    async (flag) => {
      const home = temporaryHome();
      for (const name of ["helpers/letter.txt", "backups/photos.tar", "journal/diary.txt"]) {
        home.put(home.at(name), "precious");
      }
      for (const name of ["off", "launching", "lock", "bin", "config.json", "notes.123.tmp"]) {
        utimesSync(home.put(home.at(name), "precious"), 1, 1);
      }
      const before = home.tree();
      const { code } = await run(home, ["--uninstall", ...(flag ? [flag] : [])], {
        env: { BECKON_HOME: home.home },
      });
      expect(code).toBe(0);
      expect(home.tree()).toEqual(before);
    },
  );

  test("a home folder as BECKON_HOME keeps a folder with the name of one of beckon's", async () => {
    const home = temporaryHome();
    const env = { BECKON_HOME: home.home };
    const letter = home.put(home.at("helpers", "letter.txt"), "precious");
    const notes = home.put(home.at("notes.123.tmp"), "precious");
    utimesSync(notes, 1, 1);
    expect(await run(home, ["--install"], { env })).toMatchObject({ err: "", code: 0 });
    expect(await run(home, ["--uninstall", "--purge"], { env })).toMatchObject({ err: "", code: 0 });
    expect([existsSync(letter), existsSync(notes)]).toEqual([true, true]);
  });

  test("an untrusted project cannot send control characters by its name, plugins or errors", async () => {
    const home = temporaryHome();
    const cwd = home.at("p\x1b[31m\u202e");
    const file = join(cwd, ".claude", "settings.json");
    const evil = "\x1b]0;evil\x07\u202e";
    home.put(file, JSON.stringify({ enabledPlugins: { [`beckon@${evil}`]: true }, note: evil }));
    const said: string[] = [];
    const listen = async (...args: string[]) => {
      const { out, err } = await run(home, args, { cwd });
      said.push(out, err);
    };
    for (const scope of ["user", "project"]) {
      await listen("--install", "--dry-run", "--scope", scope);
      await listen("--install", "--scope", scope);
    }
    await listen("doctor");
    await listen("--uninstall", "--dry-run");
    home.put(file, `{ "${evil} beckon`);
    await listen("--install", "--scope", "project");
    await listen("--uninstall", "--dry-run");
    await listen("--uninstall");
    expect(said.filter((text) => /(?![\n\t])[\p{Cc}\u202e]/u.test(text))).toEqual([]);
    expect(said.join("")).toContain("beckon@");
  });

  test("a broken project file without beckon's hooks is ignored", async () => {
    const home = temporaryHome();
    home.put(home.at("project", ".claude", "settings.json"), "{ broken");
    expect(await run(home, ["--uninstall"], { cwd: home.at("project") })).toMatchObject({ code: 0 });
  });
});

const testAsOther = testWith("root", "linux", "setpriv");
const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

function homeOfNobody(): Home {
  const home = temporaryHome();
  home.put(home.settings, theirs);
  chmodSync(join(home.home, ".."), 0o755);
  for (const path of [home.home, home.at(".claude"), home.settings]) chownSync(path, 65_534, 65_534);
  return home;
}

describe("without root", () => {
  testAsOther("it works in their own home", async () => {
    const home = homeOfNobody();
    expect(await run(home, ["--install"], { before: asNobody })).toMatchObject({ err: "", code: 0 });
    expect(listOwnHooks(home.read()).length).toBeGreaterThan(5);
    expect(await run(home, ["--uninstall"], { before: asNobody })).toMatchObject({ err: "", code: 0 });
    expect(home.read()).toBe(theirs);
  });

  testAsOther("a folder that is root's is refused", async () => {
    const home = homeOfNobody();
    chownSync(home.at(".claude"), 0, 0);
    const { err, code } = await run(home, ["--install"], { before: asNobody });
    expect(code).toBe(1);
    expect(err).toBe(
      `beckon: ~/.claude belongs to user 0, not to you (65534). If it should be yours, chown it.\n`,
    );
    expect(home.read()).toBe(theirs);
  });

  testAsOther("a folder that is closed to them is named", async () => {
    const home = homeOfNobody();
    chmodSync(home.at(".claude"), 0o555);
    const { err, code } = await run(home, ["--install"], { before: asNobody });
    expect(code).toBe(1);
    expect(err).toBe(
      `beckon: ~/.claude/settings.json cannot be changed: you may not write there (EACCES). It is as it was.\n`,
    );
    expect(existsSync(home.places.state)).toBe(false);
  });

  testAsOther("if ~/.local/bin is not writable, the hooks call the program where it is", async () => {
    const home = homeOfNobody();
    mkdirSync(home.at(".local", "bin"), { recursive: true });
    chownSync(home.at(".local"), 65_534, 65_534);
    chownSync(home.at(".local", "bin"), 65_534, 65_534);
    chmodSync(home.at(".local", "bin"), 0o555);
    const { out, code } = await run(home, ["--install"], { before: asNobody });
    expect(code).toBe(0);
    expect(out).toContain(`So the hooks call ${binary}. Keep it there`);
    expect(listOwnHooks(home.read())[0]?.command).toContain(`'${binary}'`);
  });

  testAsOther("root with another user's home is asked to be that user", async () => {
    const home = homeOfNobody();
    const { err, code } = await run(home, ["--install"]);
    expect(code).toBe(1);
    expect(err).toContain("Run beckon as that user, without sudo.");
  });
});

test("from source it installs the build beside it", async () => {
  const home = temporaryHome();
  const { err, code } = await run(home, [mainSource, "--install"], { program: process.execPath });
  expect({ err, code }).toEqual({ err: "", code: 0 });
  expect(home.installed()?.binary).toBe(stable(home));
});

test("another build that runs is restarted with this one", async () => {
  const home = temporaryHome();
  const app = Bun.spawn([process.execPath, mainSource], {
    env: { ...home.env, BECKON_PORT: "23588", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    await waitUntil(() => existsSync(home.places.endpoint), 5_000);
    const { out } = await run(home, ["--install"]);
    expect(await app.exited).toBe(0);
    const running = readEndpoint(home.places);
    expect(out).toContain(`beckon was restarted with this version (pid ${running?.pid}).`);
    expect(readlinkSync(`/proc/${running?.pid}/exe`)).toBe(stable(home));
  } finally {
    await run(home, ["stop"]);
    app.kill("SIGKILL");
  }
});
