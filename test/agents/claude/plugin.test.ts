/** The plugin's files: what is registered, and the script that finds beckon. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import marketplace from "../../../.claude-plugin/marketplace.json";
import { createPluginFiles } from "../../../hooks/plugin.ts";
import { eventsKnownTo, hooksFor, hookTable } from "../../../src/agents/claude/hooks.ts";
import { copyScript, recordFolder } from "../../known-folder.ts";
import { testWith } from "../../needs.ts";
import { claudePlugin } from "../../repo.ts";

test("the plugin is what hooks/plugin.ts writes: run it after a change of claude.json or of the version", async () => {
  const found = [...new Bun.Glob("**/*.json").scanSync({ cwd: claudePlugin, dot: true })];
  expect(found.sort()).toEqual([...createPluginFiles().keys()].sort());
  for (const [path, text] of createPluginFiles())
    expect(await Bun.file(join(claudePlugin, path)).text()).toBe(text);
});

test("the marketplace points to it", () => {
  expect(marketplace.plugins.map(({ source }) => join(claudePlugin, "../..", source))).toEqual([
    claudePlugin,
  ]);
});

test("every event that no status file replaces is registered, each in a file that every CLI accepts that knows its events", () => {
  const files = [...createPluginFiles()].filter(([path]) => path.startsWith("hooks/"));
  const eventsIn = (text: string) => Object.keys((JSON.parse(text) as { hooks: object }).hooks);
  const all = files.flatMap(([, text]) => eventsIn(text));
  expect(all.sort()).toEqual(
    hooksFor("2.1.325")
      .map(({ event }) => event as string)
      .sort(),
  );
  for (const [path, text] of files) {
    const since = /since-(.+)\.json$/.exec(path)?.[1] ?? hookTable.assumedVersion;
    expect(eventsIn(text).filter((event) => !eventsKnownTo(since).has(event))).toEqual([]);
  }
});

describe("its script", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "beckon plugin-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const shells = [["sh"], ["dash"], ["busybox", "sh"]];

  /** A stand-in that says how it was called. */
  function put(place: string, end = "exit 0"): void {
    const path = join(folder, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\nread -r event\necho "${place} $* $PWD $event"\n${end}\n`);
    chmodSync(path, 0o755);
  }

  async function run(shell: readonly string[], env: Record<string, string> = {}, cwd = folder) {
    const child = Bun.spawn([...shell, copyScript(join(claudePlugin, "hooks/beckon.sh"), folder)], {
      cwd,
      env: { PATH: "/usr/bin:/bin", HOME: join(folder, "home"), ...env },
      stdin: new Blob(["{}\n"]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return { stdout: stdout.trim(), code };
  }

  for (const shell of shells) {
    const name = shell.join(" ");
    const testIt = testWith(...shell);

    testIt(`${name}: calls the installed beckon, from /`, async () => {
      put("home/.local/bin/beckon");
      expect(await run(shell)).toEqual({ stdout: "home/.local/bin/beckon hook claude / {}", code: 0 });
    });

    testIt(
      `${name}: finds it where BECKON_HOME says, if the user has run beckon there, where Windows keeps programs, and in the PATH`,
      async () => {
        put("own/bin/beckon");
        put("local/Programs/beckon/beckon.exe");
        put("path/beckon");
        const said = async (env: Record<string, string>) => (await run(shell, env)).stdout.split(" ")[0];
        const own = { BECKON_HOME: join(folder, "own") };
        expect(await said(own)).toBe("");
        recordFolder(join(folder, "home"), own.BECKON_HOME);
        expect(await said(own)).toBe("own/bin/beckon");
        expect(await said({ LOCALAPPDATA: join(folder, "local") })).toBe("local/Programs/beckon/beckon.exe");
        expect(await said({ PATH: `${folder}/path:/usr/bin:/bin` })).toBe("path/beckon");
      },
    );

    testIt(`${name}: without one, with a broken one, and with one that fails it ends with 0`, async () => {
      const quiet = { stdout: "", code: 0 };
      expect(await run(shell)).toEqual(quiet);
      put("home/.local/bin/beckon", "exit 3");
      expect((await run(shell)).code).toBe(0);
      put("home/.local/bin/beckon", "kill -9 $$");
      expect((await run(shell)).code).toBe(0);
      mkdirSync(join(folder, "folder/.local/bin/beckon"), { recursive: true });
      expect(await run(shell, { HOME: join(folder, "folder") })).toEqual(quiet);
    });

    testIt(`${name}: takes none from the project's folder`, async () => {
      put("beckon");
      put("node_modules/.bin/beckon");
      expect(await run(shell, { PATH: "node_modules/.bin:.:/usr/bin:/bin" })).toEqual({
        stdout: "",
        code: 0,
      });
    });
  }
});
