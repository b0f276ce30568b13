/** Prompts that are sent through beckon to the real Codex and opencode. */
import { codexDriver, startWithServer } from "../agent/other/codex.ts";
import { opencodeDriver } from "../agent/other/opencode.ts";
import { describeSending } from "../agent/other/send.ts";

const count = 20;

describeSending(codexDriver, { count, start: (sandbox) => startWithServer(sandbox) });
describeSending(opencodeDriver, {
  count,
  async start(sandbox) {
    await sandbox.startFirst();
    await sandbox.say("hello");
  },
});
