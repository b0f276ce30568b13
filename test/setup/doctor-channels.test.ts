import { expect, test } from "bun:test";
import { type ChannelFacts, checkChannels } from "../../src/setup/doctor/channels.ts";

const phone: ChannelFacts = {
  name: "phone",
  service: "ntfy",
  answers: "off",
  isOpen: true,
  mistakes: [],
  report: { problem: null, lastSentAt: null },
};
const check = (channel: Partial<ChannelFacts>, more: Partial<Parameters<typeof checkChannels>[0]> = {}) =>
  checkChannels({
    channels: [{ ...phone, ...channel }],
    problem: null,
    isRunning: true,
    readableConfig: null,
    formatTime: () => "14:20",
    ...more,
  }).map(({ id, state, text, fix }) => [id, state, text, fix]);

test("without a channel, doctor says nothing about channels", () => {
  expect(check({}, { channels: [] })).toEqual([]);
});

test("a channel that works is listed with when it was used last", () => {
  const text = "phone (ntfy): last sent 14:20, answers: safe. Try it: beckon channel test phone";
  expect(check({ answers: "safe", report: { problem: null, lastSentAt: 1 } })).toEqual([
    ["channels.works", "ok", text, null],
  ]);
});

test("a channel that fails, or lacks a setting, is a problem with a command to run", () => {
  expect(check({ report: { problem: "ntfy answered 403", lastSentAt: null } })).toEqual([
    [
      "channels.failing",
      "fail",
      "phone (ntfy): ntfy answered 403",
      "Try again: beckon channel test phone. To change its settings: beckon channel add phone",
    ],
  ]);
  expect(check({ mistakes: ["phone.topic is missing"] })).toEqual([
    ["channels.settings", "fail", "phone.topic is missing", "Run: beckon channel add phone"],
  ]);
});

test.each([
  [false, "beckon is not running"],
  [true, "beckon does not use it yet"],
])("a channel that the app does not report was not tried (running: %p)", (isRunning, why) => {
  expect(check({ report: null }, { isRunning })[0]?.[2]).toEndWith(`Not tried, because ${why}`);
});

test("a file of secrets that others can read is a problem", () => {
  const problem = "/c/channel-secrets.json can be read by other users";
  expect(check({}, { problem })[0]).toEqual(["channels.secrets", "fail", problem, null]);
});

test("topics that other users can read are like a password that they know", () => {
  const readableConfig = "/c/config.json";
  expect(check({ answers: "safe" }, { readableConfig })[0]).toEqual([
    "channels.readable",
    "warn",
    "other users can read /c/config.json, and so answer through phone",
    "Run: chmod 600 '/c/config.json'",
  ]);
  expect(check({ answers: "off" }, { readableConfig })).toHaveLength(1);
  expect(check({ answers: "safe", isOpen: false }, { readableConfig })).toHaveLength(1);
});
