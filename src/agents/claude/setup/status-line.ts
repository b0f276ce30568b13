/**
 * beckon's part of Claude Code's status line, which is one command in the settings. The user's own command goes on running in
 * the shell that the CLI starts, with the same input; what it prints, and its exit code, stay as they are. beckon gets a
 * copy of the input in the background. If beckon is gone, only that part fails, silently.
 */
import type { Node } from "jsonc-parser";
import { quoteForShell } from "../../../core/text/shell-quote.ts";
import { readHookCommand } from "../../../user-files/hook-command.ts";
import { SettingsError } from "../../../user-files/hooks.ts";
import {
  addMember,
  applyEdits,
  type Edit,
  endOf,
  findProperty,
  isBlank,
  parseSettings,
  removeMember,
} from "../../../user-files/json-text.ts";

export interface StatusLineCaller {
  /** The absolute path of beckon. */
  readonly binary: string;
  /** BECKON_HOME, if beckon is installed with it. */
  readonly home: string | null;
}

const property = "statusLine";
const input = `printf %s "\${beckon_in%x}"`;
/** The x keeps line breaks at the end, which the shell would remove. */
const beforeCall = `beckon_in=$(cat; echo x); { ${input} | { cd / && `;
/** `:` does nothing: the user's command can be empty, or only a comment. */
const afterCall = ` hook claude --statusline; }; } >/dev/null 2>&1 & ${input} | ( :; `;
/** On a line of its own: the user's command can end with a comment. */
const chainEnd = "\n)";
const beforeLoneCall = "{ cd / && ";
const afterLoneCall = " hook claude --statusline; } >/dev/null 2>&1; exit 0";

function formatCall({ binary, home }: StatusLineCaller): string {
  return `${home === null ? "" : `BECKON_HOME=${quoteForShell(home)} `}${quoteForShell(binary)}`;
}

const formatChainStart = (caller: StatusLineCaller): string => beforeCall + formatCall(caller) + afterCall;

const formatLoneCommand = (caller: StatusLineCaller): string =>
  beforeLoneCall + formatCall(caller) + afterLoneCall;

/** beckon's part of the status line's command. */
interface OwnPart {
  /** Everything before the user's command. The whole text if the user has no command. */
  readonly start: string;
  readonly end: string;
  readonly home: string | null;
}

/** null if nothing of the command is beckon's. */
function findOwnPart(command: string): OwnPart | null {
  const isChain = command.startsWith(beforeCall) && command.endsWith(chainEnd);
  const isLone = command.startsWith(beforeLoneCall) && command.endsWith(afterLoneCall);
  if (!isChain && !isLone) return null;
  const callStart = (isChain ? beforeCall : beforeLoneCall).length;
  const callEnd = command.indexOf(isChain ? afterCall : afterLoneCall, callStart);
  if (callEnd < 0) return null;
  const call = readHookCommand(`${command.slice(callStart, callEnd)} hook claude`);
  if (!call) return null;
  const start = isChain ? command.slice(0, callEnd + afterCall.length) : command;
  return { start, end: isChain ? chainEnd : "", home: call.home };
}

interface StatusLine {
  readonly value: Node;
  readonly command: Node;
  readonly own: OwnPart | null;
}

/** null if the settings have no status line. Throws SettingsError if it is not a command. */
function findStatusLine(body: string, root: Node): StatusLine | null {
  const value = findProperty(root, property)?.value;
  if (!value) return null;
  const command = findProperty(value, "command")?.value;
  if (command?.type !== "string") {
    throw new SettingsError(body, value.offset, "statusLine.command is missing, or not a text");
  }
  return { value, command, own: findOwnPart(String(command.value)) };
}

/** The settings with beckon in the status line. The same string if it is there already. */
export function addStatusLine(text: string, caller: StatusLineCaller): string {
  const { bom, body, root } = parseSettings(isBlank(text) ? "{}\n" : text);
  const line = findStatusLine(body, root);
  if (!line) return addMember(text, property, { type: "command", command: formatLoneCommand(caller) });
  const isLone = line.own !== null && line.own.end === "";
  const start = isLone ? formatLoneCommand(caller) : formatChainStart(caller);
  const end = isLone ? "" : chainEnd;
  if (line.own?.start === start) return text;
  const written = escapeForJson(start) + readUsersPart(body, line) + escapeForJson(end);
  return bom + applyEdits(body, [replaceNode(line.command, `"${written}"`)]);
}

/** Updates the path of beckon where it is in the status line. The same string if it is not. */
export function updateStatusLine(text: string, caller: StatusLineCaller): string {
  return hasStatusLine(text) ? addStatusLine(text, caller) : text;
}

/** The settings with the user's own status line. The same string if beckon is not in it. */
export function removeStatusLine(text: string): string {
  if (!hasStatusLine(text)) return text;
  const { bom, body, root } = parseSettings(text);
  const line = findStatusLine(body, root);
  if (!line?.own) return text;
  if (line.own.end !== "")
    return bom + applyEdits(body, [replaceNode(line.command, `"${readUsersPart(body, line)}"`)]);
  return removeMember(text, property);
}

/** The BECKON_HOME that the status line calls beckon with. Empty if it does not call beckon. */
export function findStatusLineHomes(text: string): readonly (string | null)[] {
  if (isBlank(text)) return [];
  const { root } = parseSettings(text);
  const value = findProperty(root, property)?.value;
  const command: unknown = value && findProperty(value, "command")?.value.value;
  const own = typeof command === "string" ? findOwnPart(command) : null;
  return own ? [own.home] : [];
}

const hasStatusLine = (text: string): boolean => findStatusLineHomes(text).length > 0;

/** The user's command as it is written in the file: the same text can be escaped in several ways. */
function readUsersPart(body: string, { command, own }: StatusLine): string {
  const written = body.slice(command.offset + 1, endOf(command) - 1);
  if (!own) return written;
  const [start, end] = [escapeForJson(own.start), escapeForJson(own.end)];
  if (written.startsWith(start) && written.endsWith(end))
    return written.slice(start.length, written.length - end.length);
  // Another program has written the file, with other escapes.
  const text = String(command.value);
  return escapeForJson(text.slice(own.start.length, text.length - own.end.length));
}

const escapeForJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const replaceNode = (node: Node, text: string): Edit => ({ start: node.offset, end: endOf(node), text });
