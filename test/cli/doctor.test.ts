/** `beckon doctor`, compiled, with real hooks, a real app and real damage, without a desktop. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../src/agents/finding.ts";
import { formatFindings, summarize } from "../../src/cli/doctor.ts";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";
import { binary } from "../repo.ts";
import {
  createLiveTest,
  createSettingsText,
  runDoctor,
  writeClaude,
  writeSettings,
} from "../setup/doctor-fixture.ts";
import { waitUntil } from "../wait-until.ts";

/** Also on a busy machine. */
const endsMs = 12_000;

let fixture: AppFixture;
let settings: string;
beforeEach(() => {
  fixture = createAppFixture();
  settings = join(fixture.claudeFolder, "settings.json");
  writeClaude(join(fixture.home, "bin"));
  writeSettings(settings, createSettingsText(fixture.paths.state));
});
afterEach(() => fixture.destroy());

const env = (more: Record<string, string> = {}) => ({
  PATH: `${join(fixture.home, "bin")}:/usr/bin:/bin`,
  ...more,
});
const start = async (more: Record<string, string> = {}) => {
  const port = String(20_000 + Math.floor(Math.random() * 40_000));
  const child = fixture.spawn([binary], { ...env(more), BECKON_PORT: port });
  await waitUntil(() => existsSync(fixture.paths.endpoint), 5_000);
  return child;
};
const doctor = (more: Record<string, string> = {}) =>
  runDoctor(() => fixture.spawn([binary, "doctor", "--json"], env(more)));
const headless = ["info icon.headless", "info notifications.headless"];
const isListed = async () =>
  (await fixture.fetchSessions()).some(({ sessionId }) => sessionId.startsWith("beckon-doctor-"));

describe("if everything works, without a desktop", () => {
  test("it finds no problem, and leaves nothing of its test", async () => {
    await start();
    const found = await doctor();
    expect(found.problems).toEqual([]);
    expect(found).toMatchObject({ ok: true, code: 0 });
    expect(found.of("hooks.registered").text).toMatch(/^all \d+ events registered in /);
    expect(found.of("live.heard").text).toContain("settings.json");
    expect(found.of("live.gone").state).toBe("ok");
    expect(found.findings.map(({ state, id }) => `${state} ${id}`)).toEqual(expect.arrayContaining(headless));
    expect(found.ms).toBeLessThan(endsMs);
    expect(await isListed()).toBe(false);
    expect(fixture.read(fixture.paths.hookLog)).toBe("");
  });

  test("its test is not a session after a restart, although it is in the journal", async () => {
    const first = await start();
    await doctor();
    expect(fixture.readJournal()).toContain("beckon-doctor-");
    first.kill("SIGKILL");
    await first.exited;
    rmSync(fixture.paths.endpoint);
    await start();
    expect(await fixture.fetchSessions()).toEqual([]);
    expect(fixture.read(fixture.paths.snapshot)).not.toContain("beckon-doctor-");
  });

  test("its table fits into 80 columns, without control characters", async () => {
    await start();
    const child = fixture.spawn([binary, "doctor"], env({ COLUMNS: "80" }));
    const [out, code] = [await child.stdout.text(), await child.exited];
    expect(code).toBe(0);
    expect(out).toMatch(/✓ all \d+ events registered in ~\/claude\/settings\.json\n/);
    expect(out).not.toContain(fixture.home);
    expect(out).toEndWith("\nEverything works, without icon and alerts (there is no desktop here).\n");
    expect(out).not.toContain("\x1b");
    expect(Math.max(...out.split("\n").map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(80);
  });
});

describe("it names what is broken", () => {
  test("no hooks", async () => {
    await start();
    rmSync(settings);
    const found = await doctor();
    expect(found.problems).toEqual(["fail hooks.none"]);
    expect(found.code).toBe(1);
    expect(found.of("hooks.none").fix).toBe("Run: beckon --install");
    expect(found.of("live.heard").text).toContain("called directly, because no hook is registered");
  });

  test("the plugin instead of registered hooks is fine", async () => {
    await start();
    writeSettings(settings, '{"enabledPlugins": {"beckon@beckon": true}}');
    const found = await doctor();
    expect(found.problems).toEqual([]);
    expect(found.of("hooks.plugin").text).toBe("registered by the plugin beckon@beckon");
    expect(found.of("live.heard").text).toContain(
      "called directly, because only Claude Code itself runs the hooks of a plugin",
    );
  });

  test("hooks that call a missing program", async () => {
    await start();
    writeSettings(settings, createSettingsText(fixture.paths.state, join(fixture.home, "gone", "beckon")));
    const found = await doctor();
    expect(found.problems).toEqual(["fail hooks.gone"]);
    expect(found.of("live.heard").text).toContain("the registered command cannot run");
  });

  test("hooks that call a program without permission to run", async () => {
    await start();
    const other = join(fixture.home, "beckon");
    writeFileSync(other, "", { mode: 0o644 });
    writeSettings(settings, createSettingsText(fixture.paths.state, other));
    expect((await doctor()).problems).toEqual(["fail hooks.not-executable"]);
  });

  test("hooks that are turned off in Claude Code", async () => {
    await start();
    const all = JSON.parse(readFileSync(settings, "utf8"));
    writeFileSync(settings, JSON.stringify({ ...all, disableAllHooks: true }));
    expect((await doctor()).problems).toEqual(["fail hooks.disabled"]);
  });

  test("hooks that are registered twice", async () => {
    await start();
    const all = JSON.parse(readFileSync(settings, "utf8"));
    all.hooks.Stop.push(...all.hooks.Stop);
    writeFileSync(settings, JSON.stringify(all));
    const found = await doctor();
    expect(found.problems).toEqual(["warn hooks.twice"]);
    expect(found.code).toBe(0);
  });

  test("settings that are not JSON, with line and column", async () => {
    await start();
    writeFileSync(settings, '{\n  "hooks": {\n    oops\n  }\n}\n');
    const found = await doctor();
    expect(found.problems).toEqual(["fail hooks.unreadable"]);
    expect(found.of("hooks.unreadable").text).toMatch(/line 3/);
  });

  test("an app that is down: the test event is spooled, and removed again", async () => {
    mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
    const waiting = '{"session_id":"s-1","hook_event_name":"Stop"}\n';
    writeFileSync(fixture.paths.spool, waiting, { mode: 0o600 });
    const found = await doctor();
    expect(found.problems).toEqual(["fail app.down"]);
    expect(found.of("live.kept").state).toBe("ok");
    expect(found.of("app.spool").text).toBe("1 event waits for beckon to start");
    for (const link of ["icon", "notifications"])
      expect(found.of(`${link}.untried`).text).toBe("not checked, because beckon is not running");
    expect(fixture.read(fixture.paths.spool)).toBe(waiting);
  });

  test("neither installed nor running: there is one thing to do", async () => {
    rmSync(settings);
    const found = await doctor();
    const status = fixture.spawn([binary, "status"], env());
    expect(await status.stderr.text()).not.toContain("spool");
    expect(await status.stdout.text()).not.toContain("spool");
    expect(found.problems).toEqual(["fail app.down", "fail hooks.none"]);
    expect([found.of("hooks.none").fix, found.of("app.down").fix]).toEqual(["Run: beckon --install", null]);
  });

  test("a test event left in the spool never becomes a session, and does not count as waiting", async () => {
    const { createRequest } = createLiveTest();
    const EVENT = JSON.stringify(createRequest("beckon-doctor-1", "a test"));
    const hook = ["sh", "-c", 'printf %s "$EVENT" | "$0" hook claude', binary];
    await fixture.spawn(hook, { ...env(), EVENT }).exited;
    // The next start is later than this.
    const old = fixture
      .read(fixture.paths.spool)
      .replaceAll(/"at":(\d+)/g, (_, at) => `"at":${Number(at) - 60_000}`);
    expect(old).toContain("beckon-doctor-1");
    writeFileSync(fixture.paths.spool, old.replaceAll(/"seq":\d+/g, '"seq":null'));
    const found = await doctor();
    expect(found.findings.filter(({ id }) => id === "app.spool")).toEqual([]);
    await start();
    expect(await fixture.fetchSessions()).toEqual([]);
  });

  test("an app that hangs: doctor names its pid, and does not hang itself", async () => {
    const app = await start();
    app.kill("SIGSTOP");
    const found = await doctor();
    app.kill("SIGCONT");
    expect(found.problems).toEqual(["fail app.silent"]);
    expect(found.of("app.silent").fix).toContain(`kill ${app.pid}`);
    expect(found.of("live.kept").state).toBe("ok");
    expect(found.ms).toBeLessThan(endsMs);
    // Once it runs again, it gets the event of doctor's test. That session ends at once and leaves no hook error.
    await waitUntil(() => fixture.readJournal().includes("beckon-doctor-"), 10_000);
    await waitUntil(async () => !(await isListed()), 10_000);
    const status = fixture.spawn([binary, "status"], env());
    expect(await status.stdout.text()).not.toContain("hook error");
  }, 30_000);

  test("a token that the app refuses", async () => {
    await start();
    const token = Buffer.alloc(32, 7).toString("base64url");
    writeFileSync(fixture.paths.authHeader, `Authorization: Bearer ${token}\n`);
    const found = await doctor();
    expect(found.problems).toEqual(["fail app.refused", "fail files.token-refused"]);
    expect(found.of("live.kept").state).toBe("ok");
  });

  test("a token and a folder that others can read", async () => {
    await start();
    chmodSync(fixture.paths.authHeader, 0o644);
    chmodSync(fixture.paths.state, 0o755);
    const found = await doctor();
    expect(found.problems).toEqual(["fail files.folder-mode", "fail files.token-mode"]);
    expect(found.of("files.token-mode").fix).toContain(
      `Delete ${fixture.paths.authHeader} and restart beckon`,
    );
    // It says what to do, and does nothing.
    expect(statSync(fixture.paths.authHeader).mode & 0o777).toBe(0o644);
  });

  test("a mistake in config.json", async () => {
    mkdirSync(fixture.paths.state, { mode: 0o700 });
    writeFileSync(fixture.paths.config, '{"alerts": 3}');
    await start();
    expect((await doctor()).problems).toEqual(["warn files.config"]);
  });

  test("hooks of a beckon in another folder", async () => {
    await start();
    writeSettings(settings, createSettingsText(join(fixture.home, "elsewhere")));
    const found = await doctor();
    expect(found.problems).toEqual(["fail live.unheard", "warn hooks.other-folder"]);
  });
});

describe("the files of an untrusted project", () => {
  test("a project's settings cannot have doctor run a program", async () => {
    await start();
    rmSync(settings);
    const proof = join(fixture.home, "ran");
    const evil = join(fixture.home, "project", "bin", "beckon");
    mkdirSync(join(evil, ".."), { recursive: true });
    writeFileSync(evil, `#!/bin/sh\ntouch '${proof}'\n`, { mode: 0o755 });
    writeSettings(
      join(fixture.home, "project", ".claude", "settings.json"),
      createSettingsText(fixture.paths.state, evil),
    );
    const found = await runDoctor(() =>
      Bun.spawn([binary, "doctor", "--json"], {
        cwd: join(fixture.home, "project"),
        env: { ...fixture.env, ...env() },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    expect(existsSync(proof)).toBe(false);
    expect(found.of("live.heard").text).toContain("another program than this one, and was not run");
  });

  test("control characters do not reach the terminal", async () => {
    await start();
    const hook = { type: "command", command: "beckon-\u001b[2J && beckon notify" };
    const all = JSON.parse(readFileSync(settings, "utf8"));
    all.hooks["Evil\u001b]0;gone\u0007\nEvent"] = [{ hooks: [hook] }];
    writeFileSync(settings, JSON.stringify(all));
    const child = fixture.spawn([binary, "doctor"], env());
    const out = await child.stdout.text();
    expect(out).toContain("Evil");
    expect([...out].filter((sign) => /\p{Cc}/u.test(sign) && sign !== "\n")).toEqual([]);
  });
});

describe("the table of findings", () => {
  const finding = (more: Partial<Finding>): Finding => ({
    id: "x.y",
    link: "hooks",
    state: "ok",
    text: "fine",
    fix: null,
    ...more,
  });

  test("is grouped by link, in the order in which an event passes them, with the fix below", () => {
    const lines = formatFindings(
      [
        finding({ link: "login", state: "info", text: "off" }),
        finding({ state: "fail", text: "broken", fix: "Run: beckon --install" }),
        finding({ text: "there" }),
      ],
      { columns: 60, colour: false },
    );
    expect(lines).toEqual([
      "hooks          ✗ broken",
      "                 → Run: beckon --install",
      "               ✓ there",
      "login          · off",
      "",
      "1 problem.",
    ]);
  });

  test("has the label on a line of its own in a narrow window", () => {
    const found = [finding({ state: "fail", text: "not registered: Claude Code does not call beckon" })];
    expect(formatFindings(found, { columns: 40, colour: false })).toEqual([
      "hooks",
      "  ✗ not registered: Claude Code does not",
      "    call beckon",
      "",
      "1 problem.",
    ]);
  });

  test.each([
    [[], "Everything works."],
    [["warn"], "It works, with 1 warning."],
    [["fail", "fail"], "2 problems."],
    [["fail", "warn", "warn"], "1 problem and 2 warnings."],
  ] as const)("%j is summarized as %s", (states, says) => {
    expect(summarize(states.map((state) => finding({ state })))).toBe(says);
  });

  test.each([
    ["icon.headless", [], "Everything works, without icon and alerts (there is no desktop here)."],
    [
      "icon.headless",
      ["warn"],
      "It works, with 1 warning, without icon and alerts (there is no desktop here).",
    ],
    ["icon.headless", ["fail"], "1 problem."],
    ["notifications.way", [], "Everything works, with plainer notifications (see above)."],
  ] as const)("%s and %j is summarized as: %s", (id, states, says) => {
    const limit = finding({ id, state: "info" });
    expect(summarize([limit, ...states.map((state) => finding({ state }))])).toBe(says);
  });
});

test.each([
  [["doctor", "--jsn"], 'unknown option "--jsn" for doctor: did you mean --json?'],
  [["doctor", "x"], 'doctor takes no arguments, but got "x".'],
])("%j is a usage error", async (args, says) => {
  const child = fixture.spawn([binary, ...args], env());
  expect(await child.stderr.text()).toBe(`beckon: ${says} See beckon help doctor.\n`);
  expect(await child.exited).toBe(2);
});
