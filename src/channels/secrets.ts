/**
 * The secrets of channels: tokens, keys, and addresses that work without one. They come from the environment or from
 * channel-secrets.json beside config.json, which only its owner may read. Users share config.json, so no secret is in it.
 */
import { constants, fstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { asRecord, isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import {
  errorCode,
  openOwnFile,
  readOwnFile,
  UnsafeFileError,
  withFile,
  writePrivateFile,
} from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { channelVariablePrefix } from "../system/app-environment.ts";
import type { Env } from "../system/folders.ts";

export interface ChannelSecrets {
  /** Null if there is none. */
  get(channel: string, field: string): string | null;
  /** Whether this environment variable sets a secret. */
  hasVariable(variable: string): boolean;
  /** Why channel-secrets.json is not used, and what to do; null if it is, or if there is no such file. */
  readonly problem: string | null;
  /** The text without any known secret: a service's error can repeat what was sent. */
  redact(text: string): string;
}

/** The environment comes first, so that a secret can be replaced for one run. */
export function readChannelSecrets(
  { channelSecrets: path }: Pick<Paths, "channelSecrets">,
  env: Env,
): ChannelSecrets {
  const { values, problem } = readFile(path);
  const variables = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith(channelVariablePrefix) && value ? [value.trim()] : [],
  );
  const known = [...variables, ...Object.values(values).flatMap((fields) => Object.values(asRecord(fields)))];
  return {
    get(channel, field) {
      const fields = Object.hasOwn(values, channel) ? asRecord(values[channel]) : {};
      const value =
        env[nameSecretVariable(channel, field)]?.trim() ||
        (Object.hasOwn(fields, field) ? fields[field] : null);
      return typeof value === "string" && value !== "" ? value : null;
    },
    hasVariable: (variable) => (env[variable]?.trim() ?? "") !== "",
    problem,
    redact: createRedactor(known.filter((value) => typeof value === "string")),
  };
}

/** `phone`, `botToken` → `BECKON_CHANNEL_PHONE_BOT_TOKEN` */
export function nameSecretVariable(channel: string, field: string): string {
  const upper = (name: string) => name.replace(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]/g, "_").toUpperCase();
  return `${channelVariablePrefix}${upper(channel)}_${upper(field)}`;
}

/** Replaces these fields of a channel's secrets, removes those that are null, and keeps everything else. Throws an error for the user. */
export function writeChannelSecrets(
  { channelSecrets: path }: Pick<Paths, "channelSecrets">,
  channel: string,
  fields: Readonly<Record<string, string | null>>,
): void {
  const { values, problem } = readFile(path);
  if (problem !== null) throw new Error(problem);
  const own = Object.entries({ ...asRecord(values[channel]), ...fields }).filter(
    ([, value]) => value !== null,
  );
  const merged = { ...values, [channel]: Object.fromEntries(own) };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivateFile(path, `${JSON.stringify(merged, null, 2)}\n`);
}

/** Removes all secrets of a channel, and keeps everything else. False if there are none. Throws an error for the user. */
export function removeChannelSecrets(
  { channelSecrets: path }: Pick<Paths, "channelSecrets">,
  channel: string,
): boolean {
  const { values, problem } = readFile(path);
  if (problem !== null) throw new Error(problem);
  if (!Object.hasOwn(values, channel)) return false;
  const { [channel]: _, ...others } = values;
  writePrivateFile(path, `${JSON.stringify(others, null, 2)}\n`);
  return true;
}

interface SecretsFile {
  readonly values: JsonRecord;
  readonly problem: string | null;
}

function readFile(path: string): SecretsFile {
  const refuse = (problem: string): SecretsFile => ({ values: {}, problem: `${path} ${problem}` });
  try {
    const mode = withFile(openOwnFile(path, constants.O_RDONLY), (fd) => fstatSync(fd).mode);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      return refuse(`can be read by other users, so its secrets are not used. Run: chmod 600 '${path}'`);
    const values: unknown = JSON.parse(readOwnFile(path, limits.maxSmallFileBytes));
    return isRecord(values) ? { values, problem: null } : refuse(notAnObject);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { values: {}, problem: null };
    if (error instanceof UnsafeFileError) return { values: {}, problem: error.message };
    // The message of JSON.parse can quote the text, and so a secret.
    if (error instanceof SyntaxError) return refuse(notAnObject);
    return refuse(`cannot be read (${errorCode(error)})`);
  }
}

const notAnObject = 'is not valid JSON. It must look like {"phone": {"token": "…"}}';

/** A shorter text is more likely to be part of something else. */
const minSecretLength = 6;

function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((left, form) => left.replaceAll(form, "•••"), text);
}
