/** Install, uninstall and doctor for Codex. */
import { capitalize, formatCount, formatList } from "../../../core/text/words.ts";
import type { Env } from "../../../system/folders.ts";
import type { AgentSetup, ExamineContext } from "../../agent.ts";
import { createFindings, type Finding } from "../../finding.ts";
import type { RegisteredFile } from "../../setup/called-program.ts";
import { readSettingsText } from "../../setup/file-check.ts";
import { createHooksSetup, createTestCommand, createTestEnd } from "../../setup/hooks-setup.ts";
import { type AgentMachine, createAgentSetup } from "../../setup/index.ts";
import { codexHooks } from "../hooks.ts";
import { configPath, hooksPath, isPresent } from "./folder.ts";
import { areHooksOff, findTrust, type OwnHookTrust, type Trust } from "./trust.ts";

const trustSteps =
  'start codex, and where it asks "Hooks need review" choose "2. Trust all and continue" (or type /hooks and press t)';

const finding = createFindings("hooks", "codex");

const form = { timeout: 5, async: false };

const hooks = createHooksSetup({
  id: "codex",
  listHooks: () => codexHooks.map((hook) => ({ async: false, ...hook })),
  guard: {
    edits: { event: "PreToolUse", matcher: "apply_patch", ...form },
    starts: { event: "SessionStart", ...form },
  },
});

export const createCodexSetup = (machine: AgentMachine = {}): AgentSetup =>
  createAgentSetup(
    {
      id: "codex",
      name: "Codex",
      isPresent,
      describeProgram: () => ({
        program: "codex",
        // `codex-cli 0.166.0`
        versionPattern: /^\s*codex(?:-cli)? v?(\d+\.\d+\.\d+[\w.+-]{0,40})\s*$/m,
      }),
      settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
      ...hooks,
      findMore: findTrustFindings,
      findWarnings: (_, env, __, after) => describeTrustToDo(env, after),
      liveTest: {
        createRequest: createTestCommand,
        createEnd: createTestEnd,
        createEnv: (env) => env,
      },
    },
    machine,
  );

export const codexSetup = createCodexSetup();

/** For install, about the text that it writes. */
function describeTrustToDo(env: Env, after: string): readonly string[] {
  const path = hooksPath(env);
  const config = readSettingsText(configPath(env));
  const review = findTrust(path, after, config).filter(({ trust }) => needsReview.has(trust));
  return [
    ...(areHooksOff(config) ? [`Codex's hooks are off: ${configPath(env)} has hooks = false`] : []),
    ...(review.length === 0
      ? []
      : [
          `Codex does not run ${formatCount(review.length, "new or changed hook")} until you trust them: ${trustSteps}. ` +
            "If it asks after your first prompt, send that prompt again with Enter. beckon does not trust them for you",
        ]),
  ];
}

const needsReview: ReadonlySet<Trust> = new Set(["untrusted", "modified"]);

function findTrustFindings({ env }: ExamineContext, files: readonly RegisteredFile[]): readonly Finding[] {
  const config = readSettingsText(configPath(env));
  const hooks = files.flatMap(({ path, text, own }) => (own.length > 0 ? findTrust(path, text, config) : []));
  if (hooks.length === 0) return [];
  const isOff = areHooksOff(config);
  const findings = (Object.keys(problems) as (keyof typeof problems)[]).flatMap((trust) => {
    const matching = hooks.filter((hook) => hook.trust === trust);
    if (matching.length === 0) return [];
    const { text, fix } = problems[trust];
    return [finding("fail", trust, `${listEvents(matching, hooks.length)} ${text}`, fix)];
  });
  if (isOff)
    findings.push(
      finding("fail", "off", `hooks = false in ${configPath(env)}`, "Remove that line: Codex runs no hooks"),
    );
  return findings.length > 0 ? findings : [finding("ok", "trusted", "Codex trusts them")];
}

const problems = {
  untrusted: { text: "not trusted: Codex does not run them", fix: capitalize(trustSteps) },
  modified: {
    text: "changed since you trusted them: Codex does not run them",
    fix: capitalize(trustSteps),
  },
  disabled: { text: "switched off in Codex", fix: "Type /hooks in codex and switch them on" },
} as const satisfies Partial<Record<Trust, { text: string; fix: string }>>;

const listEvents = (hooks: readonly OwnHookTrust[], all: number): string =>
  hooks.length === all
    ? "the hooks are"
    : `${formatList(hooks.map(({ event }) => event))} ${hooks.length === 1 ? "is" : "are"}`;
