/** `beckon channel` as a user meets it: on a real terminal, and against local servers of the services. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findService } from "../../src/channels/index.ts";
import { createRequest } from "../answers/fixture.ts";
import { type ChannelFixture, createChannelFixture } from "../channels/app-fixture.ts";
import { startDiscordServer } from "../channels/servers/discord.ts";
import { serverStarters } from "../channels/servers/index.ts";
import { type NtfyServer, startNtfyServer } from "../channels/servers/ntfy.ts";
import { startPushoverServer } from "../channels/servers/pushover.ts";
import { startSlackServer } from "../channels/servers/slack.ts";
import { joe, startTelegramServer } from "../channels/servers/telegram.ts";
import { repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: ChannelFixture;
const stops: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  fixture = createChannelFixture();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await fixture.destroy();
});

const waitMs = 20_000;

/** A terminal with `beckon` in it. */
function openTerminal(args: string[], env: Record<string, string> = {}, cols = 200) {
  let screen = "";
  let seen = 0;
  const child = Bun.spawn([...fixture.command, ...args], {
    env: { ...fixture.env, TERM: "xterm", NO_COLOR: "1", ...env },
    terminal: {
      cols,
      rows: 50,
      data: (_, bytes) => {
        screen += Buffer.from(bytes).toString();
      },
    },
  });
  stops.push(async () => {
    child.kill();
    await child.exited;
  });
  const waitFor = async (text: string) => {
    await waitUntil(() => screen.indexOf(text, seen) >= 0, waitMs, `"${text}" in ${screen.slice(seen)}`);
    seen = screen.indexOf(text, seen) + text.length;
  };
  return {
    child,
    screen: () => screen,
    waitFor,
    /** Waits for the question, then types the answer and Enter. */
    async answer(question: string, text: string) {
      await waitFor(question);
      child.terminal?.write(`${text}\r`);
    },
    type: (text: string) => void child.terminal?.write(text),
  };
}

async function run(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([...fixture.command, ...args], {
    env: { ...fixture.env, NO_COLOR: "1", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

const writeConfig = (text: string) => {
  mkdirSync(dirname(fixture.paths.config), { recursive: true });
  writeFileSync(fixture.paths.config, text);
};
const readConfig = () => JSON.parse(readFileSync(fixture.paths.config, "utf8"));
const readSecrets = () => JSON.parse(readFileSync(fixture.paths.channelSecrets, "utf8"));

async function startNtfy(options: Parameters<typeof startNtfyServer>[0] = {}): Promise<NtfyServer> {
  const server = await startNtfyServer(options);
  stops.push(server.stop);
  return server;
}

describe("beckon channel add", () => {
  test("refuses a name whose secrets would share a variable with another channel's", async () => {
    const before = JSON.stringify({ channels: { team: { type: "slack", channel: "C0123456789" } } });
    writeConfig(before);
    const terminal = openTerminal(["channel", "add", "team-bot"]);
    await terminal.answer("Which service?", "telegram");
    await terminal.waitFor("BECKON_CHANNEL_TEAM_BOT_TOKEN would be a secret of both team-bot and team");
    expect(await terminal.child.exited).toBe(1);
    expect(readFileSync(fixture.paths.config, "utf8")).toBe(before);
  });

  test("asks, tests and writes a channel, and changes nothing else in config.json", async () => {
    const server = await startNtfy();
    const before = '{\n    "alerts": { "sound":false },\n\n    "autoLaunch" : true\n}\n';
    writeConfig(before);
    const terminal = openTerminal(["channel", "add", "phone"]);
    await terminal.answer("Which service?", "ntfy");
    await terminal.answer("Which server?", "not an address");
    await terminal.waitFor("It must be the address of a server");
    await terminal.answer("Which server?", server.url);
    await terminal.answer("Which topic?", "alerts-4f1c");
    await terminal.answer("access token?", "tk_local");
    await terminal.waitFor("install the app “ntfy”");
    await terminal.waitFor(`${server.url}/alerts-4f1c`);
    expect(terminal.screen()).toContain("█ ███ █");
    await terminal.answer("Press Enter when the phone has it.", "");
    await terminal.answer("leave this machine? [summary]", "full");
    await terminal.answer("answered from there? [off]", "safe");
    await terminal.answer("token for answers?", "");
    await terminal.answer("When? [away]", "");
    await terminal.waitFor('Tap "It works"');
    await server.tap("It works");
    await terminal.waitFor("The answer has arrived");
    expect(await terminal.child.exited).toBe(0);
    expect(
      readFileSync(fixture.paths.config, "utf8").replace(/,\s*"channels"[\s\S]*\n {4}\}\n\}/, "\n}"),
    ).toBe(before);
    expect(readConfig().channels).toEqual({
      phone: {
        type: "ntfy",
        server: server.url,
        topic: "alerts-4f1c",
        replyTopic: expect.stringMatching(/^beckon-[\w-]{16}$/),
        detail: "full",
        answers: "safe",
        when: "away",
      },
    });
    expect(readSecrets()).toEqual({ phone: { token: "tk_local" } });
    expect(statSync(fixture.paths.channelSecrets).mode & 0o777).toBe(0o600);
    expect(terminal.screen()).not.toContain("tk_local");
    expect(server.messages().at(-1)?.buttons).toEqual([]);
  }, 60_000);

  test("with Enter everywhere, says that answers are off, and how to turn them on", async () => {
    const server = await startNtfy();
    const child = Bun.spawn([...fixture.command, "channel", "add", "phone"], {
      env: fixture.env,
      stdin: new Blob([
        ["ntfy", server.url, "alerts-4f1c", "tk_local", ...Array<string>(8).fill("")].join("\n"),
      ]),
      stdout: "pipe",
    });
    const out = await child.stdout.text();
    expect(out).toContain("Answers are off: ntfy alerts you, and you answer at the desk.\n");
    expect(out).toMatch(/choose full and then safe: .*channel add phone\n/);
    expect(readConfig().channels.phone).not.toHaveProperty("answers");
  }, 60_000);

  test("a long question is wrapped between words, and leaves room to type", async () => {
    const columns = 70;
    const terminal = openTerminal(["channel", "add", "phone"], {}, columns);
    await terminal.answer("Which service?", "pushover");
    await terminal.answer("pushover.net/apps/build)", "a".repeat(30));
    const lines = Bun.stripANSI(terminal.screen()).split(/\r?\n/);
    const first = lines.findIndex((line) => line.startsWith("The API token"));
    expect(lines.slice(first, first + 2).map((line) => line.trim())).toEqual([
      "The API token of your application (create one",
      "at pushover.net/apps/build)",
    ]);
  }, 30_000);

  test("offers the account that taps the button, and lists it only if you say so", async () => {
    const server = await startSlackServer();
    stops.push(server.stop);
    writeConfig(JSON.stringify({ channels: { team: { type: "slack", apiUrl: server.settings.apiUrl } } }));
    const terminal = openTerminal(["channel", "add", "team"]);
    await terminal.waitFor("exists already");
    await terminal.answer("Which service? [Slack]", "");
    await terminal.answer("incoming webhook", "");
    await terminal.answer("The id of a channel", "C0123ABCD");
    await terminal.answer("bot's token", server.secrets.botToken ?? "");
    await terminal.answer("app-level token", server.secrets.appToken ?? "");
    await terminal.answer("leave this machine?", "full");
    await terminal.answer("answered from there?", "all");
    await terminal.answer("Which accounts may answer?", "");
    await terminal.answer("When?", "always");
    await terminal.waitFor('Tap "It works"');
    await server.tap("It works");
    await terminal.answer(`May @joe (${server.accounts.listed}) answer from now on? [y/N]`, "y");
    expect(await terminal.child.exited).toBe(0);
    expect(readConfig().channels.team).toMatchObject({
      channel: "C0123ABCD",
      answers: "all",
      accounts: [server.accounts.listed],
      when: "always",
      apiUrl: server.settings.apiUrl,
    });
    expect(readSecrets()).toEqual({ team: server.secrets });
    for (const secret of Object.values(server.secrets)) expect(terminal.screen()).not.toContain(secret);
  }, 60_000);

  test("learns your Telegram account from a message that you write to the bot", async () => {
    const server = await startTelegramServer();
    stops.push(server.stop);
    writeConfig(JSON.stringify({ channels: { tg: { type: "telegram", server: server.settings.server } } }));
    const terminal = openTerminal(["channel", "add", "tg"]);
    await terminal.answer("Which service? [Telegram]", "");
    await terminal.answer("Which token?", server.secrets.token ?? "");
    await terminal.answer("Which chat?", "");
    await terminal.answer("leave this machine?", "full");
    await terminal.answer("Which account gets the alerts?", "");
    await terminal.waitFor("Write any message to the bot in Telegram now");
    server.write("hello", joe);
    await terminal.answer(`@joe (${joe.id}) wrote to it. Is that you? [y/N]`, "y");
    await terminal.answer("answered from there?", "safe");
    await terminal.answer("When?", "");
    await terminal.waitFor('Tap "It works"');
    await server.tap("It works");
    await terminal.waitFor("The answer has arrived, from @joe");
    expect(await terminal.child.exited).toBe(0);
    expect(readConfig().channels.tg).toMatchObject({ accounts: [String(joe.id)], answers: "safe" });
    expect(terminal.screen()).not.toContain(server.secrets.token ?? "");
  }, 60_000);

  test("a channel that the running beckon uses is saved first, and tested through it", async () => {
    const server = await startTelegramServer();
    fixture.configure({ tg: { type: "telegram", server } });
    await fixture.start();
    await waitUntil(
      async () => (await (await fixture.request("/api/channels")).text()).includes("telegram"),
      waitMs,
    );
    const terminal = openTerminal(["channel", "add", "tg"]);
    await terminal.answer("Which service? [Telegram]", "");
    await terminal.answer("[keep the saved one]", "");
    await terminal.answer("Which chat?", "");
    await terminal.answer("leave this machine? [full]", "");
    await terminal.answer("answered from there? [safe]", "all");
    await terminal.answer("Which accounts may answer?", "");
    await terminal.answer("When? [always]", "");
    await terminal.waitFor('Tap "It works"');
    expect(readConfig().channels.tg).toMatchObject({ answers: "all", afterSeconds: 0 });
    await server.tap("It works");
    await terminal.waitFor("The answer has arrived, from tg (@joe)");
    expect(await terminal.child.exited).toBe(0);
    expect(readSecrets()).toEqual({ tg: server.secrets });
  }, 60_000);

  test("takes the address of a Discord webhook and asks for no account", async () => {
    const server = await startDiscordServer({ isWebhook: true });
    stops.push(server.stop);
    const terminal = openTerminal(["channel", "add", "team"]);
    await terminal.answer("Which service?", "discord");
    await terminal.answer("Which bot token?", "");
    await terminal.answer("Which webhook address?", server.secrets.webhook ?? "");
    await terminal.answer("leave this machine?", "");
    await terminal.answer("When?", "");
    await terminal.answer("Has it arrived?", "y");
    expect(await terminal.child.exited).toBe(0);
    expect(server.messages()).toHaveLength(1);
    expect(readConfig().channels).toEqual({ team: { type: "discord", detail: "summary", when: "away" } });
    expect(readSecrets()).toEqual({ team: { webhook: server.secrets.webhook } });
    expect(terminal.screen()).not.toContain(server.secrets.webhook ?? "");
    expect(terminal.screen()).not.toContain("Which channel");
  }, 60_000);

  test("asks only what fits the answers before, and refuses what cannot work", async () => {
    const server = await startNtfy();
    const terminal = openTerminal(["channel", "add", "phone"]);
    await terminal.answer("Which service?", "ntfy");
    await terminal.answer("Which server?", server.url);
    await terminal.answer("Which topic?", "alerts-4f1c");
    await terminal.answer("Which access token?", "tk_local");
    await terminal.answer("Press Enter when the phone has it.", "");
    await terminal.answer("leave this machine?", "");
    await terminal.waitFor("after 2 minutes without an answer, whether you are at the desk or not");
    await terminal.answer("When?", "");
    await terminal.answer("Has it arrived?", "y");
    expect(await terminal.child.exited).toBe(0);
    expect(terminal.screen()).not.toContain("token for answers");
  }, 60_000);

  test("takes the id of an account, and refuses its name", async () => {
    const server = await startSlackServer();
    stops.push(server.stop);
    writeConfig(JSON.stringify({ channels: { team: { type: "slack", apiUrl: server.settings.apiUrl } } }));
    mkdirSync(dirname(fixture.paths.channelSecrets), { recursive: true });
    writeFileSync(
      fixture.paths.channelSecrets,
      JSON.stringify({ team: { ...server.secrets, webhookUrl: "https://example.invalid/hook" } }),
      { mode: 0o600 },
    );
    const terminal = openTerminal(["channel", "add", "team"]);
    await terminal.answer("Which service? [Slack]", "");
    await terminal.answer("[keep the saved one; none removes it]", "none");
    await terminal.answer("The id of a channel", "C0123ABCD");
    await terminal.answer("bot's token", "");
    await terminal.answer("app-level token", "");
    await terminal.answer("leave this machine?", "full");
    await terminal.answer("answered from there?", "safe");
    await terminal.answer("Which accounts may answer?", "@joe");
    await terminal.waitFor('"@joe" must be the id of a member, like U0123ABCD.');
    await terminal.answer("Which accounts may answer?", server.accounts.listed);
    await terminal.answer("When?", "");
    await terminal.waitFor('Tap "It works"');
    await server.tap("It works");
    await terminal.waitFor("The answer has arrived");
    expect(await terminal.child.exited).toBe(0);
    expect(readSecrets()).toEqual({ team: server.secrets });
  }, 60_000);

  test("a wrong token does not replace the settings of a channel that the running beckon uses", async () => {
    const server = await startTelegramServer();
    fixture.configure({ tg: { type: "telegram", server, fields: { answers: "off" } } });
    await fixture.start();
    await waitUntil(
      async () => (await (await fixture.request("/api/channels")).text()).includes("telegram"),
      waitMs,
    );
    const before = readConfig();
    const terminal = openTerminal(["channel", "add", "tg"]);
    await terminal.answer("Which service? [Telegram]", "");
    await terminal.answer("Which token?", `1:${"x".repeat(35)}`);
    await terminal.answer("Which chat?", "none");
    await terminal.answer("leave this machine?", "summary");
    await terminal.answer("Which account gets the alerts?", "joe");
    await terminal.waitFor('"joe" must be the number of an account, like 12345678.');
    await terminal.answer("Which account gets the alerts?", "");
    await terminal.answer("When?", "");
    await terminal.waitFor("It could not be sent: the token is not valid");
    await terminal.answer("What now", "stop");
    expect(await terminal.child.exited).toBe(1);
    expect(readConfig()).toEqual(before);
    expect(readSecrets()).toEqual({ tg: server.secrets });
  }, 60_000);

  test("a bot without an account to write to is not saved", async () => {
    const server = await startTelegramServer();
    stops.push(server.stop);
    writeConfig(JSON.stringify({ channels: { tg: { type: "telegram", server: server.settings.server } } }));
    const terminal = openTerminal(["channel", "add", "tg"]);
    await terminal.answer("Which service? [Telegram]", "");
    await terminal.answer("Which token?", `1:${"x".repeat(35)}`);
    await terminal.answer("Which chat?", "");
    await terminal.answer("leave this machine?", "");
    await terminal.answer("Which account gets the alerts?", "");
    await terminal.waitFor("No message was found: the token is not valid");
    await terminal.answer("When?", "");
    await terminal.waitFor("No account is set that Telegram could send alerts to.");
    await terminal.answer("What now", "stop");
    expect(await terminal.child.exited).toBe(1);
    expect(existsSync(fixture.paths.channelSecrets)).toBe(false);
  }, 60_000);

  test("says why the test failed, and writes nothing unless you say so", async () => {
    const server = await startPushoverServer();
    stops.push(server.stop);
    writeConfig(
      JSON.stringify({ channels: { phone: { type: "pushover", server: server.settings.server } } }),
    );
    const before = readFileSync(fixture.paths.config, "utf8");
    const wrong = "x".repeat(30);
    const answerAll = async (user: string) => {
      await terminal.answer("API token", server.secrets.token ?? "");
      await terminal.answer("user key", user);
      await terminal.answer("Only one device?", "");
      await terminal.answer("Priority", "");
      await terminal.answer("leave this machine?", "");
      await terminal.answer("When?", "");
    };
    const terminal = openTerminal(["channel", "add", "phone"]);
    await terminal.answer("Which service? [Pushover]", "");
    await answerAll(wrong);
    await terminal.waitFor("It could not be sent: Pushover answered 400: user identifier is invalid");
    expect(readFileSync(fixture.paths.config, "utf8")).toBe(before);
    expect(existsSync(fixture.paths.channelSecrets)).toBe(false);
    await terminal.answer("What now", "again");
    await answerAll(server.secrets.user ?? "");
    await terminal.answer("Has it arrived? [Y/n]", "");
    expect(await terminal.child.exited).toBe(0);
    expect(readSecrets()).toEqual({ phone: server.secrets });
    expect(server.received).toHaveLength(1);
    expect(terminal.screen()).not.toContain(wrong);
  }, 60_000);

  test("Ctrl-C writes nothing", async () => {
    const terminal = openTerminal(["channel", "add", "phone"]);
    await terminal.answer("Which service?", "ntfy");
    await terminal.waitFor("Which server?");
    terminal.type("\u0003");
    expect(await terminal.child.exited).toBe(1);
    expect(terminal.screen()).toContain("nothing was written");
    expect(existsSync(fixture.paths.config)).toBe(false);
  }, 60_000);

  test("a secret that is set in the environment is not asked for, and not written", async () => {
    const server = await startNtfy();
    const terminal = openTerminal(["channel", "add", "phone"], { BECKON_CHANNEL_PHONE_TOKEN: "tk_local" });
    await terminal.answer("Which service?", "1");
    await terminal.answer("Which server?", server.url);
    await terminal.answer("Which topic?", "alerts-4f1c");
    await terminal.waitFor("(from BECKON_CHANNEL_PHONE_TOKEN)");
    await terminal.answer("Press Enter when the phone has it.", "");
    await terminal.answer("leave this machine?", "minimal");
    await terminal.answer("When?", "");
    await terminal.answer("Has it arrived?", "y");
    expect(await terminal.child.exited).toBe(0);
    expect(existsSync(fixture.paths.channelSecrets)).toBe(false);
    expect(readConfig().channels.phone.detail).toBe("minimal");
  }, 60_000);

  test.each([
    ["a name with a slash", "../x", "", "cannot be the name of a channel"],
    ["a name that means another place in the log", "terminal", "", "cannot be the name of a channel"],
    ["settings that are not valid JSON", "phone", '{"alerts": ', "is not valid JSON"],
  ])("%s is refused before anything is asked", async (_, name, config, expected) => {
    if (config !== "") writeConfig(config);
    const { out, err, code } = await run(["channel", "add", name]);
    expect(out).toBe("");
    expect(err).toContain(expected);
    expect(code).not.toBe(0);
    if (config !== "") expect(readFileSync(fixture.paths.config, "utf8")).toBe(config);
  });

  test("a file of secrets that others can read is refused before anything is asked", async () => {
    writeConfig("{}");
    writeFileSync(fixture.paths.channelSecrets, "{}");
    chmodSync(fixture.paths.channelSecrets, 0o644);
    const { out, err, code } = await run(["channel", "add", "phone"]);
    expect([out, code]).toEqual(["", 1]);
    expect(err).toContain("chmod 600");
  });
});

describe("beckon channel test", () => {
  test("sends through the running beckon, and waits for the tap", async () => {
    const server = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server } });
    await fixture.start();
    const terminal = openTerminal(["channel", "test", "phone"]);
    await terminal.waitFor('Tap "It works" in ntfy');
    await server.tap("It works");
    await terminal.waitFor("The answer has arrived, from phone");
    expect(await terminal.child.exited).toBe(0);
  }, 60_000);

  test("a test that failed is in the list until one arrives", async () => {
    const server = await startPushoverServer();
    fixture.configure({ phone: { type: "pushover", server, fields: { answers: "off" } } });
    await fixture.start();
    server.misbehave("refuse", 1);
    expect((await run(["channel", "test", "phone"])).code).toBe(1);
    expect((await run(["channel", "list"])).out).toContain("not working: Pushover answered");
    expect((await run(["channel", "test", "phone"])).code).toBe(0);
    expect((await run(["channel", "list"])).out).toContain("last sent");
  }, 60_000);

  test.each(Object.entries(serverStarters))(
    "without a running beckon it sends to %s by itself, and waits for the tap where there is one",
    async (type, startServer) => {
      const server = await startServer();
      const service = findService(type);
      const isOneWay =
        service?.canAnswer(server.settings, (field) => server.secrets[field] ?? null) === false;
      fixture.configure({ phone: { type, server, fields: isOneWay ? { answers: "off" } : {} } });
      const terminal = openTerminal(["channel", "test", "phone"]);
      if (!isOneWay) {
        await terminal.waitFor('Tap "It works"');
        await server.tap("It works");
      }
      await terminal.waitFor(isOneWay ? "has taken the message" : "The answer has arrived");
      expect(await terminal.child.exited).toBe(0);
      expect(server.messages()[0]?.text).toContain("beckon: a test");
      expect(server.messages()[0]?.buttons).toEqual([]);
    },
    60_000,
  );

  test.each([true, false])(
    "says why it failed (with a running beckon: %p)",
    async (isRunning) => {
      const server = await startNtfyServer();
      fixture.configure({ phone: { type: "ntfy", server } });
      if (isRunning) await fixture.start();
      server.misbehave("refuse", 1);
      const { out, code } = await run(["channel", "test", "phone"]);
      expect(out).toContain("It could not be sent: ntfy answered 403 (forbidden). Check the access token");
      expect(out).not.toContain("tk_local");
      expect(code).toBe(1);
    },
    60_000,
  );

  test.each([
    ["phon", "did you mean phone?"],
    ["laptop", "there are phone"],
    ["", "takes the name of a channel"],
  ])("of %j names what is wrong", async (name, expected) => {
    const server = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server } });
    const { err, code } = await run(["channel", "test", ...(name === "" ? [] : [name])]);
    expect(err).toContain(expected);
    expect(code).not.toBe(0);
  });
});

test("a service that repeats the token in its errors does not bring it to the screen, the API or a file", async () => {
  const liar = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      Response.json({ error: `wrong: ${request.headers.get("authorization")}` }, { status: 403 }),
  });
  stops.push(() => liar.stop(true));
  const server = { ...(await startNtfyServer()), settings: { server: liar.url.origin, topic: "alerts" } };
  fixture.configure({ phone: { type: "ntfy", server, fields: { answers: "off" } } });
  await fixture.start();
  const hook = fixture.startHook(createRequest("s1"));
  const readReport = async () => (await fixture.request("/api/channels")).text();
  await waitUntil(async () => (await readReport()).includes("403"), waitMs);
  const shown = [
    await readReport(),
    (await run(["status"])).out,
    (await run(["channel", "list"])).out,
    (await run(["channel", "test", "phone"])).out,
    (await run(["log"])).out,
    fixture.read(fixture.paths.log),
    fixture.read(fixture.paths.answerLog),
    fixture.read(fixture.paths.channelState),
  ];
  expect(shown.join("\n")).toContain("wrong: Bearer •••");
  expect(shown.filter((text) => text.includes("tk_local"))).toEqual([]);
  hook.signal("SIGKILL");
}, 60_000);

test("a beckon that a hook starts in a folder of a project's choice uses no channel", async () => {
  const server = await startNtfyServer();
  fixture.configure({ phone: { type: "ntfy", server } });
  await fixture.start({}, { isFromHook: true });
  const hook = fixture.startHook(createRequest("s1"));
  await fixture.waitForAsk("s1");
  expect((await run(["status"])).out).toContain("no channel is used, because a hook has started beckon");
  const { channels } = (await (await fixture.request("/api/channels")).json()) as { channels: unknown[] };
  expect(channels).toEqual([]);
  expect((await run(["channel", "test", "phone"])).code).toBe(1);
  expect(server.bodies()).toEqual([]);
  hook.signal("SIGKILL");
}, 60_000);

describe("beckon channel remove", () => {
  test("removes the settings and the secrets of a channel, and the running beckon stops using it", async () => {
    const server = await startNtfyServer();
    const other = await startPushoverServer();
    fixture.configure({
      phone: { type: "ntfy", server },
      work: { type: "pushover", server: other, fields: { answers: "off" } },
    });
    await fixture.start();
    const readNames = async () => {
      const body = (await (await fixture.request("/api/channels")).json()) as {
        channels: { name: string }[];
      };
      return body.channels.map(({ name }) => name);
    };
    await waitUntil(async () => (await readNames()).length === 2, waitMs);
    const { out, code } = await run(["channel", "remove", "phone"]);
    expect(out).toContain("Removed phone from");
    expect(code).toBe(0);
    expect(Object.keys(readConfig().channels)).toEqual(["work"]);
    expect(readSecrets()).toEqual({ work: other.secrets });
    await waitUntil(async () => (await readNames()).join() === "work", waitMs);
  }, 60_000);

  test("does not offer to add what is to be removed", async () => {
    writeConfig("{}");
    const { err, code } = await run(["channel", "remove", "x"]);
    expect(err).toBe(
      'beckon: there is no channel "x": no channel is set up, so there is nothing to remove\n',
    );
    expect(code).toBe(1);
  });

  test("names the channels that there are if it does not know the name", async () => {
    writeConfig('{"channels": {"phone": {"type": "ntfy", "topic": "t"}}}');
    const { err, code } = await run(["channel", "remove", "phon"]);
    expect(err).toContain('there is no channel "phon": did you mean phone?');
    expect(code).toBe(1);
  });
});

describe("beckon channel list", () => {
  test("says how to begin if there is none", async () => {
    const { out, code } = await run(["channel", "list"]);
    expect(out).toContain("beckon channel add phone");
    expect(code).toBe(0);
  });

  test("names what is wrong with a channel", async () => {
    writeConfig(
      JSON.stringify({
        channels: {
          a: { type: "ntfyy" },
          b: { type: "ntfy" },
          c: { type: "ntfy", topic: "x", token: "tk_in_config" },
        },
      }),
    );
    const { out } = await run(["channel"]);
    expect(out).toMatch(/^a +ntfyy .*did you mean ntfy\?/m);
    expect(out).toMatch(/^b +ntfy .*topic/m);
    expect(out).toMatch(/^c +ntfy .*must not be in config\.json/m);
    expect(out).not.toContain("tk_in_config");
  });

  test("a channel that fails is named by list, status, doctor and the dashboard", async () => {
    const server = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server, fields: { answers: "off" } } });
    await fixture.start();
    server.misbehave("error", 100);
    const hook = fixture.startHook(createRequest("s1"));
    const isFailing = async () => {
      const body = (await (await fixture.request("/api/channels")).json()) as {
        channels: { problem: unknown }[];
      };
      return typeof body.channels[0]?.problem === "string";
    };
    await waitUntil(isFailing, waitMs);
    const { out } = await run(["channel", "list", "--json"]);
    expect(JSON.parse(out).channels).toMatchObject([
      { name: "phone", problem: expect.stringContaining("502") },
    ]);
    expect((await run(["status"])).out).toContain("channel phone: ntfy answered 502");
    const doctor = JSON.parse((await run(["doctor", "--json"])).out) as {
      findings: { id: string; text: string }[];
    };
    expect(doctor.findings.find(({ id }) => id === "channels.failing")?.text).toContain(
      "phone (ntfy): ntfy answered 502",
    );
    const facts = (await (await fixture.request("/api/page")).json()) as { problems: string[] };
    expect(facts.problems).toEqual([expect.stringContaining("channel phone: ntfy answered 502")]);
    hook.signal("SIGKILL");
  }, 60_000);
});

test("a newcomer gets an alert on the phone with nothing but docs/channels.md", async () => {
  const server = await startNtfy({ isPublic: true });
  const docs = readFileSync(join(repo, "docs/channels.md"), "utf8");
  const [, command = ""] = /^ +beckon (channel add phone)$/m.exec(docs) ?? [];
  const terminal = openTerminal(command.split(" "));
  // "Enter 1 for ntfy, and press Enter at every other question". Only the server is another one.
  await terminal.answer("Which service?", "1");
  await terminal.answer("Which server? [https://ntfy.sh]", server.url);
  await terminal.waitFor("Which topic?");
  await waitUntil(() => /\[beckon-[\w-]{16}\]/.test(terminal.screen()), waitMs);
  const [, topic = ""] = /\[(beckon-[\w-]{16})\]/.exec(terminal.screen()) ?? [];
  terminal.type("\r");
  for (const question of [
    "access token?",
    "Press Enter when the phone has it.",
    "leave this machine?",
    "When?",
  ])
    await terminal.answer(question, "");
  await terminal.waitFor("Has it arrived?");
  expect(server.published(topic).at(-1)).toMatchObject({ title: "beckon: a test", priority: 5 });
  terminal.type("\r");
  expect(await terminal.child.exited).toBe(0);

  // "a phone that always gets everything at once"
  const [, example = "{}"] = /^ +(\{ "channels": .*\})$/m.exec(docs) ?? [];
  const { topic: _, ...fields } = JSON.parse(example).channels.phone;
  const config = readConfig();
  writeConfig(JSON.stringify({ channels: { phone: { ...config.channels.phone, ...fields } } }));
  await fixture.start();
  const hook = fixture.startHook(createRequest("s1"));
  await waitUntil(() => server.published(topic).length > 1, waitMs);
  // The level "summary", which the docs show as an example.
  const alert = server.published(topic).at(-1);
  expect(alert?.title).toBe("shop-api wants to use Bash");
  expect(alert?.message).toMatch(/^since \d\d:\d\d$/);
  expect(JSON.stringify(server.published(topic))).not.toContain("npm test");
  hook.signal("SIGKILL");
}, 90_000);
