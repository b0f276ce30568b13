import { expect, test } from "bun:test";
import {
  createAppEnvironment,
  createUserAppEnvironment,
  dropUntrustedSecrets,
  parseLocalDisplay,
} from "../../src/system/app-environment.ts";

const agents = { session: ["AGENT_"], settings: [], markers: ["INSIDE_AGENT"] };
const secret = { BECKON_CHANNEL_PHONE_TOKEN: "tk_1", BECKON_CHANNEL_PHONE_TOPIC: "mine" };

test("an app that a hook starts takes no secret of a channel from the session, whose project may have set it", () => {
  expect(createAppEnvironment({ PATH: "/bin", ...secret }, agents)).toEqual({ PATH: "/bin" });
});

test("an app that the user starts keeps the secrets of channels, but not other tokens", () => {
  const env = { PATH: "/bin", GITHUB_TOKEN: "x", ...secret };
  expect(createUserAppEnvironment(env, agents)).toEqual({ PATH: "/bin", ...secret });
});

test("inside an agent's session, secrets of channels in the environment are ignored", () => {
  const env = { PATH: "/bin", INSIDE_AGENT: "", ...secret };
  expect(createUserAppEnvironment(env, agents)).toEqual({ PATH: "/bin", INSIDE_AGENT: "" });
  expect(dropUntrustedSecrets(env, agents)).toEqual({ PATH: "/bin", INSIDE_AGENT: "" });
});

test.each([
  [":0", "0"],
  [":12.0", "12"],
  ["unix:3", "3"],
  ["localhost:10.0", null],
  ["/private/tmp/x:0", null],
  ["", null],
])("display %j is reached by a socket of this machine: %j", (display, number) => {
  expect(parseLocalDisplay(display)).toBe(number);
});
