/** What a hook costs the agent: the compiled forwarder beside the scripts that users write for it. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyScript, recordFolder } from "../known-folder.ts";
import { hookScript, mainSource } from "../repo.ts";
import { against, compileEntry, preparePrograms, withFolder } from "./processes.ts";
import { type Case, formatFigures, interleave, meets, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 100);
const missing = ["bash", "jq", "curl"].filter((program) => Bun.which(program) === null);
if (missing.length > 0) {
  console.error(`this bench compares with bash, jq and curl. Install what is missing: ${missing.join(", ")}`);
  process.exit(1);
}

/** Runs in its own process, and listens where beckon does. Counts requests and keeps the last body. */
const receiverSource = `
  let count = 0, last = "";
  const fetch = async (request) => {
    if (request.method === "GET") return Response.json({ count, last });
    last = await request.text();
    count++;
    return new Response('{"ok":true}');
  };
  Bun.serve({ unix: process.argv[1], fetch });
  console.log(Bun.serve({ hostname: "127.0.0.1", port: 0, fetch }).port);`;

const seedScript = `#!/bin/bash
URL="\${RECEIVER_URL:-http://localhost:4488}"
PROVIDER="\${RECEIVER_PROVIDER:-claude}"
INPUT=$(cat | jq -c --arg p "$PROVIDER" '. + {provider: $p}')
curl -s -X POST "\${URL}/api/hook" \\
  -H "Content-Type: application/json" \\
  -d "$INPUT" \\
  --max-time 1 \\
  > /dev/null 2>&1 || true
`;

/** CPU: user and system time of the program and its children. */
interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

function payload(round: number): string {
  return JSON.stringify({
    session_id: "06c75a06-35e5-4fac-b012-e960f4753e79",
    transcript_path: "/home/dev/.claude/projects/-home-dev-proj/06c75a06-35e5-4fac-b012-e960f4753e79.jsonl",
    cwd: "/home/dev/proj",
    prompt_id: crypto.randomUUID(),
    permission_mode: "default",
    effort: { level: "high" },
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command: `grep -rn "needle ${round}" src | head -20`, description: "Look for the needle" },
    tool_use_id: `toolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`,
  });
}

async function measure(folder: string): Promise<boolean> {
  const inFolder = (name: string) => join(folder, name);
  mkdirSync(inFolder("home"));
  const socket = inFolder("home/hook.sock");
  const receiver = Bun.spawn([process.execPath, "-e", receiverSource, socket], { stdout: "pipe" });
  try {
    const { value } = await receiver.stdout.getReader().read();
    const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
    const readReceived = async () => (await (await fetch(url)).json()) as { count: number; last: string };

    recordFolder(folder, inFolder("home"));
    writeFileSync(inFolder("home/endpoint.json"), JSON.stringify({ url, pid: receiver.pid }));
    writeFileSync(inFolder("home/auth-header"), `Authorization: Bearer ${"t".repeat(43)}\n`);
    writeFileSync(inFolder("seed.sh"), seedScript);
    chmodSync(inFolder("seed.sh"), 0o755);
    const main = JSON.stringify(mainSource);
    writeFileSync(
      inFolder("floor.ts"),
      `if (process.argv[2] === "nothing") process.exit(0);\nawait import(${main});\n`,
    );
    const [beckon, other] = preparePrograms(folder).map((program) => program.binary);
    await compileEntry(inFolder("floor.ts"), inFolder("floor"));

    // What Claude Code sets for its hooks, in tmux.
    const env = {
      ...{ PATH: process.env.PATH ?? "", HOME: folder, BECKON_HOME: inFolder("home"), RECEIVER_URL: url },
      ...{
        CLAUDE_PID: String(process.pid),
        CLAUDE_PROJECT_DIR: "/home/dev/proj",
        CLAUDE_CODE_ENTRYPOINT: "cli",
      },
      ...{
        CLAUDE_CODE_SESSION_ATTENDED: "1",
        TERM: "tmux-256color",
        TERM_PROGRAM: "tmux",
        SHELL: "/bin/bash",
      },
      ...{ TERM_PROGRAM_VERSION: "3.3a", TMUX: "/tmp/tmux-1000/default,45,0", TMUX_PANE: "%0" },
    };
    const curl = `curl -s -m 1 -H @'${inFolder("home/auth-header")}' -H 'Content-Type: application/json' --data-binary @- ${url}/api/hook >/dev/null`;
    const commands: Record<string, string[]> = {
      "beckon hook": [beckon ?? "", "hook", "claude"],
      "sh + curl": ["sh", "-c", curl],
      "bash + jq + curl": ["bash", inFolder("seed.sh")],
      "empty verb": [inFolder("floor"), "nothing"],
      "sh -c beckon hook": ["sh", "-c", `${beckon} hook claude`],
      "beckon-hook.sh": ["sh", copyScript(hookScript, folder), "claude"],
      ...(other ? { [against]: [other, "hook", "claude"] } : {}),
    };
    const run = async (command: string[], round: number): Promise<Cost> => {
      const text = payload(round);
      const started = Bun.nanoseconds();
      const child = Bun.spawn(command, { env, stdin: "pipe", stdout: "ignore", stderr: "inherit" });
      try {
        child.stdin.write(text);
        await child.stdin.end();
      } catch {
        // The empty verb exits before it reads.
      }
      const code = await child.exited;
      const ms = (Bun.nanoseconds() - started) / 1e6;
      if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
      return { ms, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e3 };
    };
    const senders = Object.keys(commands).filter((name) => name !== "empty verb");
    for (const name of senders) {
      const before = (await readReceived()).count;
      await run(commands[name] ?? [], 0);
      if ((await readReceived()).count !== before + 1) throw new Error(`${name} did not deliver the event`);
      if (name === "beckon hook") requireCompleteMeta((await readReceived()).last);
    }

    const before = (await readReceived()).count;
    const cpu = new Map<string, number[]>();
    const cases: Case[] = Object.entries(commands).map(([name, command]) => ({
      name,
      async run(n) {
        const { ms, cpuMs } = await run(command, n);
        if (n >= 0) cpu.set(name, [...(cpu.get(name) ?? []), cpuMs]);
        return ms;
      },
    }));
    const warmUp = 5;
    const figures = await interleave(cases, { rounds, warmUp });
    const delivered = (await readReceived()).count - before;
    const expected = senders.length * (rounds + warmUp);
    const bases = ["sh + curl", "bash + jq + curl", against];
    console.log(formatFigures(figures, "ms", bases));
    // On a busy machine, the time that passes says more about the other programs.
    console.log(formatFigures(cpu, "ms CPU", bases));
    console.log(`${rounds} rounds, ${delivered} of ${expected} events delivered`);
    const verdicts = [
      meets(
        "beckon hook × bash + jq + curl",
        ratio(figures, "beckon hook", "bash + jq + curl"),
        "at most",
        0.3,
      ),
      meets("beckon hook × sh + curl", ratio(figures, "beckon hook", "sh + curl"), "at most", 0.8),
    ];
    return verdicts.every(Boolean) && delivered === expected;
  } finally {
    receiver.kill();
    await receiver.exited;
  }
}

/** A forwarder that leaves things out would be fast too. */
function requireCompleteMeta(body: string): void {
  const meta: Record<string, unknown> = JSON.parse(body)._meta;
  const onLinux = process.platform === "linux" ? ["seq", "boot", "host", "procStart"] : [];
  const wanted = [
    "id",
    "at",
    "collected_at",
    "forwarder_version",
    "workspace_id",
    "pid",
    "attended",
    "env",
    ...onLinux,
  ];
  const absent = wanted.filter((name) => meta[name] === undefined || meta[name] === null);
  if (absent.length > 0) throw new Error(`beckon hook sent no ${absent.join(", ")} in _meta`);
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
