/** Runs a registered hook as the agent does: by the shell, with an event on stdin. */
import type { Readable } from "node:stream";

export interface HookRun {
  /** null: it had to be ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface HookCall {
  /** The command of the settings; or, where none is registered, a program and its arguments. */
  readonly run: string | readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const maxOutput = 4_096;

/** Never throws, and never takes longer than `limitMs`, or than `stop` lets it. */
export async function runHook(
  { run, env }: HookCall,
  payload: object,
  limitMs: number,
  stop = new AbortController(),
): Promise<HookRun> {
  const argv = typeof run === "string" ? ["/bin/sh", "-c", run] : [...run];
  const started = performance.now();
  const took = () => performance.now() - started;
  const timer = setTimeout(() => stop.abort(), limitMs);
  try {
    const { spawn } = await import("node:child_process");
    const [program = "", ...args] = argv;
    // Of its own group, so that all of it can be ended.
    const child = spawn(program, args, { cwd: "/", env: { ...env }, detached: process.platform !== "win32" });
    const kill = () => {
      try {
        if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    };
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
    const stdout = gather(child.stdout);
    const stderr = gather(child.stderr);
    const code = await new Promise<number | null | Error>((resolve) => {
      child.on("error", resolve);
      child.on("close", (status) => resolve(status ?? -1));
      stop.signal.addEventListener("abort", () => resolve(null));
    });
    if (code instanceof Error) return { code: -1, stdout: "", stderr: code.message, ms: took() };
    if (code === null) kill();
    return { code, stdout: stdout(), stderr: stderr(), ms: took() };
  } finally {
    clearTimeout(timer);
  }
}

function gather(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("error", () => {});
  stream.on("data", (chunk: string) => {
    if (text.length < maxOutput) text += chunk;
  });
  return () => text.slice(0, maxOutput).trim();
}
