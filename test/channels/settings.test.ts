/** What is wrong with the settings of channels, in the words that a user reads. */
import { describe, expect, test } from "bun:test";
import { checkAllChannels } from "../../src/channels/index.ts";
import { readChannelSecrets } from "../../src/channels/secrets.ts";
import { parseConfig } from "../../src/core/config/config.ts";

/** Channel → its problems; none if it can be used. */
function check(channels: Record<string, object>, env: Record<string, string> = {}) {
  const { config, problems } = parseConfig({ channels });
  expect(problems).toEqual([]);
  const secrets = readChannelSecrets({ channelSecrets: "/nowhere/channel-secrets.json" }, env);
  const results = [...checkAllChannels(config.channels, secrets)];
  return Object.fromEntries(
    results.map(([name, result]) => [name, "problems" in result ? result.problems : []]),
  );
}

describe("answers on a service that cannot take them", () => {
  const accounts: Record<string, string> = { Slack: "U0123ABCD", Discord: "777000111222333444" };
  test.each([
    ["Pushover", { type: "pushover" }, { TOKEN: `a${"1".repeat(29)}`, USER: `u${"2".repeat(29)}` }],
    ["Slack", { type: "slack" }, { WEBHOOK_URL: "https://hooks.slack.com/services/T0/B0/abc" }],
    ["Discord", { type: "discord" }, { WEBHOOK: "https://discord.com/api/webhooks/1/abc" }],
    ["ntfy", { type: "ntfy", topic: "alerts" }, {}],
    ["Webhook", { type: "webhook" }, { URL: "https://desk.example/hook" }],
  ])("are named as a mistake: %s", (name, settings, secrets) => {
    const env = Object.fromEntries(
      Object.entries(secrets).map(([field, value]) => [`BECKON_CHANNEL_PHONE_${field}`, value]),
    );
    expect(check({ phone: settings }, env)).toEqual({ phone: [] });
    const answering = { answers: "safe", detail: "full", accounts: [accounts[name] ?? "1"] };
    expect(check({ phone: { ...settings, ...answering } }, env)).toEqual({
      phone: [`phone.answers must be "off": ${name} cannot take answers with these settings`],
    });
  });
});

test.each([
  ["telegram", { chat: "1" }, "@joe", "the number of an account, like 12345678"],
  ["slack", { channel: "C0123ABCD" }, "joe", "the id of a member, like U0123ABCD"],
  ["discord", {}, "joe", "the id of an account, a number with 17 to 20 digits"],
])("the name of an account is named as a mistake: %s", (type, settings, account, expected) => {
  const { phone = [] } = check({ phone: { type, ...settings, accounts: [account] } });
  expect(phone).toContain(`phone.accounts: "${account}" must be ${expected}`);
});

test("alerts and answers of ntfy cannot share a topic", () => {
  expect(check({ phone: { type: "ntfy", topic: "t", replyTopic: "t" } })).toEqual({
    phone: ["phone.replyTopic must be another topic than that of the alerts"],
  });
});

describe("a variable that could be a secret of two channels", () => {
  const channels = {
    team: { type: "slack", channel: "C0123456789" },
    "team-bot": { type: "telegram", accounts: ["1"] },
    phone: { type: "ntfy", topic: "alerts" },
  };
  const problem =
    "BECKON_CHANNEL_TEAM_BOT_TOKEN could be team.botToken or team-bot.token: rename one of these channels, or keep their secrets in channel-secrets.json";

  test("is given to neither, and both say why", () => {
    expect(check(channels, { BECKON_CHANNEL_TEAM_BOT_TOKEN: "123:abc" })).toEqual({
      team: [problem],
      "team-bot": [problem],
      phone: [],
    });
  });

  test("does not matter while it is not set", () => {
    const problems = Object.values(check(channels)).flat().join("\n");
    expect(problems).not.toContain("could be");
  });

  test("names that differ only in upper case share all variables", () => {
    const twins = { phone: { type: "ntfy", topic: "a" }, Phone: { type: "ntfy", topic: "b" } };
    const problems = check(twins, { BECKON_CHANNEL_PHONE_TOKEN: "tk_1" });
    expect(problems.phone?.[0]).toStartWith("BECKON_CHANNEL_PHONE_TOKEN could be phone.token or Phone.token");
    expect(problems.Phone).toEqual(problems.phone);
  });
});
