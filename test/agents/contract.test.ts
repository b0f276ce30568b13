/** What every agent of the table must do, whatever its events, settings and answers look like. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import fc from "fast-check";
import type { Agent } from "../../src/agents/agent.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { Finding } from "../../src/agents/finding.ts";
import { agents, defaultAgent } from "../../src/agents/index.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../src/core/session/reduce.ts";
import { maskJson } from "../../src/secrets/index.ts";
import { viewSession } from "../core/view/session-view.ts";
import { example } from "./example/index.ts";

/** The same story in each agent's own events. */
interface Story {
  readonly start: Payload;
  readonly prompt: Payload;
  readonly request: Payload;
  /** Absent if the agent reports no end: then its process tells. */
  readonly end?: Payload;
}
type Payload = Readonly<Record<string, unknown>>;

const sessionId = "s-1";
const command = "npm run deploy";
const base = { session_id: sessionId, cwd: "/home/dev/proj" };
const opencodeStory: Story = {
  start: { type: "session.created", session: sessionId, cwd: "/home/dev/proj" },
  prompt: { type: "prompt", session: sessionId, cwd: "/home/dev/proj", prompt: "go" },
  request: {
    ...{ type: "permission.asked", session: sessionId, cwd: "/home/dev/proj" },
    ...{ request: "per_1", permission: "bash", metadata: { command }, call: "call_1", input: { command } },
  },
  end: { type: "session.deleted", session: sessionId },
};
const stories: Readonly<Record<string, Story>> = {
  claude: {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: "go" },
    request: { ...base, hook_event_name: "PermissionRequest", tool_name: "Bash", tool_input: { command } },
    end: { ...base, hook_event_name: "SessionEnd", reason: "other" },
  },
  codex: {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, turn_id: "t-1", hook_event_name: "UserPromptSubmit", prompt: "go" },
    request: {
      ...base,
      turn_id: "t-1",
      hook_event_name: "PermissionRequest",
      tool_name: "Bash",
      tool_input: { command, description: "Deploys" },
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "other" },
  },
  opencode: opencodeStory,
  kilo: opencodeStory,
  copilot: {
    start: { ...base, hook_event_name: "SessionStart", source: "new" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: "go" },
    request: {
      sessionId,
      cwd: "/home/dev/proj",
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      title: "Permission needed",
      message: `Run command: ${command}`,
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "user_exit" },
  },
  gemini: {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, hook_event_name: "BeforeAgent", prompt: "go" },
    request: {
      ...base,
      hook_event_name: "Notification",
      notification_type: "ToolPermission",
      message: "Tool Confirm Shell Command requires execution",
      details: { type: "exec", title: "Confirm Shell Command", command },
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "exit" },
  },
  qwen: {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: "go" },
    request: {
      ...base,
      hook_event_name: "PermissionRequest",
      tool_name: "run_shell_command",
      tool_input: { command },
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "other" },
  },
  grok: {
    start: { ...base, hook_event_name: "SessionStart", source: "new" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: "go" },
    request: {
      ...base,
      hook_event_name: "Notification",
      notificationType: "permission_prompt",
      message: `Run ${command}`,
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "shutdown" },
  },
  kimi: {
    start: { ...base, hook_event_name: "SessionStart", source: "startup" },
    prompt: { ...base, hook_event_name: "UserPromptSubmit", prompt: [{ type: "text", text: "go" }] },
    request: {
      ...{ ...base, hook_event_name: "PermissionRequest", id: "approval_1", agent_id: "main" },
      ...{ tool_name: "Bash", tool_input: { command }, tool_call_id: "call_1" },
    },
    end: { ...base, hook_event_name: "SessionEnd", reason: "exit" },
  },
  example: {
    start: { type: "session.started", session: sessionId, folder: "/home/dev/proj" },
    prompt: { type: "turn.started", session: sessionId },
    request: { type: "permission.asked", session: sessionId, command },
    end: { type: "session.ended", session: sessionId },
  },
};

/** The same request as an agent's own server sends it, where answers go there and no hook waits for one. */
const serverRequests: Readonly<Record<string, Payload>> = {
  codex: {
    method: "item/commandExecution/requestApproval",
    threadId: sessionId,
    turnId: "t-1",
    itemId: "call-1",
    command: `/bin/bash -lc '${command}'`,
    cwd: "/home/dev/proj",
    availableDecisions: ["accept", "cancel"],
  },
  qwen: { ...base, request_id: "r-1", tool_name: "run_shell_command", tool_input: { command } },
};

const folder = mkdtempSync(join(tmpdir(), "beckon-contract-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { HOME: join(folder, "home"), PATH: join(folder, "no-programs") };
const anyPayload = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("session_id", "hook_event_name", "type", "session", "tool_input")),
  fc.jsonValue() as fc.Arbitrary<unknown>,
);

const table = [...agents, example];

test("every agent of the table has its own id, and the default agent is one of them", () => {
  const ids = table.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(agents.map(({ id }) => id)).toContain(defaultAgent);
  // installed.json keeps each agent's program under its id, beside its own fields.
  const reserved = ["version", "binary", "copy", "home", "files", "login", "madeFolder"];
  expect(ids.filter((id) => reserved.includes(id))).toEqual([]);
});

for (const agent of table) {
  describe(agent.name, () => {
    const story = stories[agent.id];
    if (!story) throw new Error(`write ${agent.name}'s story above`);
    checkForwarding(agent, story);
    checkRuntime(agent, story);
    checkAnswering(agent, story);
    checkSetup(agent);
  });
}

/** Whether a hook waits for the answer to a request. */
const hasWaitingHooks = async ({ id, loadRuntime }: Agent): Promise<boolean> =>
  (await loadRuntime()).answering !== null && serverRequests[id] === undefined;

function checkForwarding(agent: Agent, story: Story): void {
  const { id, forwarding } = agent;
  test("its id can be part of a command and of a session's key", () => {
    expect(id).toMatch(/^[a-z][a-z0-9-]*$/);
  });

  test("the forwarder sees which event of which session it is", () => {
    for (const payload of Object.values(story)) {
      const { eventName, sessionId: session } = forwarding.identify(payload);
      expect(session).toBe(sessionId);
      expect(typeof eventName).toBe("string");
    }
  });

  test("only the start of a session launches beckon, and only a request that its hook can answer is pending", async () => {
    const { start, request, ...others } = story;
    const canWait = await hasWaitingHooks(agent);
    expect([forwarding.isSessionStart(start), forwarding.canWaitForAnswer(start)]).toEqual([true, false]);
    expect([forwarding.isSessionStart(request), forwarding.canWaitForAnswer(request)]).toEqual([
      false,
      canWait,
    ]);
    for (const payload of Object.values(others)) {
      expect([forwarding.isSessionStart(payload), forwarding.canWaitForAnswer(payload)]).toEqual([
        false,
        false,
      ]);
    }
  });

  test("a full spool keeps a request", () => {
    expect(forwarding.spoolKind(story.request).kind).toBe("ask");
  });

  test("no payload and no output makes the forwarder throw", () => {
    fc.assert(
      fc.property(anyPayload, fc.jsonValue(), (payload, output) => {
        forwarding.identify(payload);
        forwarding.isSessionStart(payload);
        forwarding.canWaitForAnswer(payload);
        expect(["ask", "end", "tool", "other"]).toContain(forwarding.spoolKind(payload).kind);
        forwarding.isDecision(output);
        forwarding.isAttended({});
      }),
      // An object that cannot be turned into text.
      { examples: [[{ hook_event_name: { toString: "" }, type: { toString: "" } }, null]] },
    );
  });
}

function checkRuntime(agent: Agent, story: Story): void {
  const translate = async (payload: Payload, at: number): Promise<AgentEvent | null> => {
    const { translate } = await agent.loadRuntime();
    const hook = openEnvelope({ provider: agent.id, _meta: {}, payload }, agent.id, null);
    return hook && translate(hook, { id: `e-${at}`, key: `k-${at}`, at, t: at });
  };

  test("its events become a session that starts, waits for permission and ends", async () => {
    let window: EventWindow | undefined;
    const phases: unknown[] = [];
    let at = 1_790_000_000_000;
    const payloads = [story.start, story.prompt, story.request, ...(story.end ? [story.end] : [])];
    for (const payload of payloads) {
      at += 10_000;
      const event = await translate(payload, at);
      if (!event) throw new Error("not translated");
      expect(event).toMatchObject({ agent: agent.id, sessionId });
      window = reduce(window, event);
      const view = viewSession(window.session, { at: at + 2_000, t: at + 2_000 });
      phases.push(view.state === "completed" ? "ended" : view.activityPhase);
    }
    const expected = ["interactable", "busy", "waiting_permission", "ended"];
    expect(phases).toEqual(expected.slice(0, payloads.length));
  });

  test("a payload without a session is refused, with a reason", async () => {
    expect(await translate({}, 1)).toBeNull();
    const { explainRefusal } = await agent.loadRuntime();
    expect(explainRefusal({})).not.toBe("");
  });

  test("no payload makes it throw, and what it strips stays JSON", async () => {
    const { dedupeKey, stripToolOutput } = await agent.loadRuntime();
    await fc.assert(
      fc.asyncProperty(anyPayload, async (payload) => {
        await translate(payload, 1);
        expect(typeof (dedupeKey(payload) ?? "")).toBe("string");
        JSON.parse(stripToolOutput(JSON.stringify(payload), 0, payload));
      }),
    );
  });

  test("an id that looks like a secret is not masked: two sessions must not become one", async () => {
    const { identifierFields } = await agent.loadRuntime();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    for (const payload of Object.values(story)) {
      const json = JSON.stringify(payload).replace(sessionId, secret);
      expect(maskJson(json, 0, identifierFields)).toBe(json);
      expect(maskJson(JSON.stringify({ ...payload, text: secret }), 0, identifierFields)).toContain("•••");
    }
  });

  test("its watcher runs where the agent is not installed", async () => {
    const errors: string[] = [];
    const runtime = await agent.loadRuntime();
    const watcher = runtime.watch({
      env,
      clock: () => ({ at: 1, t: 1, boot: null, host: null }),
      findSession: () => null,
      dispatch: () => {},
      mask: (text) => text,
      onError: (text) => errors.push(text),
      exec: async () => ({ code: null, stdout: "", stderr: "" }),
      addPendingRequest: () => () => {},
      report: () => {},
      listWindows: async () => [],
      findProgram: async () => null,
    });
    watcher?.scan([]);
    watcher?.check([]);
    watcher?.stop();
    expect(errors).toEqual([]);
    expect(runtime.isPresent(env)).toBe(false);
    expect(runtime.createRegistrationCheck(env)()).toBe(false);
    expect(await runtime.findTranscript("/etc/passwd", env)).toBeNull();
  });
}

function checkAnswering(agent: Agent, story: Story): void {
  test("a request is shown in full, and each answer is output that the forwarder prints", async () => {
    const { answering } = await agent.loadRuntime();
    if (!answering) return;
    const request = serverRequests[agent.id] ?? story.request;
    expect(answering.findSessionId(request)).toBe(sessionId);
    const details = answering.describe(request, { cwd: "/home/dev/proj" });
    expect(details).toMatchObject({ kind: "permission", isWhole: true });
    expect(details?.lines.join("\n")).toContain(command);
    for (const answer of [{ do: "allow" }, { do: "deny", message: null }] as const) {
      const decision = answering.decide(request, answer);
      expect(typeof decision).toBe("object");
      expect(agent.forwarding.isDecision(decision), JSON.stringify(decision)).toBe(
        await hasWaitingHooks(agent),
      );
    }
    expect(agent.forwarding.isDecision({})).toBe(false);
  });

  test("an answer that makes no sense is refused in words", async () => {
    const { answering } = await agent.loadRuntime();
    if (!answering) return;
    const request = serverRequests[agent.id] ?? story.request;
    expect(typeof answering.decide(request, { do: "reply", replies: [["x"]] })).toBe("string");
    expect(answering.describe(story.start, { cwd: null })).toBeNull();
    expect(answering.autoAllow({}, request, { cwd: "/home/dev/proj" })).toBeNull();
  });
}

function checkSetup(agent: Agent): void {
  const binary = "/opt/beckon";
  const options = { version: null, binary, home: null, platform: "linux" } as const;

  test("registered twice is the same as once, and removed nothing of beckon is left", async () => {
    const { createRegistration, entries } = await agent.loadSetup();
    const registration = createRegistration(options);
    expect(registration.count).toBeGreaterThan(0);
    const once = registration.add(null);
    expect(registration.add(once)).toBe(once);
    expect(entries.findHomes(once)).toHaveLength(registration.count);
    const removed = entries.remove(once);
    expect(entries.findHomes(removed)).toEqual([]);
    expect(entries.isEmpty(removed)).toBe(true);
    expect(entries.remove(removed)).toBe(removed);
  });

  test("a registration for another state folder names it", async () => {
    const { createRegistration, entries } = await agent.loadSetup();
    const text = createRegistration({ ...options, home: "/srv/b" }).add(null);
    expect(new Set(entries.findHomes(text))).toEqual(new Set(["/srv/b"]));
  });

  test("the user's own settings file is an absolute path below the home folder", async () => {
    const { settingsPath } = await agent.loadSetup();
    const path = settingsPath("user", env, "/home/dev/proj");
    if (path === null) throw new Error("no user scope");
    expect(isAbsolute(path) && path.startsWith(env.HOME)).toBe(true);
  });

  test("where it is not installed, doctor says so, and every problem has a fix", async () => {
    const setup = await agent.loadSetup();
    const exec = async () => ({ code: null, stdout: "", stderr: "" });
    const { isRegistered, parts, liveTest } = setup.examine({
      env,
      cwd: null,
      exec,
      version: "1.0.0",
      state: join(folder, "state"),
      program: null,
      binary: null,
      readVersion: async () => null,
      readSessionIds: async () => null,
    });
    expect(isRegistered).toBe(false);
    const findings: Finding[] = (await Promise.all(parts.map((part) => part.findings))).flat();
    expect(findings.map(({ link }) => link)).toEqual([agent.name, "hooks"]);
    for (const { state, text, fix } of findings) {
      expect(text).not.toContain("\n");
      expect(state === "ok" || fix !== null).toBe(true);
    }
    expect(liveTest).toMatchObject({ command: null, path: null, reason: expect.any(String) });
    const canWait = await hasWaitingHooks(agent);
    expect(agent.forwarding.canWaitForAnswer(liveTest.createRequest("x", "test") as Payload)).toBe(canWait);
    expect(setup.isPresent(env)).toBe(false);
    expect(setup.findLeftovers(env, null)).toEqual([]);
  });
}
