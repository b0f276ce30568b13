/** What a shell command would do that a person should not miss. When in doubt, it is said. */
import { parseShell } from "../parse.ts";
import type { Command, Pipeline, Script, Word } from "../script.ts";
import type { CommandContext } from "./look.ts";
import { readArgs } from "./options.ts";
import { isOutside, secretIn } from "./places.ts";
import {
  downloaderIn,
  downloaderOf,
  innerOf,
  interpreters,
  isRoot,
  isWrapper,
  judgeOf,
  maxHandedOn,
  network,
  ownWords,
  type Program,
  programsOf,
  shells,
} from "./programs.ts";
import { lossIn, sqlClients } from "./services.ts";

/** A text that would be run as a script. */
export function judgeText(text: string, look: CommandContext): void {
  // What it would be is known only then, and who runs it has said so.
  if (/^\s*\$\(\)\s*$/.test(text)) return;
  look.left -= text.length + 100;
  if (look.left < 0) {
    look.found.add("unclear", "too tangled to be judged", "commands within commands");
    return;
  }
  const script = parseShell(text);
  if (script) judgeScript(script, look);
  else
    look.found.add("unclear", "written so that beckon cannot follow it", text.trim().split("\n", 1)[0] ?? "");
}

function judgeScript(script: Script, look: CommandContext): void {
  for (const pipeline of script) judgePipeline(pipeline, look);
}

const decoders = new Set(["base64", "base32", "xxd", "openssl", "uudecode", "rev", "gpg"]);

function judgePipeline(pipeline: Pipeline, look: CommandContext): void {
  let downloads: string | null = null;
  let decodes: string | null = null;
  let before: string | null = null;
  const texts: string[] = [];
  let client: string | null = null;
  for (const command of pipeline) {
    judgeCommand(command, look);
    const programs = programsOf(command, look);
    const runner = programs.find((program) => runsItsInput(program));
    const name = programs[0]?.name ?? "( … )";
    if (runner && before !== null) {
      const form = `${downloads ?? decodes ?? before} | ${runner.name}`;
      if (downloads !== null) look.found.add("downloads", "runs what it downloads", form);
      else if (decodes !== null) look.found.add("runs", "runs what is encoded", form);
      else look.found.add("runs", "runs what another program prints", form);
    }
    downloads ??= downloaderOf(command, look);
    if (decoders.has(name)) decodes ??= name;
    before = name;
    client ??= programs.find((program) => sqlClients.has(program.name))?.name ?? null;
    for (const { text } of command.words) texts.push(text);
    for (const { body, target } of command.redirects) texts.push(body ?? target.text);
  }
  const loss = client === null ? null : lossIn(texts.join(" "));
  if (loss !== null) look.found.add("data", "deletes data", `${client}: ${loss}`);
}

const input = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;

/** Shells and interpreters that are given no script of their own. */
function runsItsInput({ name, args }: Program): boolean {
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

function judgeCommand(command: Command, look: CommandContext): void {
  for (const script of innerOf(command)) judgeScript(script, look);
  for (const { op, target } of command.redirects) {
    if (op.includes(">") && !/^(?:\d+|-)$/.test(target.text)) look.target(target.text);
  }
  for (const { text } of allWords(command)) {
    judgeWord(text, look);
    if (secretIn(text) !== null && isOutside(text, look.places))
      look.found.add("sends", "touches what may hold secrets", text);
  }
  for (const { body } of command.redirects) if (body !== null) judgeWord(body, look);
  const [first] = ownWords(command);
  if (first?.isOpen && !/^\[{1,2}$/.test(first.text))
    look.found.add("unclear", "runs a program that only the shell knows", first.text);
  const programs = programsOf(command, look);
  if (programs.length > maxHandedOn)
    look.found.add("unclear", "too tangled to be judged", programs[0]?.name ?? "");
  for (const program of programs) judgeProgram(program, command, look);
}

const allWords = ({ words, redirects }: Command): Word[] => [
  ...words,
  ...redirects.map(({ target }) => target),
];

const withPassword = /\w:\/\/[^\s/@:]{0,200}:[^\s/@]{1,500}@[^\s/]{1,60}/;
const withSecret =
  /[?&][\w-]{0,40}(?:token|api[_-]?key|secret|passw(?:or)?d|access[_-]?key|signature)[\w-]{0,20}=[^&\s"']{6}/i;

/** What any word tells, whatever program it is for. */
export function judgeWord(text: string, look: CommandContext): void {
  const secret = secretIn(text);
  if (secret !== null) look.secrets.add(secret);
  if (/\bhttps?:\/\//i.test(text)) look.network.add("https");
  if (withPassword.test(text))
    look.found.add("address", "has a password in an address", text.slice(0, text.indexOf("//") + 2));
  if (withSecret.test(text))
    look.found.add(
      "address",
      "has a secret in an address",
      withSecret.exec(text)?.[0].split("=", 1)[0] ?? "",
    );
  if (/\/dev\/(?:tcp|udp)\//.test(text)) {
    look.network.add("/dev/tcp");
    look.found.add("sends", "opens a line to another machine", "/dev/tcp");
  }
}

function judgeProgram(program: Program, command: Command, look: CommandContext): void {
  const { name, args } = program;
  const texts = args.map(({ text }) => text);
  const read = readArgs(texts);
  const { found } = look;
  judgeOf(name, look)?.(read, look, name);
  if (isRoot(name)) found.add("root", "runs with all rights", name);
  if (network.has(name) || (name === "git" && texts.includes("push")))
    look.network.add(name === "git" ? "git push" : name);
  if (/^(?:env|printenv|set|export)$/.test(name) && read.rest.length === 0) look.secrets.add(name);
  if (look.fetched.size > 0) judgeFetched(program, look);
  if (name === "xargs" && read.rest.some((text) => /^(?:.*\/)?(?:rm|unlink|shred)$/.test(text)))
    found.add("deletes", "deletes all that it is given", "xargs rm");
  if (isWrapper(name) || (name === "git" && texts.some((text) => gitRuns.test(text)))) {
    for (const text of texts) if (/\s/.test(text)) judgeText(text.replace(/^[\w.-]{1,40}=/, ""), look);
  }
  if (/^(?:eval|trap|alias|exec|iex|invoke-expression|source|\.)$/.test(name))
    judgeEval(program, command, look);
  if (shells.has(name)) judgeShell(program, command, look);
  if (interpreters.has(name)) judgeCode(program, command, look);
}

const gitRuns = /^(?:submodule|rebase|bisect|filter-branch|difftool|-c)$/;

function judgeFetched({ name, args }: Program, look: CommandContext): void {
  const isRun = shells.has(name) || interpreters.has(name) || /^(?:chmod|source|\.)$/.test(name);
  const file = [...(isRun ? args.map(({ text }) => text.replace(/^\.\//, "")) : []), name].find((text) =>
    look.fetched.has(text),
  );
  if (file !== undefined)
    look.found.add("downloads", "runs what it downloads", `${name} ${file === name ? "" : file}`.trim());
}

function judgeEval({ name, args }: Program, { group }: Command, look: CommandContext): void {
  const inner = [...args.flatMap((word) => word.inner), ...(group ? [group] : [])];
  const from = inner.map((script) => downloaderIn(script, look)).find((found) => found !== null);
  if (from) look.found.add("downloads", "runs what it downloads", `${name} "$(${from} …)"`);
  else if (name === "eval" && args.some(({ isOpen }) => isOpen))
    look.found.add("unclear", "runs what only the shell knows", "eval");
  if (name === "alias") for (const { text } of args) judgeText(text.slice(text.indexOf("=") + 1), look);
  else if (name === "trap") judgeText(args[0]?.text ?? "", look);
  else if (name !== "source" && name !== ".") judgeText(args.map(({ text }) => text).join(" "), look);
}

function judgeShell({ name, args }: Program, command: Command, look: CommandContext): void {
  judgeSources(name, args, command, look);
  const at = args.findIndex(({ text }) => /^(?:-\w*c\w*|-command|-encodedcommand|\/c)$/i.test(text));
  const code = at === -1 ? undefined : args[at + 1];
  if (/^-e(?:nc|ncodedcommand)?$/i.test(args[at]?.text ?? "") && /^p/.test(name))
    look.found.add("runs", "runs what is encoded", name);
  if (code) {
    judgeText(code.text, look);
    if (/^\s*[$`]/.test(code.text)) look.found.add("unclear", "runs what only the shell knows", `${name} -c`);
  }
  for (const { op, target, body } of command.redirects) {
    if (op === "<<<") judgeText(target.text, look);
    else if (body !== null) judgeText(body, look);
  }
}

/** `bash <(curl …)`, `bash -c "$(curl …)"`, `bash <<< "$(curl …)"`, `bash < <(curl …)` */
function judgeSources(name: string, args: readonly Word[], command: Command, look: CommandContext): void {
  const inner = [
    ...args.flatMap((word) => word.inner),
    ...command.redirects.flatMap(({ target }) => target.inner),
    ...(command.group ? [command.group] : []),
  ];
  const from = inner.map((script) => downloaderIn(script, look)).find((found) => found !== null);
  if (from) look.found.add("downloads", "runs what it downloads", `${name} <(${from} …)`);
}

const deletes =
  /\brmtree\b|\brm_rf?\b|\brmSync\b|\brmdirSync\b|\bremoveSync\b|\bfs(?:Promises)?\.rm\b|\bremove_tree\b|\brimraf\b/;
const deletesFiles = /\bunlink(?:Sync)?\b|\bos\.remove\b|\bFile\.delete\b|\bFileUtils\.rm\b/;
const runsOthers =
  /os\.system|subprocess|os\.popen|pty\.spawn|child_process|\bexecSync\b|\bspawnSync?\b|\bsystem\s{0,4}[("'`]|\bqx\b|do shell script|Bun\.(?:spawn|\$)/;
const runsText = /\b(?:exec|eval|Function|compile)\s{0,4}\(/;
const fetches = /urlopen|requests\.(?:get|post)|\bfetch\s{0,4}\(|https?\.get|Net::HTTP|open-uri|LWP/;

/** A script on the command line or in a here-document, by its words only. */
function judgeCode({ name, args }: Program, command: Command, look: CommandContext): void {
  judgeSources(name, args, command, look);
  const bodies = command.redirects.flatMap(
    ({ op, target, body }) => body ?? (op === "<<<" ? target.text : []),
  );
  const code = [...args.map(({ text }) => text), ...bodies].join("\n");
  const form = `${name} -c`;
  if (deletes.test(code) || /\brm\s{1,4}-\w{0,9}[rR]/.test(code))
    look.found.add("deletes", "deletes whole folders", form);
  if (deletesFiles.test(code)) look.found.add("deletes", "deletes files", form);
  if (runsText.test(code) && fetches.test(code)) look.found.add("downloads", "runs what it downloads", form);
  if (runsOthers.test(code)) look.found.add("runs", "runs other programs", form);
}
