/** Code of interpreters on the command line: `python3 -c …`, `node -e …`, here-documents. It is checked by its words only. */
import type { Command } from "../index.ts";
import type { CommandContext } from "./context.ts";
import { isSourceFile } from "./paths.ts";
import type { ProgramCall } from "./programs.ts";

const deletesFolders =
  /\brmtree\b|\brm_rf?\b|\brmSync\b|\brmdirSync\b|\bremoveSync\b|\bfs(?:Promises)?(?:\.promises)?\.rm\b|\bpromises\)?\.rm\b|\bremove_tree\b|\brimraf\b|\bemptyDir(?:Sync)?\b|\b(?:FileUtils\.)?remove_dir\b|\bDeno\.remove(?:Sync)?\b|\bremove_dir_all\b|\bdel_dir_r\b|\brm\([^)]{0,200}recursive|\bunlink\s{0,4}\([^)]{0,200}recursive\s{0,4}=|\bFile\.rm_rf\b|\bdeleteDir\b|\bdeltree\b|\bos\.RemoveAll\b|\bremove_entry_secure\b/;
const deletesFiles =
  /\bunlink(?:Sync)?\b|\bfile delete\b|\bos\.[Rr]emove(?:dirs)?\b|\bfs::remove_\w+|\bremove_file\b|\bremove_entry\w*|\brename\b[^\n]{0,100}\/dev\/null|\bClear-Content\b|\bRemove-Item\b|\bFile\.(?:delete|rm)\b|\bFileUtils\.(?:rm|remove)\b|\bfile\.remove\b|\.delete\(\)|\brm\(\s{0,4}["']|\bFiles\.delete\w*\b|\bremove\(\s{0,4}["'][^"']*["']\s{0,4}\)|\bos\.rename\b[^\n]{0,100}\/dev\/null/;
/** Methods of object mappers that delete rows or tables. */
const deletesRows =
  /\b(?:delete_all|destroy_all|deleteMany|truncate_all|drop_all|dropAllTables|drop_database|dropDatabase|drop_table|drop_collection|Repo\.delete_all|flushall|flushdb)\b|\bobjects\.[^\n]{0,100}\.delete\(|::truncate\(/;
const endsAll = /\bkill\(\s{0,4}-1\b|\bkill\b[^\n]{0,20},\s{0,4}-1\b/;
/** Signs that a text in the code is run. */
const runsSomething = /exec|system|spawn|popen|\brun\b|`|\$|shell|%x|\bqx\b|cmd|process|command/i;
const runsOthers =
  /os\.system|\bsubprocess\b|os\.popen|os\.(?:exec|spawn|posix_spawn)[lv]?|pty\.spawn|child_process|\bexec(?:File)?Sync\b|\bspawn(?:Sync)?\s{0,4}\(|\bsystem\s{0,4}[("'`%]|\bsystem\b\s{1,4}["'q]|\bqx\b|%x[[({]|do shell script|Bun\.(?:spawn|\$)|os\.execute|io\.popen|\bpopen\b|shell_exec|passthru|proc_open|pcntl_exec|\bKernel\b|\bOpen3\b|Deno\.(?:Command|run)|\bProcessBuilder\b|getRuntime|System\.cmd|os:cmd|\brun\(\s{0,4}`|\bsystem2?\(|\bctypes\b|System\.Process|callCommand|\bSys\.command\b/;
/** Only in Perl, Ruby and PHP: `/x/.exec(y)` and template literals are everyday JavaScript. */
const runsInScripts = /(?<![.\w$])exec\b\s{0,4}[("'%q]|`[^`]{1,500}`/;
const runsText =
  /\beval\s+(?:pack|unpack|decode\w*|join|reverse|\$)|(?<![.\w])(?:exec|eval|Function|compile|instance_eval|loadstring|load)\s{0,4}\(/;
const hidesText =
  /(?:\b|_)b(?:ase)?64|fromCharCode|\batob\b|\bchr\(|\bunhexlify\b|fromhex|\bpack\b|\bcodecs\b|\bzlib\b|\bmarshal\b|\.reverse\(\)|\[::-1\]|rot13|str_rot|__import__|importlib|getattr\(|\\x[0-9a-f]{2}\\x/i;
const fetches =
  /urlopen|urlretrieve|requests\.(?:get|post|put)|\bhttpx\b|\bfetch\s{0,4}\(|https?\.get|Net::HTTP|open-uri|LWP|file_get_contents\(\s{0,4}["']http/;
const sends =
  /\bsocket\b|requests\.(?:post|put|patch|delete)|smtplib|ftplib|paramiko|method\s{0,4}:\s{0,4}["'](?:POST|PUT|PATCH|DELETE)/i;
/** A write of nothing: `write_text('')`, `writeFileSync('a', '')`, `open('a', 'w').close()`, `truncate('a')`. */
const empties =
  /\btruncate(?:Sync)?\b|\bftruncate\b|\b(?:write_text|write_bytes|write|writeFile|writeFileSync|writeTextFile|writeTextFileSync|file_put_contents|outputFileSync)\([^()\n]{0,200}(?:""|''|b''|``|null|None)\s{0,4}\)|\bopen\([^()\n]{0,200}["']w[b+]?["']\s{0,4}\)(?:\s{0,4}\.close\(\)|\s{0,4}$|\s{0,4}[;\]\n"'])|\bwrite_(?:text|bytes)\(\s{0,4}\)|File\.open\([^()\n]{0,200}["']w["']\s{0,4}\)/;
const writes =
  /\b(?:write_text|write_bytes|writeFile|writeFileSync|writeTextFile|writeTextFileSync|appendFileSync|file_put_contents|copyFileSync|copyfile|renameSync|Bun\.write|File\.write|IO\.write|Files\.write\w*|spurt|write\.\w+)\s{0,4}\(|\bopen\([^()\n]{0,200}["'][wx][b+]?["']|\bopen\s{0,4}\(?[^()\n]{0,80}["']\s{0,4}\+?>/;

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

/** Checks code that an interpreter runs: from its arguments, its input, or a file that the same command wrote. */
export function checkCodeText(code: string, name: string, { findings }: CommandContext): void {
  const form = `${name} -c`;
  const isScripting = /^(?:perl|ruby|php|raku|groovy|awk)$/.test(name);
  if (deletesFolders.test(code) || (/\brm\s{1,4}-\w{0,9}[rR]/.test(code) && runsSomething.test(code)))
    findings.add("deletes", "deletes whole folders", form);
  if (deletesFiles.test(code)) findings.add("deletes", "deletes files", form);
  if (empties.test(code)) findings.add("deletes", "empties files", form);
  if (deletesRows.test(code)) findings.add("data", "deletes data", form);
  if (endsAll.test(code)) findings.add("system", "ends every process", form);
  if (runsText.test(code) && fetches.test(code)) findings.add("downloads", "runs what it downloads", form);
  else if (runsText.test(code) && hidesText.test(code))
    findings.add("unclear", "cannot tell what this runs", form);
  if (
    /__import__|\bgetattr\(\s{0,4}(?:os|subprocess|shutil)\b|globalThis\[|process\.binding|process\.mainModule/.test(
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
  const clears = /\$_\s{0,4}=\s{0,4}(?:""|''|undef)/;
  const flags = texts.filter((text) => /^-[a-zA-Z.]+$/.test(text)).join("");
  if (!flags.includes("i")) return false;
  const prints = texts.some((text) => /\bprint\b|\bputs\b|\bsay\b/.test(text));
  return texts.some((text) => clears.test(text)) || (flags.includes("n") && !prints);
}
