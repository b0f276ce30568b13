/** Finds what a shell command would do that the user should notice. When in doubt, it is reported. */

import type { Command, Pipeline, Script, Word } from "../index.ts";
import { parseShell } from "../index.ts";
import { parseArguments } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { findSecretPath, isOutsideProject } from "./paths.ts";
import {
  findCheck,
  findDownloader,
  findDownloaderOf,
  interpreters,
  isRoot,
  isWrapper,
  listPrograms,
  listSubstitutions,
  maxWrapped,
  network,
  type ProgramCall,
  shells,
  skipPrefix,
} from "./programs.ts";
import { databaseClients, findDataLoss } from "./service-programs.ts";

/** Checks a text that would be run as a script. */
export function checkScriptText(text: string, context: CommandContext): void {
  // Only a substitution: the check of the command that runs it has reported it.
  if (/^\s*\$\(\)\s*$/.test(text)) return;
  context.remainingLength -= text.length + 100;
  if (context.remainingLength < 0) {
    context.findings.add("unclear", "too complex to check", "commands within commands");
    return;
  }
  const script = parseShell(text);
  if (script) checkScript(script, context);
  else context.findings.add("unclear", "cannot be read safely", text.trim().split("\n", 1)[0] ?? "");
}

function checkScript(script: Script, context: CommandContext): void {
  for (const pipeline of script) checkPipeline(pipeline, context);
}

const decoders = new Set(["base64", "base32", "xxd", "openssl", "uudecode", "rev", "gpg"]);

function checkPipeline(pipeline: Pipeline, context: CommandContext): void {
  let downloads: string | null = null;
  let decodes: string | null = null;
  let before: string | null = null;
  const texts: string[] = [];
  let client: string | null = null;
  for (const command of pipeline) {
    checkCommand(command, context);
    const programs = listPrograms(command, context);
    const runner = programs.find((program) => runsInput(program));
    const name = programs[0]?.name ?? "( … )";
    if (runner && before !== null) {
      const form = `${downloads ?? decodes ?? before} | ${runner.name}`;
      if (downloads !== null) context.findings.add("downloads", "runs what it downloads", form);
      else if (decodes !== null) context.findings.add("runs", "runs what is encoded", form);
      else context.findings.add("runs", "runs what another program prints", form);
    }
    downloads ??= findDownloaderOf(command, context);
    if (decoders.has(name)) decodes ??= name;
    before = name;
    client ??= programs.find((program) => databaseClients.has(program.name))?.name ?? null;
    for (const { text } of command.words) texts.push(text);
    for (const { body, target } of command.redirects) texts.push(body ?? target.text);
  }
  const loss = client === null ? null : findDataLoss(texts.join(" "));
  if (loss !== null) context.findings.add("data", "deletes data", `${client}: ${loss}`);
}

const input = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;

/** Shells and interpreters without a script of their own run what they read. */
function runsInput({ name, args }: ProgramCall): boolean {
  const texts = args.map(({ text }) => text);
  if (name === "source" || name === ".") return texts.some((text) => input.test(text));
  if (name === "xargs" || name === "parallel")
    return texts.some((text) => /^(?:.*\/)?(?:sh|bash|zsh|dash|ksh)$/.test(text));
  if (name === "iex" || name === "invoke-expression") return true;
  if (!shells.has(name) && !interpreters.has(name)) return false;
  if (shells.has(name) && texts.some((text) => /^-[a-z]*s[a-z]*$/.test(text))) return true;
  const own = texts.findIndex((text) => /^-\w*[cem]\w*$|^--(?:eval|print|command)\b/.test(text));
  const script = texts.find((text) => !text.startsWith("-") || input.test(text));
  if (script !== undefined && input.test(script)) return true;
  return own === -1 && script === undefined && !texts.some((text) => /^--?(?:v|version|help|h)$/i.test(text));
}

function checkCommand(command: Command, context: CommandContext): void {
  for (const script of listSubstitutions(command)) checkScript(script, context);
  for (const { operator, target } of command.redirects) {
    if (operator.includes(">") && !/^(?:\d+|-)$/.test(target.text)) context.checkTarget(target.text);
  }
  for (const { text } of listWords(command)) {
    checkWord(text, context);
    if (findSecretPath(text) !== null && isOutsideProject(text, context.paths))
      context.findings.add("sends", "uses a file that may hold secrets", text);
  }
  for (const { body } of command.redirects) if (body !== null) checkWord(body, context);
  const [first] = skipPrefix(command);
  if (first?.isDynamic && !/^\[{1,2}$/.test(first.text))
    context.findings.add("unclear", "runs a program that only the shell knows", first.text);
  const programs = listPrograms(command, context);
  if (programs.length > maxWrapped)
    context.findings.add("unclear", "too complex to check", programs[0]?.name ?? "");
  for (const program of programs) checkProgram(program, command, context);
}

const listWords = ({ words, redirects }: Command): Word[] => [
  ...words,
  ...redirects.map(({ target }) => target),
];

const withPassword = /\w:\/\/[^\s/@:]{0,200}:[^\s/@]{1,500}@[^\s/]{1,60}/;
const withSecret =
  /[?&][\w-]{0,40}(?:token|api[_-]?key|secret|passw(?:or)?d|access[_-]?key|signature)[\w-]{0,20}=[^&\s"']{6}/i;

/** Checks a word of any program. */
export function checkWord(text: string, context: CommandContext): void {
  const secret = findSecretPath(text);
  if (secret !== null) context.secrets.add(secret);
  if (/\bhttps?:\/\//i.test(text)) context.network.add("https");
  if (withPassword.test(text))
    context.findings.add("address", "has a password in an address", text.slice(0, text.indexOf("//") + 2));
  if (withSecret.test(text))
    context.findings.add(
      "address",
      "has a secret in an address",
      withSecret.exec(text)?.[0].split("=", 1)[0] ?? "",
    );
  if (/\/dev\/(?:tcp|udp)\//.test(text)) {
    context.network.add("/dev/tcp");
    context.findings.add("sends", "opens a connection to another machine", "/dev/tcp");
  }
}

function checkProgram(program: ProgramCall, command: Command, context: CommandContext): void {
  const { name, args } = program;
  const texts = args.map(({ text }) => text);
  const read = parseArguments(texts);
  const { findings } = context;
  findCheck(name, context)?.(read, context, name);
  if (isRoot(name)) findings.add("root", "runs as root", name);
  if (network.has(name) || (name === "git" && texts.includes("push")))
    context.network.add(name === "git" ? "git push" : name);
  if (/^(?:env|printenv|set|export)$/.test(name) && read.rest.length === 0) context.secrets.add(name);
  if (context.downloads.size > 0) checkFetched(program, context);
  if (name === "xargs" && read.rest.some((text) => /^(?:.*\/)?(?:rm|unlink|shred)$/.test(text)))
    findings.add("deletes", "deletes everything it is given", "xargs rm");
  if (isWrapper(name) || (name === "git" && texts.some((text) => gitRuns.test(text)))) {
    for (const text of texts)
      if (/\s/.test(text)) checkScriptText(text.replace(/^[\w.-]{1,40}=/, ""), context);
  }
  if (/^(?:eval|trap|alias|exec|iex|invoke-expression|source|\.)$/.test(name))
    checkEval(program, command, context);
  if (shells.has(name)) checkShell(program, command, context);
  if (interpreters.has(name)) checkCode(program, command, context);
}

const gitRuns = /^(?:submodule|rebase|bisect|filter-branch|difftool|-c)$/;

function checkFetched({ name, args }: ProgramCall, context: CommandContext): void {
  const isRun = shells.has(name) || interpreters.has(name) || /^(?:chmod|source|\.)$/.test(name);
  const file = [...(isRun ? args.map(({ text }) => text.replace(/^\.\//, "")) : []), name].find((text) =>
    context.downloads.has(text),
  );
  if (file !== undefined)
    context.findings.add(
      "downloads",
      "runs what it downloads",
      `${name} ${file === name ? "" : file}`.trim(),
    );
}

function checkEval({ name, args }: ProgramCall, { group }: Command, context: CommandContext): void {
  const inner = [...args.flatMap((word) => word.substitutions), ...(group ? [group] : [])];
  const from = inner.map((script) => findDownloader(script, context)).find((findings) => findings !== null);
  if (from) context.findings.add("downloads", "runs what it downloads", `${name} "$(${from} …)"`);
  else if (name === "eval" && args.some(({ isDynamic }) => isDynamic))
    context.findings.add("unclear", "runs what only the shell knows", "eval");
  if (name === "alias")
    for (const { text } of args) checkScriptText(text.slice(text.indexOf("=") + 1), context);
  else if (name === "trap") checkScriptText(args[0]?.text ?? "", context);
  else if (name !== "source" && name !== ".")
    checkScriptText(args.map(({ text }) => text).join(" "), context);
}

function checkShell({ name, args }: ProgramCall, command: Command, context: CommandContext): void {
  checkSources(name, args, command, context);
  const at = args.findIndex(({ text }) => /^(?:-\w*c\w*|-command|-encodedcommand|\/c)$/i.test(text));
  const code = at === -1 ? undefined : args[at + 1];
  if (/^-e(?:nc|ncodedcommand)?$/i.test(args[at]?.text ?? "") && /^p/.test(name))
    context.findings.add("runs", "runs what is encoded", name);
  if (code) {
    checkScriptText(code.text, context);
    if (/^\s*[$`]/.test(code.text))
      context.findings.add("unclear", "runs what only the shell knows", `${name} -c`);
  }
  for (const { operator, target, body } of command.redirects) {
    if (operator === "<<<") checkScriptText(target.text, context);
    else if (body !== null) checkScriptText(body, context);
  }
}

/** `bash <(curl …)`, `bash -c "$(curl …)"`, `bash <<< "$(curl …)"`, `bash < <(curl …)` */
function checkSources(name: string, args: readonly Word[], command: Command, context: CommandContext): void {
  const inner = [
    ...args.flatMap((word) => word.substitutions),
    ...command.redirects.flatMap(({ target }) => target.substitutions),
    ...(command.group ? [command.group] : []),
  ];
  const from = inner.map((script) => findDownloader(script, context)).find((findings) => findings !== null);
  if (from) context.findings.add("downloads", "runs what it downloads", `${name} <(${from} …)`);
}

const deletes =
  /\brmtree\b|\brm_rf?\b|\brmSync\b|\brmdirSync\b|\bremoveSync\b|\bfs(?:Promises)?\.rm\b|\bremove_tree\b|\brimraf\b/;
const deletesFiles = /\bunlink(?:Sync)?\b|\bos\.remove\b|\bFile\.delete\b|\bFileUtils\.rm\b/;
const runsOthers =
  /os\.system|subprocess|os\.popen|pty\.spawn|child_process|\bexecSync\b|\bspawnSync?\b|\bsystem\s{0,4}[("'`]|\bqx\b|do shell script|Bun\.(?:spawn|\$)/;
const runsText = /\b(?:exec|eval|Function|compile)\s{0,4}\(/;
const fetches = /urlopen|requests\.(?:get|post)|\bfetch\s{0,4}\(|https?\.get|Net::HTTP|open-uri|LWP/;

/** Checks a script on the command line or in a here-document, by its words only. */
function checkCode({ name, args }: ProgramCall, command: Command, context: CommandContext): void {
  checkSources(name, args, command, context);
  const bodies = command.redirects.flatMap(
    ({ operator, target, body }) => body ?? (operator === "<<<" ? target.text : []),
  );
  const code = [...args.map(({ text }) => text), ...bodies].join("\n");
  const form = `${name} -c`;
  if (deletes.test(code) || /\brm\s{1,4}-\w{0,9}[rR]/.test(code))
    context.findings.add("deletes", "deletes whole folders", form);
  if (deletesFiles.test(code)) context.findings.add("deletes", "deletes files", form);
  if (runsText.test(code) && fetches.test(code))
    context.findings.add("downloads", "runs what it downloads", form);
  if (runsOthers.test(code)) context.findings.add("runs", "runs other programs", form);
}
