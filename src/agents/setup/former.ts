/**
 * Agents that an earlier beckon could be connected to: uninstall still removes the hooks that it added to their files. Nothing
 * connects them any more, see docs/agents/not-supported.md.
 */
import { join } from "node:path";
import { asRecord } from "../../core/json.ts";
import { type Env, homeOf } from "../../system/folders.ts";
import { readHookCommand } from "../../user-files/hook-command.ts";
import { parseJsonFile, setJsonValue } from "../../user-files/json-edit.ts";
import type { AgentSetup, OwnEntries } from "../agent.ts";

type JsonPath = (string | number)[];
type FormerSetup = Pick<AgentSetup, "settingsPath" | "entries" | "findLeftovers">;

interface OwnHook {
  readonly path: JsonPath;
  readonly home: string | null;
}

/** Antigravity's hooks printed an empty decision. */
const endings = /echo '\{\}'$/;

/** The objects in the file whose command calls beckon, wherever they are. */
function listOwn(value: unknown, path: JsonPath = []): readonly OwnHook[] {
  if (typeof value !== "object" || value === null) return [];
  const { command } = asRecord(value);
  const called = typeof command === "string" ? readHookCommand(command.replace(endings, "exit 0")) : null;
  if (called !== null) return [{ path, home: called.home }];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    listOwn(inner, [...path, isList ? Number(key) : key]),
  );
}

/** Removes beckon's hooks, and the lists and objects that are empty without them. */
function removeOwn(text: string): string {
  let result = text;
  for (const { path } of [...listOwn(parseJsonFile(text))].reverse()) {
    let end = path.length;
    do {
      result = setJsonValue(result, path.slice(0, end), undefined);
      end--;
    } while (end > 0 && isEmptyAt(result, path.slice(0, end)));
  }
  return result;
}

function isEmptyAt(text: string, path: JsonPath): boolean {
  const value = path.reduce<unknown>((inner, key) => Object(inner)[key], parseJsonFile(text));
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

const entries: OwnEntries = {
  findHomes: (text) => listOwn(parseJsonFile(text)).map(({ home }) => home),
  remove: removeOwn,
  isEmpty: (text) => Object.keys(asRecord(parseJsonFile(text))).every((key) => key === "version"),
};

const createFormer = (id: string, ...path: string[]): { agent: { id: string }; setup: FormerSetup } => ({
  agent: { id },
  setup: {
    settingsPath: (scope, env: Env) => (scope === "user" ? join(homeOf(env), ...path) : null),
    entries,
    findLeftovers: () => [],
  },
});

export const formerAgents = [
  createFormer("cursor", ".cursor", "hooks.json"),
  createFormer("antigravity", ".gemini", "config", "hooks.json"),
];
