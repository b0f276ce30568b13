/** The made-up agent works in every part of beckon, with nothing but its folder and its row. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agents } from "../../../src/agents/index.ts";
import { type ChannelFixture, createChannelFixture } from "../../channels/app-fixture.ts";
import { startNtfyServer } from "../../channels/servers/ntfy.ts";
import { followHome } from "../../follow-home.ts";
import { runDoctor } from "../../setup/doctor-fixture.ts";
import { waitUntil } from "../../wait-until.ts";
import { example } from "./index.ts";

const table = [...agents, example];
let folder = "";
let binary = "";
let fixture: ChannelFixture;

/** Hooks call the binary, so the table with one row more is compiled into one. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "beckon-example-"));
  binary = join(folder, "beckon");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "main.ts")],
    target: "bun",
    plugins: [followHome],
    compile: { outfile: binary, autoloadDotenv: false, autoloadBunfig: false },
  });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  fixture = createChannelFixture();
});
afterEach(() => fixture.destroy());

async function beckon(...args: string[]) {
  const child = fixture.spawn([binary, ...args]);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

/** The agent runs its plugin at every event, and reads what it prints. */
function callPlugin(payload: object) {
  const child = Bun.spawn(["/bin/sh", plugin()], {
    env: fixture.env,
    stdin: new Blob([JSON.stringify(payload)]),
    stdout: "pipe",
    stderr: "pipe",
  });
  return { child, printed: child.stdout.text() };
}

const plugin = () => join(fixture.home, ".example", "plugins", "beckon.sh");

function putProgram(): void {
  const bin = join(fixture.home, ".example", "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "example"), "#!/bin/sh\necho 1.2.3\n", { mode: 0o755 });
}

test("install finds it, shows its plugin first, and uninstall removes it again", async () => {
  putProgram();
  const planned = await beckon("--install", "--agent", "example", "--dry-run", "--diff");
  expect(planned).toMatchObject({ err: "", code: 0 });
  expect(planned.out).toContain("Found Example Agent 1.2.3 at ~/.example/bin/example.\n");
  expect(planned.out).toContain("Would register 1 plugin in ~/.example/plugins/beckon.sh");
  expect(planned.out).toContain(" hook example\n");
  expect(existsSync(plugin())).toBe(false);

  expect((await beckon("--install")).out).toContain("Registered 1 plugin in ~/.example/plugins/beckon.sh");
  expect(readFileSync(plugin(), "utf8")).toContain(" hook example\n");
  // Claude Code is not on this machine and was not requested.
  expect(existsSync(fixture.claudeFolder)).toBe(false);
  expect((await beckon("--install")).out).toContain(
    "1 plugin is registered in ~/.example/plugins/beckon.sh.",
  );

  expect((await beckon("--install", "--agent", "example", "--scope", "project")).err).toBe(
    "beckon: Example Agent has no settings of the scope project\n",
  );

  const removed = await beckon("--uninstall", "--agent", "example");
  expect(removed.out).toBe("Removed ~/.example/plugins/beckon.sh, which the install had created.\n");
  expect(existsSync(join(fixture.home, ".example", "plugins"))).toBe(false);
});

test("both agents are installed and uninstalled together", async () => {
  putProgram();
  mkdirSync(fixture.claudeFolder);
  const { out } = await beckon("--install");
  const list = out.slice(0, out.indexOf("\n\n"));
  expect(list.split("\n")).toEqual([
    "This connects 2 agents:",
    expect.stringMatching(/^ {2}Claude Code: \d+ hooks in ~\/claude\/settings\.json$/),
    "  Example Agent: 1 plugin in ~/.example/plugins/beckon.sh",
  ]);
  expect(out).toContain("Registered 1 plugin in ~/.example/plugins/beckon.sh");
  expect(out).toContain("hooks in ~/claude/settings.json");
  expect(existsSync(plugin())).toBe(true);
  const { of: find } = await runDoctor(() => fixture.spawn([binary, "doctor", "--json"]));
  expect(find("example.registered").text).toStartWith("Example Agent: 1 plugin registered in ");
  expect(find("hooks.registered").text).toStartWith("Claude Code: all ");
  await beckon("--uninstall");
  expect(existsSync(plugin())).toBe(false);
  expect(existsSync(join(fixture.claudeFolder, "settings.json"))).toBe(false);
});

test("settings that cannot be read keep only their own agent from being connected", async () => {
  putProgram();
  mkdirSync(fixture.claudeFolder);
  const settings = join(fixture.claudeFolder, "settings.json");
  writeFileSync(settings, "{ broken");
  const { out, code } = await beckon("--install");
  expect(code).toBe(0);
  expect(out).toContain("Note: Claude Code is not connected: ~/claude/settings.json");
  expect(existsSync(plugin())).toBe(true);
  expect(readFileSync(settings, "utf8")).toBe("{ broken");
  expect((await beckon("--install", "--agent", "claude")).code).toBe(1);
});

test("a plugin that was edited or whose record is lost is removed, and what was edited is kept", async () => {
  putProgram();
  await beckon("--install");
  writeFileSync(plugin(), `${readFileSync(plugin(), "utf8")}# mine\n`);
  const { out } = await beckon("--uninstall");
  expect(existsSync(plugin())).toBe(false);
  const backup = /Backup of the file: (\S+)/.exec(out)?.[1]?.replace("~", fixture.home) ?? "";
  expect(readFileSync(backup, "utf8")).toContain("# mine");
});

test("a file of the same name that beckon did not write is left alone", async () => {
  putProgram();
  mkdirSync(join(fixture.home, ".example", "plugins"));
  writeFileSync(plugin(), "echo mine\n");
  const { err, code } = await beckon("--install", "--agent", "example");
  expect(code).toBe(1);
  expect(err).toContain("not a file that beckon wrote");
  await beckon("--uninstall");
  expect(readFileSync(plugin(), "utf8")).toBe("echo mine\n");
});

test("its session is in the status, alerts the user, and is answered", async () => {
  putProgram();
  await beckon("--install");
  const server = await startNtfyServer();
  fixture.configure({ phone: { type: "ntfy", server } });
  await fixture.start({}, { table });
  const session = { session: "s1", folder: "/home/dev/site" };

  await callPlugin({ ...session, type: "session.started" }).child.exited;
  await callPlugin({ ...session, type: "turn.started" }).child.exited;
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.activityPhase === "busy", 5_000);
  expect(await fixture.fetchSession("s1")).toMatchObject({ provider: "example", cwd: "/home/dev/site" });

  const asked = callPlugin({ ...session, type: "permission.asked", command: "deploy --now" });
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.asks[0]?.answerable === true, 5_000);
  await fixture.waitForText(server, "deploy --now");
  const shown = await beckon("status");
  expect(shown.out).toContain("1 needs you");
  expect(shown.out).toContain("run: deploy --now");

  expect(await beckon("answer", "s1", "deny", "not today")).toMatchObject({ err: "", code: 0 });
  expect(await asked.printed).toBe('{"reply":"no","text":"not today"}\n');
  await fixture.waitForText(server, "Denied");
  expect((await fixture.fetchSession("s1"))?.asks).toEqual([]);

  const again = callPlugin({ ...session, type: "permission.asked", command: "deploy --later" });
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.asks[0]?.answerable === true, 5_000);
  await beckon("answer", "s1", "allow", "--yes");
  expect(await again.printed).toBe('{"reply":"yes"}\n');

  // What its own file says is seen without a hook.
  writeFileSync(join(fixture.home, ".example", "finished"), "s1\n");
  await waitUntil(async () => (await fixture.fetchSession("s1"))?.activityPhase === "interactable", 5_000);
});

test("doctor does not call it a problem that another agent is not connected", async () => {
  putProgram();
  await beckon("--install", "--agent", "example");
  mkdirSync(fixture.claudeFolder);
  const { findings } = JSON.parse((await beckon("doctor", "--json")).out) as {
    findings: { id: string; state: string; fix: string | null }[];
  };
  expect(findings.find(({ id }) => id === "hooks.none")).toMatchObject({
    state: "info",
    fix: "To connect it: beckon --install --agent claude",
  });
  await beckon("--uninstall", "--agent", "example");
  const { out } = await beckon("doctor", "--json");
  expect(out).toMatch(/"id": "hooks.none",\s+"link": "hooks",\s+"state": "fail"/);
});

test("doctor examines it, and sends its test event through the plugin", async () => {
  putProgram();
  await beckon("--install");
  await fixture.start({}, { table });
  const { findings, of: find } = await runDoctor(() => fixture.spawn([binary, "doctor", "--json"]));
  expect(find("example.found")).toMatchObject({ state: "ok", text: expect.stringContaining("1.2.3") });
  expect(find("example.registered")).toMatchObject({ state: "ok" });
  expect(find("live.heard")).toMatchObject({
    state: "ok",
    text: expect.stringContaining("the command in"),
  });
  expect(find("live.gone")).toMatchObject({ state: "ok" });
  expect(findings.filter(({ id }) => id.startsWith("claude"))).toEqual([]);
  expect((await beckon("doctor")).out).toStartWith("Example Agent  ✓ 1.2.3 at ~/.example/bin/example\n");
});

test("an agent that is not connected is offered, and --help names it", async () => {
  mkdirSync(join(fixture.home, ".example"));
  await fixture.start({}, { table });
  const body = (await (await fixture.request("/api/sessions")).json()) as { problems?: string[] };
  expect(body.problems).toEqual(["Example Agent's hooks are not registered. Run: beckon --install"]);
  const { out } = await beckon("--help");
  expect(out.replaceAll(/\s+/g, " ")).toContain("connect Claude Code");
  expect(out.replaceAll(/\s+/g, " ")).toContain("and Example Agent, start beckon");
  expect(out).toMatch(/^ {2}EXAMPLE_HOME +Example Agent's own folder \(~\/.example\)$/m);
});

test("a beckon without its row refuses its events", async () => {
  await fixture.start();
  const response = await fixture.post({
    provider: "example",
    payload: { type: "turn.started", session: "s" },
  });
  expect([response.status, await response.json()]).toEqual([400, { error: "unknown provider" }]);
});
