/** Install, uninstall and doctor for Qwen Code: hooks in its settings.json, which need no trust. */
import { createHooksSetup, createLiveTest } from "../../setup/hooks-setup.ts";
import { type AgentMachine, createAgentSetup } from "../../setup/index.ts";
import { qwenForwarding } from "../forwarding.ts";
import { editTools } from "../translate.ts";
import { addChannel, removeChannel } from "./channel.ts";
import { isPresent, settingsPath } from "./folder.ts";

/** At every call of a tool: Qwen Code is not to wait for them. PostToolBatch has what tools return, so PostToolUse is not needed. */
const callEvents = ["PreToolUse", "PostToolBatch"];
/** It drops hooks that it does not wait for if ten run already, so it waits for these. */
const events = [
  ...["SessionStart", "SessionEnd", "PermissionRequest", "Notification", "Stop", "StopFailure"],
  ...["SubagentStart", "SubagentStop", "PreCompact", "PostCompact"],
];

/** In seconds: Qwen Code reads 1000 and more as milliseconds. */
const form = { timeout: 5, async: false };

const hooks = createHooksSetup({
  id: "qwen",
  listHooks: () => [
    ...events.map((event) => ({ event, ...form })),
    ...callEvents.map((event) => ({ event, ...form, async: true })),
    // At every call too. After the first prompt Qwen Code loads so much that an async hook would get its event seconds later.
    { event: "UserPromptSubmit", ...form, isDetached: true },
  ],
  guard: {
    edits: { event: "PreToolUse", matcher: Object.keys(editTools).join("|"), ...form },
    starts: { event: "SessionStart", ...form },
  },
});

export const createQwenSetup = (machine: AgentMachine = {}) =>
  createAgentSetup(
    {
      id: "qwen",
      name: "Qwen Code",
      isPresent,
      describeProgram: () => ({
        program: "qwen",
        versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})\s*$/m,
      }),
      settingsPath: (scope, env) => (scope === "user" ? settingsPath(env) : null),
      ...hooks,
      createRegistration(options) {
        const { add, ...registration } = hooks.createRegistration(options);
        // Windows has no pipes with a name in a folder.
        const addAll = (text: string | null) =>
          options.platform === "win32" ? add(text) : addChannel(add(text));
        return { ...registration, add: addAll };
      },
      entries: { ...hooks.entries, remove: (text) => hooks.entries.remove(removeChannel(text)) },
      liveTest: createLiveTest(qwenForwarding),
    },
    machine,
  );

export const qwenSetup = createQwenSetup();
