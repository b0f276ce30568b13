/**
 * Which hooks Codex trusts. It skips the others without a word. The user trusts them in its dialog; beckon only reads what is
 * kept about them in config.toml, and never writes it.
 */
import { createHash } from "node:crypto";
import { asList, asRecord, isRecord, type JsonRecord, parseRecord } from "../../../core/json.ts";
import { isOwnCommand } from "../../../user-files/hook-command.ts";
import { asksGuard } from "../../setup/hooks-setup.ts";

/** "modified": trusted once, and changed since. "disabled": trusted, but switched off by the user. */
export type Trust = "trusted" | "untrusted" | "modified" | "disabled";

export interface OwnHookTrust {
  readonly event: string;
  readonly trust: Trust;
}

/** Codex's timeout, in seconds, if the hook has none, and the largest one for these events. */
const defaultTimeout = 600;
const maxTimeouts: Readonly<Record<string, number>> = { SessionEnd: 3, Interrupt: 3 };

/** The trust of beckon's own hooks. `path` and `hooks` are those of hooks.json, `config` is the text of config.toml. */
export function findTrust(path: string, hooks: string, config: string): readonly OwnHookTrust[] {
  const states = asRecord(asRecord(parseToml(config).hooks).state);
  return listOwnHooks(hooks).map(({ event, matcher, position, hook }) => {
    const state = asRecord(states[`${path}:${toSnakeCase(event)}:${position}`]);
    const name = asksGuard({ command: String(hook.command) }) ? `${event} of the work guard` : event;
    return { event: name, trust: judgeTrust(state, computeHash(event, matcher, hook)) };
  });
}

/** Whether all hooks are switched off. */
export function areHooksOff(config: string): boolean {
  const { hooks, codex_hooks } = asRecord(parseToml(config).features);
  return hooks === false || codex_hooks === false;
}

function judgeTrust({ trusted_hash, enabled }: JsonRecord, hash: string): Trust {
  if (typeof trusted_hash !== "string") return "untrusted";
  if (trusted_hash !== hash) return "modified";
  return enabled === false ? "disabled" : "trusted";
}

interface PlacedHook {
  readonly event: string;
  readonly matcher: unknown;
  /** `0:0`: of the group among those of its event, and of the hook in it. */
  readonly position: string;
  readonly hook: JsonRecord;
}

function listOwnHooks(text: string): readonly PlacedHook[] {
  const events = asRecord(parseRecord(text.replace(/^\uFEFF/, "")).hooks);
  return Object.entries(events).flatMap(([event, groups]) =>
    listPlaced(groups).flatMap(({ index, value: group }) =>
      listPlaced(group.hooks).flatMap(({ index: place, value: hook }) =>
        typeof hook.command === "string" && isOwnCommand({ command: hook.command })
          ? [{ event, matcher: group.matcher, position: `${index}:${place}`, hook }]
          : [],
      ),
    ),
  );
}

function listPlaced(value: unknown): readonly { readonly index: number; readonly value: JsonRecord }[] {
  return asList(value).flatMap((item, index) => (isRecord(item) ? [{ index, value: item }] : []));
}

const toSnakeCase = (event: string): string =>
  event.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** As Codex computes it (measured with 0.166.0): over JSON with sorted keys and every default filled in. */
function computeHash(event: string, matcher: unknown, hook: JsonRecord): string {
  const timeout = typeof hook.timeout === "number" ? hook.timeout : defaultTimeout;
  const identity = {
    event_name: toSnakeCase(event),
    hooks: [
      {
        async: hook.async === true,
        command: hook.command,
        ...(typeof hook.statusMessage === "string" ? { statusMessage: hook.statusMessage } : {}),
        timeout: Math.max(1, Math.min(timeout, maxTimeouts[event] ?? timeout)),
        type: "command",
      },
    ],
    ...(typeof matcher === "string" ? { matcher } : {}),
  };
  return `sha256:${createHash("sha256").update(JSON.stringify(identity)).digest("hex")}`;
}

function parseToml(text: string): JsonRecord {
  try {
    return asRecord(Bun.TOML.parse(text));
  } catch {
    return {};
  }
}
