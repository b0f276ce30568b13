/** Code of interpreters on the command line: `python3 -c …`, `node -e …`, here-documents. It is checked by its words only. */
import type { Command } from "../index.ts";
import type { CommandContext } from "./context.ts";
import { isSourceFile } from "./paths.ts";
import type { ProgramCall } from "./programs.ts";
import { findDataLoss } from "./sql.ts";

const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join("|"));

// Add the functions of a language to the list of what they do. Limit every repetition: code can be long.

const deletesFolders = anyOf(
  /\brmtree\b|\bremove_tree\b|\bdeltree\b/, // Python, Perl
  /\brm_rf?\b|\bremove_dir\b|\bremove_entry\w*/, // Ruby, Elixir
  /\brmSync\b|\brmdirSync\b|\bremoveSync\b|\bfs(?:Promises)?(?:\.promises)?\.rm\b|\bpromises\)?\.rm\b|\brimraf\b|\bemptyDir(?:Sync)?\b/,
  /\bDeno\.remove(?:Sync)?\b/,
  /\bremove_dir_all\b|\bos\.RemoveAll\b|\bDirectory\.Delete\b|\bdeleteDir\b|\bdel_dir_r\b|\bdelete-directory/,
  /\brm\([^)]{0,200}recursive|\bunlink\s{0,4}\([^)]{0,200}recursive\s{0,4}=/, // Julia, R
  /\bto delete folder\b/, // AppleScript
);
const deletesFiles = anyOf(
  /\bunlink(?:Sync)?\b|\bremove_file\b|\bfs::remove_\w+|\bfile delete\b|\bdelete-file/,
  /\bos\.[Rr]emove(?:dirs)?\b|\bfile\.remove\b|\.delete\(\)|\bremove\(\s{0,4}["'][^"']{0,200}["']\s{0,4}\)/,
  /\brm\(\s{0,4}["']|\(rm,/, // Julia
  // A class for files, and a method that deletes: `FileManager.default.removeItem`
  /\b(?:FileManager|FileUtils|Files?|Directory|Dir|Folder|Finder|Path|IO)\b[^\n]{0,60}\b(?:[dD]elete|[rR]emove|[uU]nlink|rm)(?![a-z])\w*/,
  /\b(?:replace|rename|copy\w{0,20}|move)\b[^\n]{0,60}\/dev\/null|\bextractall\(\s{0,4}["']\//,
  /\bClear-Content\b|\bRemove-Item\b|\bsend2trash\b|\btrash\(/,
);
/** Methods of object mappers that delete rows or tables. */
const deletesRows = anyOf(
  /\b(?:delete_all|destroy_all|truncate_all|drop_all|drop_database|drop_table|drop_collection)\b/,
  /\b(?:deleteMany|dropAllTables|_?dropDatabase|flushall|flushdb)\b|::truncate\(/,
  /\bobjects\.[^\n]{0,100}\.delete\(/,
);
/** A client of a cloud provider or of containers, and a method that deletes. */
const usesCloud =
  /\b(?:boto3|google\.cloud|azure\.\w|kubernetes|stripe|dockerode|docker\.from_env|aws-sdk)\b/;
const deletesByMethod =
  /[._](?:delete|terminate|remove|destroy|prune|stop)\w{0,40}\(|\bnew (?:Delete|Terminate)\w{1,40}Command\b/;
const runsSql = /\b(?:execute\w{0,20}|query\w{0,20}|raw|sql)\s{0,4}[(`]/;
const forks = /\bfork\b[^\n]{0,20}\bwhile\b|\bwhile\b[^\n]{0,60}\bfork\b/;
const endsAll = /\bkill\(\s{0,4}-1\b|\bkill\b[^\n]{0,20},\s{0,4}-1\b/;
/** Signs that a text in the code is run. */
const runsSomething = /exec|system|spawn|popen|\brun\b|`|\$|shell|%x|\bqx\b|cmd|process|command/i;
const runsOthers = anyOf(
  /os\.system|os\.popen|os\.(?:exec|spawn|posix_spawn)[lv]?|\bsubprocess\.[a-zA-Z]|\bfrom subprocess import|pty\.spawn|\bctypes\b/,
  /child_process|\bexec(?:File)?Sync\b|\bspawn(?:Sync)?\s{0,4}\(|Bun\.(?:spawn|\$)|Deno\.(?:Command|run)/,
  /\bsystem\s{0,4}[("'`%]|\bsystem\b\s{1,4}["'q]|\bsystem2?\(|\bpopen\b|\bqx\b|%x[[({]|\bKernel\b|\bOpen3\b/,
  /shell_exec|passthru|proc_open|pcntl_exec/, // PHP
  /os\.execute|io\.popen/, // Lua
  /\bProcessBuilder\b|getRuntime|System\.cmd|System\.Process|callCommand|os:cmd|\bSys\.command\b/,
  /do shell script|\brun\(\s{0,4}`/, // AppleScript, Julia
);
/** Only in Perl, Ruby and PHP: `/x/.exec(y)` and template literals are everyday JavaScript. */
const runsInScripts = /(?<![.\w$])exec\b\s{0,4}[("'%q]|`[^`]{1,500}`/;
const runsText = anyOf(
  /\beval\s{1,4}(?:pack|unpack|decode\w{0,20}|join|reverse|Net::|URI|open|\$)/,
  /(?<![.\w])(?:exec|eval|Function|compile|instance_eval|loadstring|load)\s{0,4}\(/,
);
const hidesText =
  /(?:\b|_)b(?:ase)?64|fromCharCode|\batob\b|\bchr\(|\bunhexlify\b|fromhex|\bpack\b|\bcodecs\b|\bzlib\b|\bmarshal\b|\.reverse\(\)|\[::-1\]|rot13|str_rot|__import__|importlib|getattr\(|\\x[0-9a-f]{2}\\x/i;
const fetches =
  /urlopen|urlretrieve|requests\.(?:get|post|put)|\bhttpx\b|\bfetch\s{0,4}\(|https?\.get|Net::HTTP|open-uri|LWP|file_get_contents\(\s{0,4}["']http/;
const sends =
  /\bsocket\b|requests\.(?:post|put|patch|delete)|smtplib|ftplib|paramiko|method\s{0,4}:\s{0,4}["'](?:POST|PUT|PATCH|DELETE)/i;
/** A write of nothing: `write_text('')`, `writeFileSync('a', '')`, `open('a', 'w').close()`, `truncate('a')`. */
const empties = anyOf(
  /\btruncate(?:Sync)?\b|\bftruncate\b|\bwrite_(?:text|bytes)\(\s{0,4}\)/,
  /\b(?:write_text|write_bytes|write|writeFile|writeFileSync|writeTextFile|writeTextFileSync|file_put_contents|outputFileSync)\([^()\n]{0,200}(?:""|''|b''|``|null|None)\s{0,4}\)/,
  /\bopenSync\([^()\n]{0,200}["']w|\bopen\([^()\n]{0,200}["']w[b+]?["']\s{0,4}\)(?:\s{0,4}\.close\(\)|\s{0,4}$|\s{0,4}[;\]\n"'])|File\.open\([^()\n]{0,200}["']w["']\s{0,4}\)/,
);
const writes = anyOf(
  /\b(?:write_text|write_bytes|writeFile|writeFileSync|writeTextFile|writeTextFileSync|appendFileSync|createWriteStream|copyFileSync|renameSync)\s{0,4}\(/,
  /\b(?:file_put_contents|copyfile|Bun\.write|File\.write|IO\.write|Files\.write\w{0,20}|spurt|write\.\w{1,20})\s{0,4}\(/,
  /\bopen\([^()\n]{0,200}["'][wx][b+]?["']|\bopen\s{0,4}\(?[^()\n]{0,80}["']\s{0,4}\+?>/,
);

export function checkCode({ name, args }: ProgramCall, command: Command, context: CommandContext): void {
  const bodies = command.redirects.flatMap(
    ({ operator, target, body }) => body ?? (operator === "<<<" ? target.text : []),
  );
  const line = findInlineCode(args.map(({ text }) => text));
  const code = [...line, ...bodies].join("\n");
  if (code === "") return;
  const { findings, paths } = context;
  const form = `${name} -c`;
  checkCodeText(code, name, context);
  // In a here-document, a script that writes files is an edit. In one line it replaces a whole file.
  if (line.length > 0 && bodies.length === 0 && writes.test(code)) {
    const path = [...code.matchAll(/["'`]([^"'`\s]{1,200})["'`]/g)].find(([, text = ""]) =>
      isSourceFile(text, paths),
    );
    if (path) findings.add("deletes", "overwrites a file", `${form} ${path[1]}`);
  }
  if (
    isReadInPlace(
      name,
      args.map(({ text }) => text),
    )
  )
    findings.add("deletes", "empties files", `${name} -i -n`);
  if (runsText.test(code) && line.some((text) => /\$\(\)/.test(text)))
    findings.add("unclear", "cannot tell what this runs", form);
}

/** Modules whose functions are in the lists above by their full names. */
const listedModules =
  /^(?:os|posix|nt|subprocess|shutil|pathlib|pty|ctypes|sys|builtins|importlib|socket|requests|urllib\.request|send2trash|(?:node:)?(?:fs|fs\/promises|child_process|net|https?))$/;
const maxAliases = 20;

/**
 * Writes the names of modules and functions in full: `import subprocess as s; s.run(x)` calls `subprocess.run`, and
 * `import { rm as x } from "node:fs/promises"; x("src")` calls `fs.promises.rm`.
 */
function resolveAliases(code: string): string {
  const names = new Map<string, string>();
  const add = (alias: string, module: string, member = "") => {
    if (!listedModules.test(module) || names.size >= maxAliases) return;
    const full = module.replace(/^node:/, "").replace("/", ".") + (member === "" ? "" : `.${member}`);
    if (alias !== full) names.set(alias, full.replace(/^(?:posix|nt)\b/, "os"));
  };
  const addMembers = (list: string, module: string) => {
    for (const item of list.split(",")) {
      const [, member = "", alias = member] = /^\s*(\w+)(?:\s*(?:\bas\b|:)\s*(\w+))?\s*$/.exec(item) ?? [];
      if (member !== "") add(alias, module, member);
    }
  };
  // Python
  for (const [, list = ""] of code.matchAll(/\bimport\s{1,4}([\w.]+(?:[ \t,]{1,4}[\w.]+){0,20})/g))
    for (const [, module = "", alias = ""] of list.matchAll(/([\w.]+)\s+as\s+(\w+)/g)) add(alias, module);
  for (const [, module = "", list = ""] of code.matchAll(
    /\bfrom\s{1,4}([\w.]+)\s{1,4}import\s{1,4}\(?([\w \t,]{1,300})/g,
  ))
    addMembers(list, module);
  // JavaScript
  const loads =
    /\b(?:const|let|var)\s{1,4}(\w+|\{[^{}]{1,300}\})\s{0,4}=\s{0,4}(?:await\s{1,4}import|require)\(\s{0,4}["'`]([\w:/]{1,40})["'`]/g;
  const imports =
    /\bimport\s{0,4}(?:\*\s{0,4}as\s{1,4})?(\w+|\{[^{}]{1,300}\})\s{0,4}from\s{0,4}["'`]([\w:/]{1,40})["'`]/g;
  for (const [, name = "", module = ""] of [...code.matchAll(loads), ...code.matchAll(imports)]) {
    if (name.startsWith("{")) addMembers(name.slice(1, -1), module);
    else add(name, module);
  }
  let resolved = code;
  for (const [alias, full] of names)
    resolved = resolved.replace(new RegExp(`(?<![\\w.$"'])${alias}(?=\\s{0,4}[.(])`, "g"), full);
  return resolved;
}

/** Checks code that an interpreter runs: from its arguments, its input, or a file that the same command wrote. */
export function checkCodeText(text: string, name: string, { findings }: CommandContext): void {
  const code = /\bimport\b|\brequire\b/.test(text) ? resolveAliases(text) : text;
  const form = `${name} -c`;
  const isScripting = /^(?:perl|ruby|php|raku|groovy|awk)$/.test(name);
  if (deletesFolders.test(code) || (/\brm\s{1,4}-\w{0,9}[rR]/.test(code) && runsSomething.test(code)))
    findings.add("deletes", "deletes whole folders", form);
  if (deletesFiles.test(code)) findings.add("deletes", "deletes files", form);
  if (empties.test(code)) findings.add("deletes", "empties files", form);
  if (deletesRows.test(code)) findings.add("data", "deletes data", form);
  if (usesCloud.test(code) && deletesByMethod.test(code))
    findings.add("servers", "deletes in the cloud", form);
  const loss = runsSql.test(code) ? findDataLoss(code) : null;
  if (loss !== null) findings.add("data", "deletes data", `${form} ${loss}`);
  if (forks.test(code)) findings.add("system", "starts itself again and again", form);
  if (/\bchmod\w{0,8}\([^()\n]{0,200},\s{0,4}0o?0*\s{0,4}\)/.test(code))
    findings.add("rights", "takes away all access", form);
  if (endsAll.test(code)) findings.add("system", "ends every process", form);
  if (runsText.test(code) && fetches.test(code)) findings.add("downloads", "runs what it downloads", form);
  else if (runsText.test(code) && hidesText.test(code))
    findings.add("unclear", "cannot tell what this runs", form);
  if (
    /__import__|\bgetattr\(\s{0,4}(?:os|subprocess|shutil|builtins|__builtins__|sys)\b|globalThis\[|process\.binding|process\.mainModule/.test(
      code,
    )
  )
    findings.add("unclear", "cannot tell what this runs", form);
  if (runsOthers.test(code) || (isScripting && runsInScripts.test(code)))
    findings.add("runs", "runs other programs", form);
  if (sends.test(code) && !/localhost|127\.0\.0\.1|0\.0\.0\.0/.test(code))
    findings.add("sends", "may send data to another machine", form);
}

const codeOption =
  /^(?:-[a-zA-Z0-9.]*[ceEpr]|--(?:eval|print|command|execute|run|expr)|eval|-x|-e\d*|runner|r)$/;

/** The arguments that are code, and everything after them. Empty if the program runs a file. */
function findInlineCode(texts: readonly string[]): readonly string[] {
  const at = texts.findIndex(
    (text) => codeOption.test(text) || /^(?:-[ce].{2,}|--(?:eval|print|execute)=)/s.test(text),
  );
  return at === -1 ? [] : texts.slice(at);
}

/** `perl -i -ne ''` prints nothing back. */
function isReadInPlace(name: string, texts: readonly string[]): boolean {
  if (!/^(?:perl|ruby)$/.test(name)) return false;
  const clears = /\$_\s{0,4}=\s{0,4}(?:""|''|undef)|\bundef\s{0,4}\(?\$_/;
  const flags = texts.filter((text) => /^-[a-zA-Z.]+$/.test(text)).join("");
  if (!flags.includes("i")) return false;
  const prints = texts.some((text) => /\bprint\b|\bputs\b|\bsay\b/.test(text));
  return texts.some((text) => clears.test(text)) || (flags.includes("n") && !prints);
}
