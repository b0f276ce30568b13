/**
 * Finds what a shell command would do that the user should notice. When in doubt, it is reported.
 *
 * Where to add a program:
 * - It runs its arguments (`nice`, `npx`): `wrappers` in programs.ts. Unknown programs are searched for `rm`, `git` and the like anyway.
 * - Its arguments may quote a command without running it (`grep`, `jest`): `quoting` in verbs.ts.
 * - It deletes, overwrites or shares files: file-programs.ts. It sends files away or opens this machine: remote-programs.ts.
 * - Some of its subcommands do harm (`kubectl delete`): the table in service-programs.ts. Verbs like `delete` and `deploy` are found for
 *   every program in verbs.ts, which also lists cloud providers and programs for administrators.
 * - It is a database client: sql.ts. It runs code (`python -c`): `interpreters` in programs.ts, and the functions in inline-code.ts.
 * - A variable makes it run other code (`GIT_PAGER`): environment.ts. A file runs by itself or may hold secrets: paths.ts.
 */

import type { Command, Pipeline, Redirect, Script, Word } from "../index.ts";
import { parseShell } from "../index.ts";
import { parseArguments } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { checkAssignment } from "./environment.ts";
import { findsOnlyGenerated } from "./file-programs.ts";
import { checkCode, checkCodeText } from "./inline-code.ts";
import { findSecretPath, isOutsideProject } from "./paths.ts";
import {
  assignment,
  codeRunners,
  editors,
  findCheck,
  findDownloader,
  findDownloaderOf,
  findInnerProgram,
  interpreters,
  isRoot,
  isWrapper,
  listPrograms,
  listSubstitutions,
  looksDestructive,
  maxArgs,
  maxWrapped,
  network,
  type ProgramCall,
  shells,
  skipPrefix,
} from "./programs.ts";
import { findPipeTarget } from "./remote-programs.ts";
import { databaseClients, findDataLoss, findGrant, findRemoteChange } from "./sql.ts";
import { checkVerbs, isOrdinary, quotesCommands } from "./verbs.ts";

/** Checks a text that would be run as a script. */
export function checkScriptText(text: string, context: CommandContext): void {
  // Only a substitution: the check of the command that runs it has reported it.
  if (/^\s*\$\(\)\s*$/.test(text)) return;
  context.budget.remainingLength -= text.length + 500;
  if (context.budget.remainingLength < 0) {
    context.findings.add("unclear", "too complex to check", "commands within commands");
    return;
  }
  const script = parseShell(text);
  if (script) checkScript(script, context);
  else context.findings.add("unclear", "cannot be read safely", text.trim().split("\n", 1)[0] ?? "");
}

function checkScript(script: Script, context: CommandContext): void {
  for (const pipeline of script) {
    context.budget.remainingCommands -= pipeline.length;
    if (context.budget.remainingCommands < 0) {
      context.findings.add("unclear", "too complex to check", "hundreds of commands");
      return;
    }
    checkPipeline(pipeline, context);
  }
}

const decoders = new Set(["base64", "base32", "xxd", "openssl", "uudecode", "rev", "gpg"]);

function checkPipeline(pipeline: Pipeline, context: CommandContext): void {
  let downloads: string | null = null;
  let decodes: string | null = null;
  let before: string | null = null;
  const texts: string[] = [];
  let client: string | null = null;
  for (const [index, command] of pipeline.entries()) {
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
    if (programs.some(({ name, args }) => name === "xargs" && args.some(({ text }) => text === "kill")))
      if (findsByName(pipeline.slice(0, index).map((earlier) => [earlier])))
        context.findings.add("system", "ends processes by their name", "xargs kill");
    const sent = before === null ? null : findSent(programs);
    if (sent !== null)
      context.findings.add("sends", "sends what another program prints to another machine", sent);
    if (name === "tee") rememberTeed(pipeline[index - 1], programs, context);
    downloads ??= findDownloaderOf(command, context);
    if (decoders.has(name)) decodes ??= name;
    before = name;
    if (client === null) {
      client = programs.find(isDatabaseClient)?.name ?? null;
      if (client !== null) checkDatabaseInput(pipeline, client, index, context);
    }
    for (const { text } of command.words) texts.push(text);
    for (const { body, target } of command.redirects) texts.push(body ?? target.text);
  }
  checkSelfOverwrite(pipeline, context);
  if (client !== null) checkStatements(texts.join(" "), client, context);
}

function checkStatements(text: string, client: string, { findings }: CommandContext): void {
  const loss = findDataLoss(text);
  if (loss !== null) findings.add("data", "deletes data", `${client}: ${loss}`);
  const grant = findGrant(text);
  if (grant !== null) findings.add("rights", "changes who may use the database", `${client}: ${grant}`);
  const change = findRemoteChange(text);
  if (change !== null) findings.add("servers", "changes data on another machine", `${client}: ${change}`);
  if (/^(?:nc|ncat|netcat|telnet|socat)$/.test(client) && /\b(?:flush_?(?:all|db)|shutdown)\b/i.test(text))
    findings.add("data", "deletes data", client);
}

const destructiveFile = /(?:drop|dump|backup|restore|reset|truncate|wipe|delete|clean)[\w-]*\.\w+$|\.dump$/i;

/** A database that is given a dump or another program's output: `psql < drop.sql`, `pg_dump a | psql b`. */
function checkDatabaseInput(pipeline: Pipeline, client: string, at: number, context: CommandContext): void {
  const input = pipeline[at]?.redirects.find(({ operator }) => operator === "<")?.target.text ?? "";
  const printer = pipeline.slice(0, at).map((command) => skipPrefix(command)[0]?.text ?? "")[0];
  const files = (pipeline[at]?.words ?? []).filter((_, n, words) =>
    /^(?:-f|--file|-i)$/.test(words[n - 1]?.text ?? ""),
  );
  const names = [
    input,
    ...files.map(({ text }) => text),
    ...pipeline.slice(0, at).flatMap(({ words }) => words.map(({ text }) => text)),
  ];
  if (names.some((name) => destructiveFile.test(name)))
    context.findings.add("data", "may replace data", `${client} < ${input || printer || "file"}`);
  else if (
    printer !== undefined &&
    !/^(?:n(?:c|cat|etcat)|telnet)$/.test(client) &&
    !/^(?:echo|printf|cat|sed|envsubst|yes)$/.test(printer)
  )
    context.findings.add("unclear", "cannot tell what this runs", `${printer} | ${client}`);
}

/** Also through a framework, `manage.py dbshell`, or over a bare connection, `echo flush_all | nc host 11211`. */
const isDatabaseClient = ({ name, args }: ProgramCall): boolean =>
  databaseClients.has(name) ||
  /^(?:nc|ncat|netcat|telnet)$/.test(name) ||
  args.some(({ text }) => /^(?:dbshell|dbconsole)$/.test(text));

function findSent(programs: readonly ProgramCall[]): string | null {
  for (const { name, args } of programs) {
    const host = findPipeTarget(
      name,
      args.map(({ text }) => text),
    );
    if (host !== null) return `| ${name} ${host}`;
  }
  return null;
}

const input = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;

/** Shells and interpreters without a script of their own run what they read. */
function runsInput({ name, args }: ProgramCall): boolean {
  const texts = args.map(({ text }) => text);
  if (name === "source" || name === ".") return texts.some((text) => input.test(text));
  if (name === "xargs" || name === "parallel")
    return texts.some((text) => /^(?:.*\/)?(?:sh|bash|zsh|dash|ksh)$/.test(text));
  if (name === "at" || name === "batch" || (name === "crontab" && texts.includes("-"))) return true;
  if (name === "tmux" || name === "screen") return false;
  if (name === "iex" || name === "invoke-expression") return true;
  if (!shells.has(name) && !interpreters.has(name)) return false;
  if (shells.has(name) && texts.some((text) => /^-[a-z]*s[a-z]*$/.test(text))) return true;
  // It only checks the syntax.
  if (shells.has(name) && texts.includes("-n")) return false;
  const own = texts.findIndex((text) => /^-\w*[cem]\w*$|^--(?:eval|print|command)\b/.test(text));
  const script = texts.find((text) => !text.startsWith("-") || input.test(text));
  if (script !== undefined && input.test(script)) return true;
  return own === -1 && script === undefined && !texts.some((text) => /^--?(?:v|version|help|h)$/i.test(text));
}

function checkCommand(command: Command, context: CommandContext): void {
  for (const script of listSubstitutions(command)) checkScript(script, context);
  checkRedirects(command, context);
  const words = skipPrefix(command);
  // `ssh -i KEY`: the key stays on this machine.
  const keys = new Set(words.flatMap(({ text }, n) => (words[n - 1]?.text === "-i" ? [text] : [])));
  for (const { text } of listWords(command)) {
    if (!keys.has(text)) checkWord(text.replace(sshKey, "ssh"), context);
    // `for x in src`, `read x`, `x=src`: the variable gets another value.
    if (context.paths.temporaryVariables.size > 0)
      context.paths.temporaryVariables.delete(text.split(/\+?=/, 1)[0] ?? "");
    if (!keys.has(text) && findSecretPath(text) !== null && isOutsideProject(text, context.paths))
      context.findings.add("sends", "uses a file that may hold secrets", text);
    if (/\$\{[^}]{0,200}@P\}/.test(text)) context.findings.add("unclear", "cannot tell what this runs", text);
  }
  for (const { body } of command.redirects) if (body !== null) checkWord(body, context);
  const [first] = words;
  for (const word of command.words.slice(0, command.words.length - words.length))
    checkAssigned(word, context);
  if (first?.isDynamic && !/^\[{1,2}$/.test(first.text))
    context.findings.add("unclear", "runs a program that only the shell knows", first.text);
  const action = words[1]?.text ?? "";
  if (first && /^\/etc\/(?:rc\.d\/)?init\.d\/|^\/etc\/rc\.d\//.test(first.text) && action !== "status")
    context.findings.add("system", "turns the machine or its services off", `${first.text} ${action}`);
  const programs = listPrograms(command, context);
  if (programs.length > maxWrapped || words.length > maxArgs)
    context.findings.add("unclear", "too complex to check", programs[0]?.name ?? "");
  const isCleanup =
    programs[0]?.name === "find" &&
    findsOnlyGenerated(
      programs[0].args.map(({ text }) => text),
      context,
    );
  for (const program of programs)
    if (!(isCleanup && program.name === "rm")) checkProgram(program, command, context);
}

/** `GIT_SSH_COMMAND='ssh -i ~/.ssh/key'` */
const sshKey = /\bssh(?: -\w+)? -i \S{1,200}/;

/** `NAME=value` before a program, alone, or as an argument of `export` and `env`. */
function checkAssigned({ text, substitutions }: Word, context: CommandContext): void {
  if (!assignment.test(text)) return;
  const at = text.indexOf("=");
  const value = text.slice(at + 1);
  if (substitutions.length === 1 && substitutions.every(isMktemp) && value === "$()")
    context.paths.temporaryVariables.add(text.slice(0, at));
  checkAssignment(text.slice(0, at).replace(/\+$|\[.*$/, ""), value, context);
  // A substitution in single quotes is only a text until the shell evaluates the variable: `x='a[$(…)]'; echo $((x))`.
  if (/\[\s*(?:\$\((?!\))|`)/.test(value))
    context.findings.add("runs", "hides a command in a name or number", text);
  if (looksDestructive(value)) checkScriptText(value, context.speculate());
}

const isMktemp = ([pipeline, ...others]: Script): boolean =>
  others.length === 0 && pipeline?.length === 1 && pipeline[0]?.words[0]?.text === "mktemp";

const writesNothing =
  /^(?::|true|exec|echo|echo -e|cat \/dev\/null|printf|printf ''|printf %s|echo -n|echo -n ''|cp \/dev\/null)\s*$/;

function checkRedirects(command: Command, context: CommandContext): void {
  if (command.redirects.length === 0) return;
  const line = command.words.map(({ text }) => text).join(" ");
  const isEmpty =
    command.group === null &&
    (command.words.every(({ text }) => keywordLike.test(text)) || writesNothing.test(line));
  const isDownload = findDownloaderOf({ ...command, group: null, redirects: [] }, context) !== null;
  const hasInput = command.redirects.some(
    ({ operator, target }) => operator.startsWith("<") && target.text !== "/dev/null",
  );
  const written = findWrittenText(command);
  const readsDevice = listWords(command).some(({ text }) => /^\/dev\/(?:null|zero|u?random)$/.test(text));
  for (const { operator, target } of command.redirects) {
    if (!operator.includes(">") || /^(?:\d+|-)$/.test(target.text)) continue;
    context.checkTarget(target.text);
    if (written !== null && context.writtenTexts.size < maxWrittenTexts)
      context.writtenTexts.set(normalizePath(target.text), written);
    if (operator === "<>") context.checkOverwrite(target.text, operator);
    else if (operator.includes(">>") || operator === ">&") continue;
    else if (isDownload) {
      context.checkOverwrite(target.text, operator);
      context.downloads.add(target.text.replace(/^\.\//, ""));
    }
    // `cat /dev/urandom > a.db`, `cat < /dev/null > a.ts`
    else if (readsDevice) context.checkOverwrite(target.text, operator);
    else if (isEmpty && !hasInput) context.checkEmptied(target.text, operator);
  }
}

/** `sort x > x`: the shell empties the file before the first program reads it. */
function checkSelfOverwrite(pipeline: Pipeline, context: CommandContext): void {
  const redirects = pipeline.flatMap((command) => command.redirects);
  const outputs = redirects.filter(({ operator }) => /^(?:&?>\|?)$/.test(operator));
  if (outputs.length === 0) return;
  const inputs = new Set(
    redirects.flatMap(({ operator, target }) => (operator === "<" ? [target.text] : [])),
  );
  for (const { words } of pipeline) {
    if (/^(?:echo|printf)$/.test(words[0]?.text ?? "")) continue;
    for (const { text } of words.slice(1)) {
      inputs.add(text);
      // `git show HEAD:x > x`
      inputs.add(text.slice(text.lastIndexOf(":") + 1));
    }
  }
  for (const { operator, target } of outputs)
    if (inputs.has(target.text)) context.checkEmptied(target.text, operator);
}

const maxWrittenTexts = 20;

/** `echo 'ls' | tee x.sh` */
function rememberTeed(
  printer: Command | undefined,
  [tee]: readonly ProgramCall[],
  { writtenTexts }: CommandContext,
): void {
  const text = printer ? findWrittenText(printer) : null;
  const file = tee?.args.find((word) => !word.text.startsWith("-"))?.text;
  if (text !== null && file !== undefined && writtenTexts.size < maxWrittenTexts)
    writtenTexts.set(normalizePath(file), text);
}

function findWrittenText({ words, redirects }: Command): string | null {
  const [program, ...args] = words.map(({ text }) => text);
  if (program === "echo" || program === "printf")
    return args.filter((arg) => !/^-[neE]+$/.test(arg)).join(" ");
  return program === "cat" ? (redirects.find(({ body }) => body !== null)?.body ?? null) : null;
}

const keywordLike = /^(?:do|then|else|!|time|\{)$/;

const listWords = ({ words, redirects }: Command): Word[] => [
  ...words,
  ...redirects.map(({ target }) => target),
];

const withPassword =
  /\w:\/\/[^\s/@:]{0,200}:[^\s/@]{1,500}@(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0|host\.docker\.internal)(?:[:/?]|$))[^\s/]{1,60}/;
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

/** Builtins that evaluate a name or a number again: `let 'a[$(x)]'`. */
const evaluates =
  /^(?:let|test|\[|\[\[|read|printf|declare|local|typeset|readonly|unset|export|mapfile|readarray|wait|getopts|select|\(\()$/;
const setsCode =
  /^(?:hash -\w*p|enable -\w*f|bind -\w*x|complete .*-\w*C|compgen .*-\w*C|mapfile .*-\w*C|readarray .*-\w*C|set -o history)\b/;

/** Options that name a program to run, whichever program has them. */
const commandOption =
  /^--?(?:use-askpass|on-download-[\w-]+|(?:pre|post|deploy|renew)-hook|shell-escape|proxy-command|init-command|compress-program|rsync-path|script-security)(?:=|$)/;

function checkProgram(program: ProgramCall, command: Command, context: CommandContext): void {
  const { name, args } = program;
  const texts = args.map(({ text }) => text);
  const read = parseArguments(texts);
  const { findings } = context;
  const count = findings.count();
  const check = findCheck(name, context);
  check?.(read, context, name, command);
  if (findings.count() === count) checkVerbs(read, context, name, check !== null || isWrapper(name));
  if (isRoot(name)) findings.add("root", "runs as root", name);
  if (network.has(name) || (name === "git" && texts.includes("push")))
    context.network.add(name === "git" ? "git push" : name);
  if (/^(?:env|printenv|set|export)$/.test(name) && read.rest.length === 0) context.secrets.add(name);
  if (/^(?:env|export|declare|typeset|readonly|sudo|make|setenv)$/.test(name))
    for (const word of args) checkAssigned(word, context);
  if (network.has(name) && args.some(({ substitutions }) => substitutions.some(readsFiles)))
    findings.add("sends", "sends what another program prints to another machine", name);
  if (name === "kill" && args.some(({ substitutions }) => substitutions.some(findsByName)))
    findings.add("system", "ends processes by their name", "kill $(pgrep …)");
  if (databaseClients.has(name)) checkDatabaseShell(texts, context, name);
  else if (!isOrdinary(name) && check === null && !shells.has(name) && !interpreters.has(name)) {
    const loss = findDataLoss(texts.join(" "));
    if (loss !== null) findings.add("data", "deletes data", `${name}: ${loss}`);
  }
  if (context.downloads.size > 0) checkFetched(program, context);
  if (context.writtenTexts.size > 0) checkWritten(program, context);
  const isRunner = interpreters.has(name) || /^(?:npx|bunx|pnpx|pip|pip3|pipx)$/.test(name);
  const code = /^(?:run|install)$/.test(read.rest[0] ?? "") ? read.rest[1] : read.rest[0];
  const address = isRunner && /^https?:\/\//i.test(code ?? "") ? code : undefined;
  if (address !== undefined) findings.add("downloads", "runs what it downloads", `${name} ${address}`);
  if (
    /^(?:xargs|parallel|rush)$/.test(name) &&
    (read.rest.some((text) => /^(?:.*\/)?(?:rm|unlink|shred|truncate)(?:\s|$)/.test(text)) ||
      (read.rest.includes("/dev/null") && read.rest.some((text) => /^(?:cp|install|tee|dd)$/.test(text))))
  )
    findings.add("deletes", "deletes everything it is given", `${name} rm`);
  if (
    evaluates.test(name) &&
    args.some(({ text }) => /\[[^\]]{0,200}(?:\$\((?!\))|`)|^\$\((?!\))/.test(text))
  )
    findings.add("runs", "hides a command in a name or number", name);
  const runOption = texts.find((text) => commandOption.test(text));
  if (runOption !== undefined && (!quotesCommands(name) || name === "wget"))
    findings.add("runs", "runs other programs", `${name} ${runOption}`);
  if (setsCode.test(`${name} ${texts.join(" ")}`))
    findings.add("runs", "makes programs run other code", name);
  if (isWrapper(name) || (name === "git" && texts.some((text) => gitRuns.test(text)))) {
    for (const text of listTextsBeforeOrdinary(program))
      if (/\s/.test(text)) checkScriptText(stripPrefix(text), context.speculate());
  } else if (!quotesCommands(name) && !context.agentPrograms.has(name))
    checkHidden(program, command, context);
  if (/^(?:eval|trap|alias|exec|iex|invoke-expression|source|\.)$/.test(name))
    checkEval(program, command, context);
  if (shells.has(name)) checkShell(program, command, context);
  if (interpreters.has(name)) checkSources(name, args, command, context);
  if (interpreters.has(name) || codeRunners.has(name) || editors.has(name))
    checkCode(program, command, context);
}

/** The texts that a wrapper may run. `npx jest -t 'git push fails'` runs jest, and the text is only a name. */
function listTextsBeforeOrdinary(program: ProgramCall): readonly string[] {
  const texts = program.args.map(({ text }) => text);
  const inner = findInnerProgram(program);
  return inner && quotesCommands(inner.name) ? texts.slice(0, texts.length - inner.args.length) : texts;
}

/** `--option=`, `ext::`, and what makes an editor or a debugger run a program: `:!`, `shell`. */
const stripPrefix = (text: string): string =>
  text
    .replace(/^-{0,2}[\w.-]{1,40}=(?=\S)/, "")
    .replace(/^(?:ext::|[:!\s+@]+|(?:platform|shell|run|silent|exec|system|spawn)!?\s+)+/, "");

const findsByName = (script: Script): boolean =>
  script.flat().some(({ words }) => /^(?:.*\/)?(?:pgrep|pidof|ps)$/.test(words[0]?.text ?? ""));

const fileReader =
  /^(?:.*\/)?(?:cat|tac|base64|base32|xxd|od|tar|gzip|zip|head|tail|env|printenv|openssl|gpg|strings|cut|tr)$/;

function readsFiles(script: Script): boolean {
  return script.flat().some(
    ({ words, redirects }) =>
      redirects.some(({ operator }) => operator === "<") ||
      // `cat <<EOF` prints what is written in the command itself.
      (fileReader.test(words[0]?.text ?? "") &&
        !(words.length === 1 && redirects.some(({ body }) => body !== null))),
  );
}

/** `\\! x` in psql, `.shell x` in sqlite3 and `system x` in mysql run a program. */
function checkDatabaseShell(texts: readonly string[], context: CommandContext, name: string): void {
  if (
    texts.some((text) =>
      /^\s*(?:\\!|\.(?:shell|system)\b|system\s|\\o\s*\||\\copy\b.*\bprogram\b)|\bprogram\s+'/i.test(text),
    )
  )
    context.findings.add("runs", "runs other programs", name);
  if (texts.some((text) => /^\s*\.(?:restore|import|read\s+\|)\b/.test(text)))
    context.findings.add("data", "may replace data", name);
}

/** A text that starts like a dangerous command, for a program that may run it: `tmux new -d 'rm …'`, `--opt='rm …'`. */
function checkHidden({ name, args }: ProgramCall, command: Command, context: CommandContext): void {
  const inputs = command.redirects.flatMap(
    ({ operator, target, body }) => body ?? (operator === "<<<" ? target.text : []),
  );
  for (const whole of [...args.map(({ text }) => text), ...inputs]) {
    const text = stripPrefix(whole);
    if (looksDestructive(text)) checkScriptText(text, context.speculate());
    if (/[("'`=.]/.test(text)) checkInnerCode(text, name, context.speculate());
  }
}

/** A command inside of code or a setting: `system("rm …")`, `Pre-Invoke::='rm …'`, `%(rm …)`. */
const innerCommand =
  /[=:'"`!;({%|&,]\s{0,4}((?:\/(?:usr\/)?bin\/)?(?:rm|dd|shred|truncate|unlink|mkfs|git|curl|wget|sh|bash)\s{1,4}[^'"`)}]{1,500})/;

function checkInnerCode(text: string, name: string, context: CommandContext): void {
  const [, inner] = innerCommand.exec(text) ?? [];
  if (inner !== undefined) checkScriptText(inner, context);
  // Most arguments are short. Code calls functions.
  if (/[\w.]\s?\(|`|\b\w+_all\b/.test(text)) checkCodeText(text, name, context);
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

/** `echo 'ls' > x.sh; sh x.sh`, `cat > x.py <<EOF …; python3 x.py` */
function checkWritten({ name, args }: ProgramCall, context: CommandContext): void {
  const runsFile = shells.has(name) || interpreters.has(name) || name === "source" || name === ".";
  const makefile = args.find((_, n) => args[n - 1]?.text === "-f")?.text;
  const path = runsFile
    ? args.find(({ text }) => !text.startsWith("-"))?.text
    : /^g?make$/.test(name)
      ? (makefile ?? "Makefile")
      : name;
  const key = normalizePath(path ?? "");
  const text = context.writtenTexts.get(key);
  if (text === undefined) return;
  // Once is enough: a script may name itself.
  context.writtenTexts.delete(key);
  if (/^g?make$/.test(name)) {
    for (const recipe of text.split(/\n|\\n/))
      checkScriptText(recipe.replace(/^(?:\\t|[\s@-])+/, ""), context.speculate());
    return;
  }
  if (interpreters.has(name)) checkCodeText(text, name, context);
  else checkScriptText(text, context);
}

/** `./X.sh` and `x.sh` are the same file. A program is named without its folder. */
const normalizePath = (path: string): string => path.replace(/^.*\//s, "").toLowerCase();

function checkEval(
  { name, args }: ProgramCall,
  { group, redirects }: Command,
  context: CommandContext,
): void {
  const inner = [...args.flatMap((word) => word.substitutions), ...(group ? [group] : [])];
  const from = inner.map((script) => findDownloader(script, context)).find((findings) => findings !== null);
  if (from) context.findings.add("downloads", "runs what it downloads", `${name} "$(${from} …)"`);
  else if (name === "eval" && args.some(({ isDynamic }) => isDynamic) && !args.every(isShellSetup))
    context.findings.add("unclear", "runs what only the shell knows", "eval");
  else if (args.some((word) => word.text.includes("<()") && !isShellSetup(word)))
    context.findings.add("unclear", "cannot tell what this runs", `${name} <(…)`);
  if (name === "alias")
    for (const { text } of args) checkScriptText(text.slice(text.indexOf("=") + 1), context);
  else if (name === "trap") checkScriptText(args[0]?.text ?? "", context);
  else if (name !== "source" && name !== ".")
    checkScriptText(args.map(({ text }) => text).join(" "), context);
  else if (args.some(({ text }) => input.test(text))) checkInputScript(redirects, context);
}

/** `sh <<< 'ls'`, and a here-document. */
function checkInputScript(redirects: readonly Redirect[], context: CommandContext): void {
  for (const { operator, target, body } of redirects) {
    if (operator === "<<<") checkScriptText(target.text, context);
    else if (body !== null) checkScriptText(body, context);
  }
}

/** Programs that print settings for the shell, which people evaluate every day. */
const shellSetup =
  /^(?:ssh-agent|keychain|direnv (?:hook|export)|starship init|(?:py|rb|nod|go|pl)env init|fnm env|brew shellenv|(?:\/\S+\/)?brew shellenv|mise (?:activate|env|hook-env)|asdf exec|zoxide init|opam env|luarocks path|dircolors|minikube docker-env|minikube -p \S+ docker-env|docker-machine env|conda shell\.\w+ hook|register-python-argcomplete|aws-vault export|[\w-]+ completions?|atuin init|fzf --\w+)(?: |$)/;

function isShellSetup({ text, substitutions }: Word): boolean {
  const [pipeline, ...others] = substitutions.flat();
  const [command, ...next] = pipeline ?? [];
  if (!/^\s*[$<]\(\)\s*$/.test(text) || !command || others.length + next.length > 0) return false;
  return shellSetup.test(command.words.map((word) => word.text).join(" "));
}

function checkShell({ name, args }: ProgramCall, command: Command, context: CommandContext): void {
  checkSources(name, args, command, context);
  const at = args.findIndex(({ text }) => /^(?:-\w*c\w*|-command|-encodedcommand|\/c)$/i.test(text));
  if (/^(?:pwsh|powershell|cmd)$/.test(name) && at === -1)
    checkScriptText(args.map(({ text }) => text).join(" "), context.speculate());
  const code = at === -1 ? undefined : args[at + 1];
  // `cmd /c` and `powershell -Command` take all words that follow as one command.
  if (/^(?:pwsh|powershell|cmd)$/.test(name) && at !== -1 && args.length > at + 2)
    checkScriptText(
      args
        .slice(at + 1)
        .map(({ text }) => text)
        .join(" "),
      context.speculate(),
    );
  if (/^-e(?:nc|ncodedcommand)?$/i.test(args[at]?.text ?? "") && /^p/.test(name))
    context.findings.add("runs", "runs what is encoded", name);
  if (code) {
    checkScriptText(code.text, context);
    if (/^\s*[$`]/.test(code.text))
      context.findings.add("unclear", "runs what only the shell knows", `${name} -c`);
  }
  for (const { operator, target } of command.redirects)
    if (/^<(?:<<)?$/.test(operator) && target.substitutions.length > 0)
      context.findings.add("unclear", "cannot tell what this runs", `${name} ${operator}`);
  checkInputScript(command.redirects, context);
  if (/^(?:pwsh|powershell)$/.test(name))
    checkPowerShell(args.map(({ text }) => text).join(" "), name, context);
}

/** PowerShell's language is not a POSIX shell's: it is checked by its words. */
function checkPowerShell(code: string, name: string, { findings }: CommandContext): void {
  const runsText = /\b(?:iex|Invoke-Expression)\b/i.test(code);
  if (
    runsText &&
    /\b(?:DownloadString|DownloadFile|irm|iwr|curl|wget|Invoke-(?:WebRequest|RestMethod))\b/i.test(code)
  )
    findings.add("downloads", "runs what it downloads", name);
  else if (runsText || /\bFromBase64String\b/i.test(code))
    findings.add("unclear", "cannot tell what this runs", name);
  if (/\b(?:Remove-Item|Clear-Content|Clear-Disk|Format-Volume|Clear-RecycleBin)\b/i.test(code))
    findings.add("deletes", "deletes files", name);
  if (/\b(?:Stop-Computer|Restart-Computer|Stop-Service|Set-ExecutionPolicy|New-LocalUser)\b/i.test(code))
    findings.add("system", "changes the running system", name);
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
  else if (args[0]?.text === "<()" || (shells.has(name) && args.some(({ text }) => text.includes("<()"))))
    context.findings.add("unclear", "cannot tell what this runs", `${name} <(…)`);
}
