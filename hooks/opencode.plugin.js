// beckon's plugin for opencode. `beckon --install` writes this file, also when beckon is updated; `beckon --uninstall` removes it.
// It reports what opencode's sessions do to beckon, and passes on what you answer there, and prompts that you send from there. It changes nothing that opencode does,
// and every fault is silent: without beckon, opencode works as before. It waits for nothing, except before an edit in a project
// where you have turned beckon's work guard on: the guard can refuse the edit, and has a second to do so.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, resolve as resolvePath } from "node:path";

/** The name under which beckon knows this program. */
const agent = "opencode";
const binary = "BECKON_BINARY";
const home = "BECKON_HOME";
/** beckon writes here in which projects the guard has to be asked. */
const guardScope = "BECKON_GUARD_SCOPE";

/** Texts are cut to this: a whole file that a tool writes is of no use to beckon. What a permission asks is not cut. */
const maxText = 2_000;
/** If beckon's program cannot be started, it was removed: it is tried again after this time. */
const pauseMs = 60_000;
/** An event waits for the one before it, so that beckon gets them in order, but no longer than this. */
const maxWaitMs = 300;
/** A request stays open until it is answered: the next event waits only until it has surely been sent. */
const heldWaitMs = 60;
const maxGuardMs = 1_000;
/** beckon has this long to take an event that the plugin sends itself. */
const maxPostMs = 1_000;
/** Longer events are sent by beckon's program, which shortens them. */
const maxPostLength = 100_000;
const maxFileBytes = 65_536;
const maxQueued = 500;
/** `opencode run` ends as soon as its turn does. Then so many of the last events are still sent, each within this time. */
const maxLast = 3;
const maxLastMs = 1_000;
/** A prompt that the user sends through beckon, as JSON. */
const maxPromptLength = 700_000;
/** The longest path that a socket can have. */
const maxSocketPath = 100;
/** The main session and its subagents. */
const maxFamily = 50;
const maxSessions = 1_000;
const maxCalls = 100;
/** Subcommands of opencode that nobody sits in front of. */
const unattended = ["run", "github", "pr"];
/** Subcommands whose sessions are not in the terminal that they were started in. */
const withoutTerminal = [...unattended, "serve", "web", "acp"];

const command = process.argv.slice(2).find((word) => withoutTerminal.includes(word)) ?? null;

export const Beckon = async (context) => {
  const { client, directory } = context;
  const start = context.startBeckon ?? startProcess;
  /** What is known of each session, by its id. */
  const sessions = new Map();
  /**
   * The running tools and what they are called with, by the id of their call. Another plugin may still change the arguments. If it
   * replaces them in `output`, opencode runs those that it had.
   */
  const calls = new Map();
  /** How the plugin sends events itself, as beckon's program has told it. null if only the program can send them. */
  let connection = null;
  let sending = Promise.resolve();
  let queued = 0;
  let pausedUntil = 0;
  /** The events that beckon does not have yet, without requests, which end with opencode. */
  const unsent = new Set();

  const find = (id) => {
    const known = sessions.get(id);
    if (known) return known;
    const session = { id, parent: null, agent: null, directory, status: null, error: null, sent: "" };
    sessions.set(id, session);
    if (sessions.size > maxSessions) sessions.delete(sessions.keys().next().value);
    return session;
  };

  const remember = (callID, call) => {
    calls.set(callID, call);
    if (calls.size > maxCalls) calls.delete(calls.keys().next().value);
  };

  /** The session that the user started. A subagent has a session of its own, with the id of its parent. */
  const rootOf = (session) => {
    let root = session;
    for (let depth = 0; root.parent !== null && depth < 20; depth++) root = find(root.parent);
    return root;
  };

  /**
   * Most events go straight to beckon. Beckon's program sends the first one, requests, and what beckon did not take: it keeps
   * events while beckon is down, waits for answers, and finds out where to send the next ones.
   */
  const send = async ({ text, moment }, onOutput) => {
    if (onOutput) return start(text, onOutput);
    if (connection !== null && text.length <= maxPostLength) {
      if (isStillThere(connection) && (await post(connection, text, moment))) return true;
      connection = null;
    }
    const onConnection = (output) => {
      connection = openConnection(output.connection);
      if (connection !== null) openInbox(connection, prompt);
    };
    return start(addMoment(text, moment), onConnection, ["--connect"]);
  };

  const report = (type, session, fields, onOutput) => {
    if (queued >= maxQueued || Date.now() < pausedUntil) return;
    const root = rootOf(session);
    if (typeof root.id !== "string") return;
    const subagent = root === session ? {} : { subagent: session.id, subagentType: session.agent ?? "" };
    const text = JSON.stringify({ type, session: root.id, ...subagent, cwd: session.directory, ...fields });
    queued++;
    const event = { text, moment: createMoment() };
    if (!onOutput) unsent.add(event);
    const sendNow = () => send(event, onOutput).finally(() => unsent.delete(event));
    sending = sending
      .then(() => Promise.race([sendNow(), sleep(onOutput ? heldWaitMs : maxWaitMs)]))
      .then((isStarted) => {
        if (isStarted === false) pausedUntil = Date.now() + pauseMs;
      })
      .catch(() => {})
      .finally(() => queued--);
  };

  // The id tells beckon which of them it has already.
  process.on("exit", () => {
    if (Date.now() < pausedUntil) return;
    for (const { text, moment } of [...unsent].slice(-maxLast)) runProcess(addMoment(text, moment));
  });

  const learn = (info) => {
    const session = find(info.id);
    session.parent = info.parentID ?? session.parent;
    session.agent = info.agent ?? session.agent;
    session.directory = info.directory ?? session.directory;
    session.info = info;
    return session;
  };

  /** Title, model and tokens of the main session and its subagents, if they have changed. */
  const reportInfo = (session) => {
    const root = rootOf(session);
    const family = [...sessions.values()].filter((other) => other.info && rootOf(other) === root);
    const describe = ({ id, info, context: used }) => {
      const { model, tokens, cost } = info;
      return { id, model: model?.id, tokens, cost, context: used };
    };
    const fields = { title: root.info?.title, sessions: family.slice(-maxFamily).map(describe) };
    const text = JSON.stringify(fields);
    if (text === root.sent || family.length === 0) return;
    root.sent = text;
    report("session.updated", root, fields);
  };

  /** A terminal shows one session at a time: an idle one that the user left for another is over, until they return to it. */
  const leaveOthers = (current) => {
    if (command !== null) return;
    for (const session of sessions.values()) {
      if (session === current || session.parent !== null || session.status !== "idle") continue;
      session.status = "left";
      report("session.left", session, {});
    }
  };

  const handlers = {
    "session.created": ({ info }) => {
      const session = learn(info);
      report("session.created", session, { model: info.model?.id });
    },
    "session.updated": ({ info }) => {
      const session = learn(info);
      if (session.status !== "busy") reportInfo(session);
    },
    "session.deleted": ({ info }) => {
      report("session.deleted", find(info.id), {});
      sessions.delete(info.id);
    },
    "session.status": ({ sessionID, status }) => {
      const session = find(sessionID);
      if (status.type === "idle") {
        if (session.status === "idle") return;
        session.status = "idle";
        const { error, response } = session;
        session.error = null;
        report("session.idle", session, { ...error, response });
        reportInfo(session);
        return;
      }
      // A retry is announced before every attempt; busy comes at every step of a turn.
      const text = status.type === "retry" ? `retry ${status.message}` : "busy";
      if (session.status === "busy" && session.detail === text) return;
      // An error that came after the end of its turn does not belong to the next one.
      if (session.status !== "busy") session.error = null;
      session.status = "busy";
      session.detail = text;
      const retry = status.type === "retry" ? { retry: cut(status.message) } : {};
      report("session.busy", session, retry);
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID) return;
      const isAborted = error?.name === "MessageAbortedError";
      find(sessionID).error = isAborted
        ? { aborted: true }
        : { error: cut(error?.data?.message || error?.name || "error") };
    },
    "session.compacted": ({ sessionID }) => report("session.compacted", find(sessionID), {}),
    "message.updated": ({ info }) => {
      if (info.role !== "assistant") return;
      const session = find(info.sessionID);
      session.message = info.id;
      const { input = 0, output = 0, cache } = info.tokens ?? {};
      const used = input + output + (cache?.read ?? 0) + (cache?.write ?? 0);
      if (used > 0) session.context = used;
    },
    "message.part.updated": ({ part }) => {
      const session = part.type === "text" ? sessions.get(part.sessionID) : null;
      if (session && session.message === part.messageID) session.response = cut(part.text);
    },
    "permission.asked": (request) => {
      const { id, sessionID, permission, patterns, metadata, always, tool } = request;
      // A request does not say everything: that of a command not its folder, that of an MCP server's tool nothing at all.
      const { args: input, tool: called } = calls.get(tool?.callID) ?? {};
      const fields = {
        request: id,
        permission,
        patterns,
        metadata,
        called,
        input,
        always,
        call: tool?.callID,
      };
      report("permission.asked", find(sessionID), fields, (output) => {
        const { reply, message } = output;
        if (reply) answer(`/permission/{requestID}/reply`, id, { reply, ...(message ? { message } : {}) });
      });
    },
    "permission.replied": ({ sessionID, requestID, reply }) =>
      report("permission.replied", find(sessionID), { request: requestID, reply }),
    "question.asked": ({ id, sessionID, questions, tool }) => {
      const fields = { request: id, questions, call: tool?.callID };
      report("question.asked", find(sessionID), fields, (output) => {
        if (output.answers) answer("/question/{requestID}/reply", id, { answers: output.answers });
        else if (output.reply === "reject") answer("/question/{requestID}/reject", id, {});
      });
    },
    "question.replied": ({ sessionID, requestID }) =>
      report("question.replied", find(sessionID), { request: requestID }),
    "question.rejected": ({ sessionID, requestID }) =>
      report("question.rejected", find(sessionID), { request: requestID }),
  };

  /** The client of opencode's own server, inside of this process. The dialog on the screen closes. */
  const answer = (url, requestID, body) =>
    Promise.resolve(
      client._client.post({
        url,
        path: { requestID },
        body,
        headers: { "Content-Type": "application/json" },
      }),
    ).catch(() => {});

  /** As if the user had typed it. Nothing in it is a command, and an open dialog stays as it is. */
  const prompt = (id, text) =>
    Promise.resolve(
      client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text }] } }),
    ).catch(() => {});

  /** No fault of this file may reach opencode. */
  const quietly =
    (act) =>
    async (...args) => {
      try {
        return await act(...args);
      } catch {
        // Another version of opencode sends something else: that event is lost, and nothing more.
      }
    };

  /** Resolves with what the guard says: why the edit is refused, or what its model should know. null if nothing. */
  const askGuard = quietly(async ({ tool, sessionID }, args) => {
    const session = find(sessionID);
    const input = describeEdit(tool, args);
    if (input === null || Date.now() < pausedUntil || !isGuarded(session.directory, input)) return null;
    const text = JSON.stringify({
      type: "tool.started",
      session: rootOf(session).id,
      cwd: session.directory,
      tool,
      input,
    });
    return new Promise((resolve) => {
      setTimeout(resolve, maxGuardMs, null);
      start(text, resolve, ["--guard"]).then(
        () => resolve(null),
        () => resolve(null),
      );
    });
  });

  const reportTool = quietly(({ tool, sessionID, callID }, output, tell) => {
    remember(callID, { tool, args: output?.args, tell });
    const input = { ...cutAll(output?.args), ...cutAll(describeEdit(tool, output?.args)) };
    report("tool.started", find(sessionID), { tool, call: callID, input });
  });

  return {
    event: quietly(({ event }) => {
      const { type, properties } = event;
      if (Object.hasOwn(handlers, type)) handlers[type](properties);
    }),
    "chat.message": quietly(({ sessionID }, output) => {
      const session = find(sessionID);
      // The prompt of a subagent is written by its parent.
      if (session.parent !== null) return;
      session.response = undefined;
      const texts = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic);
      report("prompt", session, { prompt: cut(texts.map((part) => part.text).join("\n")) });
      leaveOthers(session);
    }),
    "tool.execute.before": async (call, output) => {
      const { refuse, tell } = (await askGuard(call, output?.args)) ?? {};
      // opencode does not run the tool, and the model gets the message as its result.
      if (typeof refuse === "string") throw new Error(refuse);
      await reportTool(call, output, tell);
    },
    "tool.execute.after": quietly(({ tool, sessionID, callID }, output) => {
      const { tell } = calls.get(callID) ?? {};
      calls.delete(callID);
      // The model reads it below the result.
      if (typeof tell === "string" && typeof output?.output === "string") output.output += `\n\n${tell}`;
      report("tool.ended", find(sessionID), { tool, call: callID });
    }),
  };
};

const sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });

const cut = (text) => (typeof text === "string" ? text.slice(0, maxText) : undefined);

const cutAll = (args) =>
  Object.fromEntries(
    Object.entries(args ?? {})
      .slice(0, 20)
      .map(([name, value]) => [name, typeof value === "string" ? cut(value) : value])
      .filter(([, value]) => typeof value !== "object" || JSON.stringify(value).length <= maxText),
  );

/** Tool → the field of its arguments that names the file that it changes, or has the patch. */
const editedFields = {
  apply_patch: "patchText",
  edit: "filePath",
  multiedit: "filePath",
  patch: "patchText",
  write: "filePath",
};

/** What a call says about the files that it changes: of a patch only the lines that name them. null if it changes none. */
function describeEdit(tool, args) {
  const field = Object.hasOwn(editedFields, tool) ? editedFields[tool] : null;
  const value = field === null ? null : args?.[field];
  if (typeof value !== "string") return null;
  return { [field]: field === "patchText" ? listHeaders(value).join("\n") : value };
}

const listHeaders = (patch) => patch.split("\n").filter((line) => line.startsWith("*** "));

/** Whether the guard is on for one of the files, as far as the settings tell: beckon itself decides. */
function isGuarded(directory, { filePath, patchText = "" }) {
  if (guardScope === null) return false;
  const { general, projects } = JSON.parse(readFileSync(guardScope, "utf8"));
  // opencode needs no blank after the colon, and ignores blanks at the end of the line, \r too.
  const named = listHeaders(patchText).map((line) => /^\*\*\* (?:\w+ File|Move to):(.+)$/s.exec(line)?.[1]);
  const files = [filePath, ...named].filter((file) => typeof file === "string");
  const here = findProject(projects, directory) ?? general;
  return files.some((file) => (findProject(projects, resolvePath(directory, file.trim())) ?? here).edits);
}

/** The settings of the longest folder that contains the path. null if none does. */
function findProject(projects, path) {
  const clean = (text) => (process.platform === "win32" ? text.replaceAll("\\", "/").toLowerCase() : text);
  const contains = (folder) => `${clean(path)}/`.startsWith(`${clean(folder).replace(/\/+$/, "")}/`);
  const [longest] = Object.keys(projects)
    .filter(contains)
    .sort((a, b) => b.length - a.length);
  return longest === undefined ? null : projects[longest];
}

/** `described` has the address that beckon's program has just delivered an event to. null if it cannot be used, or is not needed. */
function openConnection(described) {
  if (!described) return null;
  const { url, endpoint: path, authHeader, meta } = described;
  const endpoint = readOwn(path);
  const { url: current, pid, start = null } = JSON.parse(endpoint);
  const { protocol, hostname, port, origin } = new URL(url);
  if (protocol !== "http:" || hostname !== "127.0.0.1" || new URL(current).origin !== origin) return null;
  const [token] = readOwn(authHeader).split("\n");
  if (!/^Authorization: Bearer [\w-]+$/.test(token)) return null;
  return { port: Number(port), token, meta, path, endpoint, pid, start };
}

/** Takes the prompts that beckon passes on. Only beckon knows the token, and only the user's own programs reach the socket. */
let hasInbox = false;
function openInbox({ path: endpoint, token }, prompt) {
  const path = `${dirname(endpoint)}/inbox/${process.pid}.sock`;
  if (hasInbox || process.platform === "win32" || path.length > maxSocketPath) return;
  hasInbox = true;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(maxPostMs, () => socket.destroy());
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.length > maxPromptLength) socket.destroy();
      const end = text.indexOf("\n");
      if (end < 0) return;
      try {
        const { token: given, session, text: said } = JSON.parse(text.slice(0, end));
        const isTaken = given === token && typeof session === "string" && typeof said === "string";
        if (isTaken) prompt(session, said);
        socket.end(isTaken ? "taken\n" : "refused\n");
      } catch {
        socket.destroy();
      }
      text = "";
    });
  });
  server.on("error", () => {});
  server.listen(path);
  server.unref();
  process.on("exit", () => rmSync(path, { force: true }));
}

/** False once the beckon that has the port may be gone: another user's program could have it then, and must not get the token. */
function isStillThere({ path, endpoint, pid, start }) {
  try {
    process.kill(pid, 0);
    return readOwn(path) === endpoint && (start === null || readStart(pid) === start);
  } catch {
    return false;
  }
}

/** When the process was started, as /proc says. The program's name before it can have blanks. */
function readStart(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** One of beckon's own small files. Throws if it is a link, another user's, or has a second name. */
function readOwn(path) {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    const uid = process.getuid?.();
    const isOwn = uid === undefined || (stats.uid === uid && stats.nlink === 1);
    if (!stats.isFile() || stats.size > maxFileBytes || !isOwn) throw new Error(`${path} is not beckon's`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Microseconds since boot. null where only beckon itself can tell. */
function readUptime() {
  if (process.platform !== "linux") return null;
  return Math.round(Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1e6);
}

/** Which event it is, and when it happened. */
function createMoment() {
  const at = Date.now();
  return { id: randomUUID(), at, collected_at: new Date(at).toISOString(), seq: readUptime() };
}

/** For beckon's program, which would otherwise take the event for a new one. */
const addMoment = (text, moment) => `${text.slice(0, -1)},"_meta":${JSON.stringify(moment)}}`;

/** Resolves with whether beckon has taken the event. A bare socket, so that no proxy gets it. */
function post({ port, token, meta }, text, moment) {
  return new Promise((resolve) => {
    const about = JSON.stringify({ ...meta, ...moment });
    const body = Buffer.from(`{"provider":"${agent}","_meta":${about},"payload":${text}}`);
    const head =
      `POST /api/hook HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${token}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    const socket = createConnection({ host: "127.0.0.1", port });
    let response = "";
    const end = () => {
      resolve(/^HTTP\/1\.1 2/.test(response));
      socket.destroy();
    };
    socket.setTimeout(maxPostMs, end);
    socket.on("error", end);
    socket.on("close", end);
    socket.on("data", (chunk) => {
      response += chunk.toString("latin1");
      // "HTTP/1.1 200" is all that is needed.
      if (response.length >= 12) end();
    });
    socket.write(Buffer.concat([Buffer.from(head), body]));
    // opencode may end meanwhile.
    socket.unref();
  });
}

function describeProcess() {
  const env = { ...process.env, OPENCODE_PID: String(process.pid) };
  if (home !== null) env.BECKON_HOME = home;
  if (unattended.includes(command)) env.OPENCODE_UNATTENDED = "1";
  return { cwd: "/", env, windowsHide: true };
}

/** Waits for the program: nothing else runs any more when opencode ends. */
const runProcess = (text) =>
  spawnSync(binary, ["hook", agent], {
    ...describeProcess(),
    input: text,
    stdio: ["pipe", "ignore", "ignore"],
    timeout: maxLastMs,
  });

/** Resolves with false if the program cannot be started, otherwise when it has ended. `onOutput` gets what it prints. */
function startProcess(text, onOutput, options = []) {
  return new Promise((resolve) => {
    const stdio = ["pipe", onOutput ? "pipe" : "ignore", "ignore"];
    const child = spawn(binary, ["hook", agent, ...options], { ...describeProcess(), stdio });
    let output = "";
    child.on("error", () => resolve(false));
    child.on("close", () => {
      resolve(true);
      try {
        if (output.trim() !== "") onOutput(JSON.parse(output));
      } catch {
        // Not a decision.
      }
    });
    child.stdin.on("error", () => {});
    child.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    child.stdin.end(text);
    // opencode may end while beckon's program still waits for an answer.
    child.unref();
    child.stdout?.unref?.();
  });
}
