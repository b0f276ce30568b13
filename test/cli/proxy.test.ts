/** A proxy in the user's environment: the token for beckon must not reach it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type AppFixture, createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { binary, isBinaryFresh, mainSource } from "../repo.ts";

let fixture: AppFixture;
let proxy: Bun.TCPSocketListener<undefined>;
let received: string;
beforeEach(() => {
  fixture = createAppFixture();
  received = "";
  const data = (_: unknown, chunk: Uint8Array): void => {
    received += new TextDecoder().decode(chunk);
  };
  proxy = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data } });
});
afterEach(async () => {
  proxy.stop(true);
  await fixture.destroy();
});

const programs = [
  ["from source", [process.execPath, mainSource]],
  ["built", [binary]],
] as const;
for (const [name, program] of programs) {
  describe.skipIf(name === "built" && !isBinaryFresh())(`beckon ${name}`, () => {
    async function run(...args: string[]) {
      const url = `http://127.0.0.1:${proxy.port}`;
      const variables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
      const env = Object.fromEntries(variables.map((variable) => [variable, url]));
      const child = fixture.spawn([...program, ...args], { ...env, NODE_USE_ENV_PROXY: "1" });
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { out, err, code: await child.exited };
    }

    test("no command sends anything to the user's proxy", async () => {
      await fixture.startProcess();
      await fixture.postHook(createPromptEvent("s1"));
      await fixture.postHook(createAskEvent("s1"));
      expect((await run("status")).out).toContain("proj");
      expect((await run("open", "--print")).out).toContain("/?code=");
      await run("answer", "s1", "allow", "--yes");
      await run("doctor");
      expect((await run("start")).code).toBe(0);
      expect((await run("stop")).out).toStartWith("beckon is stopped.");
      expect(received).toBe("");
    }, 30_000);
  });
}
