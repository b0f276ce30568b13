/** What the real Claude Code CLI needs: a home as of a user who has used it before, and a fake API instead of the network. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findCli } from "./cli.ts";
import { apiPort, apiReady } from "./fake-api.ts";
import { home, type Namespace, readFirstLine } from "./namespace.ts";

const apiKey = "sk-ant-not-a-key-0123456789abcdefghij";

/** The CLI uses the fake API and nothing else on the network. */
export const claudeVariables = {
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${apiPort}`,
  ANTHROPIC_API_KEY: apiKey,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
};

/** No welcome screen, and the folder is trusted. */
export const createClaudeJson = (version: string) => ({
  hasCompletedOnboarding: true,
  lastOnboardingVersion: version,
  theme: "dark",
  numStartups: 5,
  customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
  projects: { [`${home}/proj`]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
});

/** Fields added to the CLI's files. */
export interface ClaudeHomeOptions {
  readonly settings?: object;
  readonly claudeJson?: object | undefined;
}

/** Writes the CLI's files into the home folder. Returns what has to be mounted there: path in the home to a file or folder. */
export function writeClaudeHome(
  folder: string,
  version: string,
  { settings = {}, claudeJson }: ClaudeHomeOptions = {},
): Readonly<Record<string, string>> {
  for (const name of [".claude", "proj", "bin"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, ".claude/settings.json"), JSON.stringify(settings));
  writeFileSync(
    join(folder, ".claude.json"),
    JSON.stringify({ ...createClaudeJson(version), ...claudeJson }),
  );
  const cli = findCli(version);
  if (cli.script) writeFileSync(join(folder, "bin/claude"), cli.script, { mode: 0o755 });
  return cli.files;
}

export interface FakeApi {
  /** Every request of a turn to the API, in ms, with the tool results since the previous one. */
  readRequests(): readonly {
    readonly receivedAt: number;
    readonly answeredAt: number;
    readonly results: string;
    /** What hooks added to the model's context. */
    readonly hookContext: string;
  }[];
}

/** Starts it in the namespace's network. `prompts`: those that it takes as a line of its script. */
export async function startFakeApi(
  space: Pick<Namespace, "startOutside">,
  log: string,
  prompts: Readonly<Record<string, string>> = {},
): Promise<FakeApi> {
  const script = join(import.meta.dir, "fake-api.ts");
  const api = space.startOutside([process.execPath, script, log, JSON.stringify(prompts)]);
  if ((await readFirstLine(api.stdout)) !== apiReady) throw new Error("the fake API did not start");
  return {
    readRequests() {
      const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      return lines.map((line) => {
        const [receivedAt, answeredAt, results = "", hookContext = ""] = JSON.parse(line) as [
          number,
          number,
          string,
          string,
        ];
        return { receivedAt, answeredAt, results, hookContext };
      });
    },
  };
}
