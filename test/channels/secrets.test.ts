import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nameSecretVariable, readChannelSecrets, writeChannelSecrets } from "../../src/channels/secrets.ts";

let folder: string;
let channelSecrets: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-secrets-"));
  channelSecrets = join(folder, "channel-secrets.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (env: Record<string, string> = {}) => readChannelSecrets({ channelSecrets }, env);
const write = (text: string, mode = 0o600) => {
  writeFileSync(channelSecrets, text);
  chmodSync(channelSecrets, mode);
};

test("a secret is found in the file, and in the environment first", () => {
  write('{"phone": {"token": "from-file", "other": "kept"}}');
  expect(read().get("phone", "token")).toBe("from-file");
  const env = { BECKON_CHANNEL_PHONE_TOKEN: " from-env\n" };
  expect(read(env).get("phone", "token")).toBe("from-env");
  expect(read(env).get("phone", "other")).toBe("kept");
  expect(read(env).get("laptop", "token")).toBeNull();
  expect(read(env).problem).toBeNull();
});

test("without a file there are no secrets and no problem", () => {
  expect(read().get("phone", "token")).toBeNull();
  expect(read().get("constructor", "name")).toBeNull();
  expect(read().problem).toBeNull();
});

test.each([
  ["phone", "token", "BECKON_CHANNEL_PHONE_TOKEN"],
  ["my-team", "botToken", "BECKON_CHANNEL_MY_TEAM_BOT_TOKEN"],
  ["phone2", "webhookUrl", "BECKON_CHANNEL_PHONE2_WEBHOOK_URL"],
])("the secret of %s %s is in the variable %s", (channel, field, variable) => {
  expect(nameSecretVariable(channel, field)).toBe(variable);
});

describe.skipIf(process.platform === "win32")("a file that others could read or replace is not used", () => {
  test.each([0o640, 0o604, 0o620, 0o666])("mode %o", (mode) => {
    write('{"phone": {"token": "readable"}}', mode);
    expect(read().get("phone", "token")).toBeNull();
    expect(read().problem).toContain(`chmod 600 '${channelSecrets}'`);
    expect(() => writeChannelSecrets({ channelSecrets }, "phone", { token: "new" })).toThrow("chmod 600");
  });

  test("a link", () => {
    writeFileSync(join(folder, "elsewhere"), '{"phone": {"token": "linked"}}', { mode: 0o600 });
    symlinkSync(join(folder, "elsewhere"), channelSecrets);
    expect(read().get("phone", "token")).toBeNull();
    expect(read().problem).toContain("is a link");
  });

  test("a file with a second name", () => {
    write('{"phone": {"token": "linked"}}');
    linkSync(channelSecrets, join(folder, "second"));
    expect(read().get("phone", "token")).toBeNull();
    expect(read().problem).toContain("second name");
  });
});

test("a damaged file is reported without its text", () => {
  write('{"phone": {"token": "tk_secret"');
  expect(read().problem).toContain("is not valid JSON");
  expect(read().problem).not.toContain("tk_secret");
  expect(() => writeChannelSecrets({ channelSecrets }, "phone", { token: "new" })).toThrow("not valid JSON");
  expect(readFileSync(channelSecrets, "utf8")).toContain("tk_secret");
});

test("writing a secret keeps the others, and only the owner can read the file", () => {
  write('{"phone": {"token": "old", "user": "kept"}, "work": {"webhookUrl": "https://example.com/1"}}');
  writeChannelSecrets({ channelSecrets }, "phone", { token: "new" });
  expect(JSON.parse(readFileSync(channelSecrets, "utf8"))).toEqual({
    phone: { token: "new", user: "kept" },
    work: { webhookUrl: "https://example.com/1" },
  });
  if (process.platform !== "win32") expect(statSync(channelSecrets).mode & 0o777).toBe(0o600);
});

test("the file and its folder are created", () => {
  const paths = { channelSecrets: join(folder, "new", "channel-secrets.json") };
  writeChannelSecrets(paths, "phone", { token: "new" });
  expect(readChannelSecrets(paths, {}).get("phone", "token")).toBe("new");
});

test("no known secret is left in a text, as it is, in an address or in JSON", () => {
  write(
    '{"work": {"webhookUrl": "https://hooks.example.com/T1/B2/a\\"b"}, "phone": {"token": "tk_abcdef", "pin": "12"}}',
  );
  const { redact } = read({ BECKON_CHANNEL_PHONE_USER: "user-key" });
  const sent = 'https://hooks.example.com/T1/B2/a"b';
  expect(
    redact(`fetch ${sent} ${encodeURIComponent(sent)} ${JSON.stringify(sent)} tk_abcdef user-key 12`),
  ).toBe('fetch ••• ••• "•••" ••• ••• 12');
});
