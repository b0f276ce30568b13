/** Channels in the real app: alerts go out, answers come back, and messages are withdrawn. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { type ChannelFixture, createChannelFixture } from "./app-fixture.ts";
import { type NtfyServer, startNtfyServer } from "./servers/ntfy.ts";

let fixture: ChannelFixture;
let phone: NtfyServer;
beforeEach(async () => {
  fixture = createChannelFixture();
  phone = await startNtfyServer();
});
afterEach(() => fixture.destroy());

const ask = (session: string, more: Record<string, unknown> = {}) =>
  fixture.startHook(createRequest(session, more));

describe("an answer from the phone", () => {
  test("allows a command, and the message says so", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    expect(phone.messages()).toHaveLength(1);
    expect(phone.messages()[0]?.buttons).toEqual(["Allow", "Deny"]);
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await fixture.waitForText(phone, "Allowed by phone");
    expect(phone.messages()[0]?.buttons).toEqual([]);
    const log = readFileSync(fixture.paths.answerLog, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(log).toMatchObject([
      { what: "shown", outcome: "sent to phone" },
      { what: "answered", outcome: "allowed", by: "phone" },
    ]);
  });

  test("denies with a reason", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    await phone.reply("not on a Friday");
    expect(parseDecision(await hook.printed)).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("not on a Friday"),
    });
    await fixture.waitForText(phone, "Denied by phone");
  });

  test("a request that was answered at the desk is withdrawn within two seconds", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    const { answerId } = await fixture.waitForAsk("s1");
    await fixture.waitForText(phone, "npm test");
    await fixture.answer("s1", { do: "allow", ask: answerId, by: "command line" });
    const tookMs = await fixture.waitForText(phone, "Allowed on the command line");
    expect(tookMs).toBeLessThan(2_000);
    await hook.exited;
  });
});
