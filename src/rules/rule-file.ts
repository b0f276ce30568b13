/** The rules on disk, beside the settings: the user may write the file by hand. Each is checked whenever the file is read. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { asList } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { readFileStamp } from "../storage/files.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { type ReadRule, readSavedRule } from "./rule.ts";

export interface RuleFile {
  /** As they are now: a file that was changed is read again. */
  rules(): readonly ReadRule[];
  /** Throws if it cannot be written. */
  save(rules: readonly ReadRule[]): void;
  problems(): readonly string[];
}

interface Content {
  readonly stamp: string;
  readonly rules: readonly ReadRule[];
  /** Entries that are not valid rules: they allow nothing, and stay in the file. */
  readonly others: readonly unknown[];
  readonly problems: readonly string[];
}

export function createRuleFile(path: string, onProblem: (text: string) => void): RuleFile {
  let content: Content | null = null;

  function read(): Content {
    const stamp = readFileStamp(path);
    if (content?.stamp === stamp) return content;
    const { value, problem } = loadJsonState(path);
    const problems = problem === null ? [] : [problem];
    const rules: ReadRule[] = [];
    const others: unknown[] = [];
    const names = new Set<string>();
    for (const entry of asList(value.rules)) {
      const rule = rules.length < limits.maxRules ? readSavedRule(entry) : "there are too many rules";
      if (typeof rule !== "string" && !names.has(rule.name)) {
        names.add(rule.name);
        rules.push(rule);
        continue;
      }
      others.push(entry);
      problems.push(
        `rules.json: ${typeof rule === "string" ? rule : `two rules are called ${rule.name}`}. It is not used`,
      );
    }
    for (const text of problems) onProblem(text);
    content = { stamp: readFileStamp(path), rules, others, problems };
    return content;
  }

  return {
    rules: () => read().rules,
    save(rules) {
      // A user who has no settings yet has no such folder.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const entries = rules.map(({ allowed: _, ...rule }) => rule);
      saveJsonState(path, { version: 1, rules: [...entries, ...read().others] });
      content = null;
    },
    problems: () => read().problems,
  };
}
