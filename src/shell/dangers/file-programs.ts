/** Programs that delete, overwrite or share files. */

import { type Arguments, findOptionValues, hasOption } from "./arguments.ts";
import type { CheckProgram, CommandContext } from "./context.ts";
import { isGenerated, isOutsideProject, replaceVariable } from "./paths.ts";
import { checkCurlRequest, checkRsyncTarget, checkScpTarget, checkWgetRequest } from "./remote-programs.ts";

const rm: CheckProgram = (args, { findings, checkTarget, paths }) => {
  const isRecursive = hasOption(args, "rR", "recursive");
  // A file with this ending is a leftover of an editor, but a folder is somebody's backup.
  const isBackup = (path: string) => isRecursive && /\.(?:bak|orig)\/?$/.test(path);
  const lost = args.rest.filter((path) => isBackup(path) || !isGenerated(path, paths));
  if (lost.length > 0 || args.rest.length === 0) {
    if (isRecursive && hasOption(args, "f", "force"))
      findings.add("deletes", "deletes without asking", "rm -rf");
    else if (isRecursive) findings.add("deletes", "deletes whole folders", "rm -r");
  }
  const all = lost.find((path) => /(?:^|\/)\.?\*(?:\.\*)?$/.test(path));
  if (all !== undefined) findings.add("deletes", "deletes all files in a folder", `rm ${all}`);
  else if (!isRecursive && lost[0] !== undefined) findings.add("deletes", "deletes files", `rm ${lost[0]}`);
  for (const path of args.rest) checkTarget(path, "deletes");
};

const unlink: CheckProgram = ({ rest }, { findings, checkTarget, paths }, name) => {
  for (const path of rest) {
    if (!isGenerated(path, paths)) findings.add("deletes", "deletes files", `${name} ${path}`);
    checkTarget(path, "deletes");
  }
};

/** True if find looks only in generated folders or for generated names: `find dist`, `-name '*.pyc'`. */
export function findsOnlyGenerated(all: readonly string[], context: Pick<CommandContext, "paths">): boolean {
  const names = all.flatMap((arg, n) => (/^-i?name$/.test(arg) ? [all[n + 1] ?? ""] : []));
  const options = all.findIndex((arg) => /^[-(!]/.test(arg));
  const folders = options === -1 ? all : all.slice(0, options);
  return (
    (folders.length > 0 && folders.every((folder) => isGenerated(folder, context.paths))) ||
    (names.length > 0 &&
      !folders.some((folder) => isOutsideProject(folder, context.paths)) &&
      names.every((text) => isGenerated(text.replace(/^\*(?=\.)/, "x"), context.paths)))
  );
}

const find: CheckProgram = ({ all }, context, name) => {
  const { findings, checkTarget, checkOverwrite } = context;
  const run = all.findIndex((arg) => /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec(?:-batch)?$/.test(arg));
  const program = run === -1 ? "" : (all[run + 1] ?? "").replace(/^.*\//, "");
  const isLost = !findsOnlyGenerated(all, context);
  if (isLost && all.includes("-delete"))
    findings.add("deletes", "deletes everything it finds", `${name} -delete`);
  if (isLost && run !== -1 && all.slice(run).some((arg) => /^(?:.*\/)?(?:rm|unlink|shred|rimraf)$/.test(arg)))
    findings.add("deletes", "deletes everything it finds", `${name} ${all[run]} rm`);
  if (/^(?:truncate|tee|dd)$/.test(program) || (program !== "" && all.slice(run).includes("/dev/null")))
    findings.add("deletes", "empties everything it finds", `${name} ${all[run]} ${program}`);
  // A shell without -c, or the files themselves: every file is run.
  const isShell = /^(?:sh|bash|zsh|dash|ksh|source|\.|python\d?|node|perl|ruby)$/.test(program);
  if (program === "{}" || (isShell && (all[run + 2] ?? "").startsWith("{}")))
    findings.add("runs", "runs everything it finds", `${name} ${all[run]} ${program}`);
  all.forEach((arg, n) => {
    if (!/^-(?:fprint0?|fprintf|fls)$/.test(arg)) return;
    checkTarget(all[n + 1] ?? "");
    checkOverwrite(all[n + 1] ?? "", `${name} ${arg}`);
  });
};

const chmod: CheckProgram = (args, { findings, checkTarget }) => {
  // `chmod -r x`: a mode that looks like an option.
  const taken = args.all.find((arg) => /^-[rwx]+$/.test(arg));
  const [mode = "", ...paths] = taken === undefined ? args.rest : [`a${taken}`, ...args.rest];
  const deep = hasOption(args, "R", "recursive") ? "-R " : "";
  if (/^[0-7]?[0-7]{2}[2367]$|^(?:[ugo]*[ao][ugoa]*|)\+[rx]*w/.test(mode))
    findings.add("rights", "lets everybody write", `chmod ${deep}${mode}`);
  if (/^[2-7][0-7]{3}$|\+[rwx]*s/.test(mode))
    findings.add("root", "lets it run with its owner's rights", `chmod ${mode}`);
  if (/^0*$|^0?[0-7]00$/.test(mode) ? /^0*$/.test(mode) : /^[ugoa]*-[rwx]*r|^[ugoa]*=$/.test(mode))
    findings.add("rights", "takes away all access", `chmod ${deep}${mode}`);
  for (const path of paths) checkTarget(path, "changes rights");
};

const chown: CheckProgram = (args, { findings, checkTarget }, name) => {
  if (hasOption(args, "R", "recursive"))
    findings.add("rights", "gives whole folders to another owner", `${name} -R`);
  for (const path of args.rest.slice(1)) checkTarget(path, "changes rights");
};

const diskImage = /\.(?:img|bin|iso|raw|dat|qcow2|swap)$/i;

const dd: CheckProgram = ({ all }, { checkTarget, checkEmptied }) => {
  for (const arg of all) {
    if (!arg.startsWith("of=")) continue;
    checkTarget(arg.slice(3));
    if (!diskImage.test(arg)) checkEmptied(arg.slice(3), "dd of=");
  }
};

const truncate: CheckProgram = (args, { checkTarget, checkEmptied }) => {
  const [size = ""] = findOptionValues(args, "s", "size");
  for (const path of args.rest) {
    checkTarget(path);
    // `truncate -s 10M disk.img` makes a file of a size.
    if (path !== size && !diskImage.test(path)) checkEmptied(path, "truncate");
  }
};

const tee: CheckProgram = (args, { checkTarget, checkOverwrite }, name, { redirects }) => {
  const isEdit = redirects.some(({ body, operator }) => body !== null || operator === "<<<");
  for (const path of args.rest) {
    checkTarget(path);
    if (!isEdit && !hasOption(args, "a", "append")) checkOverwrite(path, name);
  }
};

const eraseDisk: CheckProgram = (_, { findings }, name) => findings.add("disk", "erases a disk", name);

const checkEveryPath: CheckProgram = ({ rest }, { checkTarget }) => {
  for (const path of rest) checkTarget(path);
};

const checkLastPath: CheckProgram = (args, { checkTarget, checkEmptied }, name) => {
  const into = findOptionValues(args, "t", "target-directory");
  for (const path of into.length > 0 ? into : args.rest.slice(1).slice(-1)) {
    checkTarget(path);
    if (args.rest.includes("/dev/null")) checkEmptied(path, `${name} /dev/null`);
  }
};

const ln: CheckProgram = (args, context, name, command) => {
  for (const path of args.rest) {
    if (isOutsideProject(path, context.paths))
      context.findings.add("outside", "makes a link that leads outside the project", path);
  }
  checkLastPath(args, context, name, command);
};

const rimraf: CheckProgram = (args, { findings, checkTarget, paths }, name) => {
  if (args.rest.some((path) => !isGenerated(path, paths)))
    findings.add("deletes", "deletes whole folders", name);
  for (const path of args.rest) checkTarget(path, "deletes");
};

const mv: CheckProgram = (args, context, name, command) => {
  const { findings, paths, checkTarget } = context;
  const into = findOptionValues(args, "t", "target-directory");
  const [target = ""] = into.length > 0 ? into : args.rest.slice(-1);
  if (target === "/dev/null") findings.add("deletes", "deletes files", "mv … /dev/null");
  const moved = args.rest.find(
    (path) => path !== target && !isOutsideProject(path, paths) && !isGenerated(path, paths),
  );
  if (moved !== undefined && isOutsideProject(target, paths))
    findings.add("deletes", "moves files out of the project", `mv ${moved} ${target}`);
  checkEveryPath(args, context, name, command);
  for (const path of into) checkTarget(path);
};

const shred: CheckProgram = (args, context, name, command) => {
  context.findings.add("deletes", "destroys files", name);
  checkEveryPath(args, context, name, command);
};

const rsync: CheckProgram = (args, context, name, command) => {
  if (hasOption(args, "n", "dry-run")) return;
  const option = args.all.find((arg) => arg.startsWith("--del") || arg === "--remove-source-files");
  if (option !== undefined)
    context.findings.add("deletes", "deletes files that the source does not have", `${name} ${option}`);
  checkRsyncTarget(args, context, name, command);
  checkLastPath(args, context, name, command);
};

const scp: CheckProgram = (args, context, name, command) => {
  checkScpTarget(args, context, name, command);
  checkLastPath(args, context, name, command);
};

/** `d` for every line, or nothing printed. */
const emptyScript = /^(?:(?:1|0)?,?\$?|\/\.?\*?\/|1,\$)?\s*[dD]$|^(?:1,\$|%)?d;?$|^s(.)\^?\.\*\$?\1\1[gI]*$/;

const sed: CheckProgram = (args, { checkTarget, checkEmptied, findings }, name) => {
  const isInPlace = hasOption(args, "i", "in-place");
  const scripts = [...findOptionValues(args, "e", "expression"), args.rest[0] ?? ""];
  if (isInPlace) for (const path of args.rest.slice(1)) checkTarget(path);
  const isQuiet = hasOption(args, "n", "quiet", "silent") && !scripts.some((text) => /p/.test(text));
  if (isInPlace && (isQuiet || scripts.some((text) => emptyScript.test(text.trim()))))
    checkEmptied(args.rest.at(-1) ?? "", `${name} -i`);
  if (
    scripts.some((text) =>
      /(?:^|[;}/\d])\s*[eE]\s+\S|(?:^|[;{\n])\s*s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gip0-9]*e[gip]*\s*(?:;|$)|^\d*e$/.test(
        text,
      ),
    )
  )
    findings.add("runs", "runs other programs", `${name} e`);
  const written = scripts
    .map((text) => /(?:^|[;}/\dgIp])\s*w\s+(\S+)/.exec(text)?.[1])
    .find((path) => path !== undefined);
  if (written !== undefined) {
    checkTarget(written);
    checkEmptied(written, `${name} w`);
  }
};

const compressors =
  /^(?:\S*\/)?(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzop|lzip|brotli|unzstd|gunzip)(?: -\S+)*$/;

const tar: CheckProgram = (args, { checkTarget, checkOverwrite, findings }, name) => {
  for (const path of findOptionValues(args, "C", "directory")) checkTarget(path);
  const action = args.all.find((arg) =>
    /^--(?:checkpoint-action|to-command|info-script|new-volume-script|rsh-command|rmt-command)/.test(arg),
  );
  const program = findOptionValues(args, "I", "use-compress-program").find(
    (value) => !compressors.test(value),
  );
  if (action !== undefined || program !== undefined)
    findings.add("runs", "runs other programs", `${name} ${action ?? `-I ${program}`}`);
  if (args.all.some((arg) => /^--(?:remove-files|delete)$/.test(arg)))
    findings.add("deletes", "deletes files", `${name} --remove-files`);
  if (args.all.some((arg) => /^--(?:overwrite|unlink-first|recursive-unlink)$/.test(arg)))
    findings.add("deletes", "overwrites files without asking", `${name} --overwrite`);
  for (const path of findOptionValues(args, "f", "file"))
    if (/^-?\w*c/.test(args.all[0] ?? "")) checkOverwrite(path, `${name} c`);
};

const unzip: CheckProgram = (args, { checkTarget, findings }, name) => {
  for (const path of findOptionValues(args, "d")) checkTarget(path);
  if (hasOption(args, "o")) findings.add("deletes", "overwrites files without asking", `${name} -o`);
};

const sevenZip: CheckProgram = ({ all }, { findings }, name) => {
  const option = all.find((arg) => /^-(?:aoa|y|sdel)$/.test(arg));
  if (option !== undefined && /^[xed]$/.test(all[0] ?? ""))
    findings.add("deletes", "overwrites files without asking", `${name} ${option}`);
  if (all[0] === "d" || option === "-sdel")
    findings.add("deletes", "deletes files", `${name} ${option ?? "d"}`);
};

const zip: CheckProgram = (args, { checkTarget, checkOverwrite, findings }, name) => {
  if (hasOption(args, "m", "move")) findings.add("deletes", "deletes the files that it packs", `${name} -m`);
  if (hasOption(args, "d", "delete")) findings.add("deletes", "deletes files", `${name} -d`);
  if (args.all.some((arg) => /^-TT$|^--unzip-command/.test(arg)))
    findings.add("runs", "runs other programs", `${name} -TT`);
  checkTarget(args.rest[0] ?? "");
  checkOverwrite(args.rest[0] ?? "", name);
};

/** Programs whose output option replaces a file. */
const createOutputCheck =
  (short: string, ...long: readonly string[]): CheckProgram =>
  (args, { checkTarget, checkOverwrite }, name) => {
    const single = args.all.flatMap((arg, n) =>
      long.some((option) => arg === `-${option}`) ? [args.all[n + 1] ?? ""] : [],
    );
    for (const path of [...findOptionValues(args, short, ...long), ...single]) {
      checkTarget(path);
      checkOverwrite(path, name);
    }
  };

const sort: CheckProgram = (args, context, name, command) => {
  createOutputCheck("o", "output")(args, context, name, command);
  if (args.all.some((arg) => arg.startsWith("--compress-prog")))
    context.findings.add("runs", "runs other programs", `${name} --compress-program`);
};

const runOption =
  (pattern: RegExp): CheckProgram =>
  ({ all }, { findings }, name) => {
    const option = all.find((arg) => pattern.test(arg));
    if (option !== undefined) findings.add("runs", "runs other programs", `${name} ${option}`);
  };

const make: CheckProgram = (args, context, name, command) => {
  runOption(/^(?:SHELL=(?!(?:\/usr)?(?:\/bin\/)?(?:ba|da|z)?sh$)|--eval)/)(args, context, name, command);
  if (
    findOptionValues(args, "f", "file", "makefile").some((path) =>
      /^(?:-|\/dev\/(?:stdin|fd\/0)|<\(\))$/.test(path),
    )
  )
    context.findings.add("runs", "runs what another program prints", `${name} -f -`);
};

/** `:!ls`, `%!sort`, `r!ls`, but not `qa!` */
const editorRuns =
  /(?:^|[\s|:"'%$\d.,/?!]|'\w)!(?=\s*\S)|\b(?:r|read)!|system(?:list)?\(|(?:job_?start|termopen|term_start|libcall(?:nr)?)\(|shell-command|call-process|start-process|\bte(?:rm|rminal)\b/m;
const editorDeletes =
  /\b(?:delete|rename|writefile|mkdir)\(\s{0,4}(?:["'[]|expand\()|delete-(?:file|directory)/;

/** Editors that are given commands: they save over a file, delete it, or run programs. */
const editor: CheckProgram = (args, { findings }, name, { redirects }) => {
  const commands = args.all.filter(
    (arg, n) =>
      /^(?:\+|-c.)/.test(arg) ||
      /^(?:-c|-S|-s|--cmd|-es|-Es|--eval|-eval|-e|-f|-l|--load|--batch)$/.test(args.all[n - 1] ?? ""),
  );
  const script = [...commands, ...redirects.map(({ target, body }) => body ?? target.text)]
    .map((text) => text.replace(/^(?:\+|-c(?=.))/, ""))
    .join("\n");
  if (editorDeletes.test(script)) findings.add("deletes", "deletes or replaces files", name);
  if (editorRuns.test(script)) findings.add("runs", "runs other programs", name);
  else if (
    /(?:^|[\s|:])(?:w|wq|wqa|x|xa|up|update|saveas|ZZ)!?(?:\s|$)|delete-|write-|save-buffer/m.test(script) ||
    /^(?:ed|ex)$/.test(name)
  )
    findings.add("deletes", "changes files by a script of an editor", name);
};

const awk: CheckProgram = (args, { findings, checkTarget, checkEmptied, checkOverwrite }, name) => {
  const code = args.all.join("\n");
  if (/\bsystem\s*\(|\|\s*getline|\|\s*"/.test(code))
    findings.add("runs", "runs other programs", `${name} system`);
  if (/>\s*FILENAME\b/.test(code)) checkEmptied(args.rest.at(-1) ?? "", `${name} > FILENAME`);
  const [, path] = /\bprintf?\b[^>;}]{0,500}>\s*"([^"\s]{1,200})"/.exec(code) ?? [];
  if (path !== undefined && !path.startsWith("/dev/std")) {
    checkTarget(path);
    checkOverwrite(path, `${name} >`);
  }
  const isInPlace =
    args.all.some((arg, n) => arg === "inplace" && args.all[n - 1] === "-i") || /-i ?inplace/.test(code);
  if (isInPlace) checkEmptied(args.rest.at(-1) ?? "", `${name} -i inplace`);
};

/** `cmake -E rm -rf x` and `cmake -P script` */
const cmake: CheckProgram = (args, { findings, paths }, name) => {
  const at = args.all.indexOf("-E");
  const [sub = "", ...rest] = at === -1 ? [] : args.all.slice(at + 1);
  const isLost = rest.some((path) => !path.startsWith("-") && !isGenerated(path, paths));
  if (/^(?:rm|remove|remove_directory)$/.test(sub) && isLost)
    findings.add("deletes", "deletes files", `${name} -E ${sub}`);
};

/** Windows and PowerShell. */
const removeItem: CheckProgram = ({ all }, { findings }, name) => {
  const deep = all.find((arg) => /^(?:-r(?:ecurse)?|\/s)$/i.test(arg));
  if (deep !== undefined) findings.add("deletes", "deletes whole folders", `${name} ${deep}`);
};

const deleteOnWindows: CheckProgram = ({ all }, { findings, paths }, name) => {
  const path = all.find((arg) => !/^[-/]\w{1,10}$/.test(arg) && !isGenerated(arg, paths));
  if (path !== undefined) findings.add("deletes", "deletes files", `${name} ${path}`);
};

const emptyEveryPath: CheckProgram = ({ rest }, { checkTarget, checkEmptied }, name) => {
  for (const path of rest) {
    checkTarget(path);
    checkEmptied(path, name);
  }
};

const overwriteEveryPath: CheckProgram = ({ rest }, { checkTarget, checkOverwrite }, name) => {
  for (const path of rest) {
    checkTarget(path);
    checkOverwrite(path, name);
  }
};

const trash: CheckProgram = ({ rest }, { findings, paths }, name) => {
  if (rest.some((path) => !isGenerated(path, paths))) findings.add("deletes", "deletes files", name);
};

const emptyTrash: CheckProgram = (_, { findings }, name) =>
  findings.add("deletes", "deletes what is in the trash", name);

const listOutputs = (args: Arguments): string[] => [
  ...findOptionValues(args, "o", "output", "output-document", "output-dir", "directory-prefix"),
  ...findOptionValues(args, "OP"),
];

const download: CheckProgram = (args, context, name, command) => {
  const { checkTarget, checkOverwrite, downloads } = context;
  if (name === "curl") checkCurlRequest(args, context, name, command);
  if (name === "wget") checkWgetRequest(args, context, name, command);
  const paths = name === "curl" ? findOptionValues(args, "o", "output", "output-dir") : listOutputs(args);
  for (const path of paths) {
    if (path === "-") continue;
    checkTarget(path);
    checkOverwrite(path, `${name} -o`);
    downloads.add(path.replace(/^\.\//, ""));
  }
  const isNamed = name === "wget" ? paths.length === 0 : hasOption(args, "OJ", "remote-name");
  for (const url of isNamed ? args.rest : []) {
    const file = url.split(/[?#]/, 1)[0]?.split("/").pop();
    if (file) downloads.add(file);
  }
};

const changeFolder: CheckProgram = ({ rest }, { enterFolder, paths }) =>
  enterFolder(replaceVariable(rest[0] ?? "", paths));

export const filePrograms: Readonly<Record<string, CheckProgram>> = {
  rm,
  find,
  fd: find,
  chmod,
  chown,
  chgrp: chown,
  dd,
  mkfs: eraseDisk,
  mke2fs: eraseDisk,
  mkswap: eraseDisk,
  wipefs: eraseDisk,
  fdisk: eraseDisk,
  sfdisk: eraseDisk,
  sgdisk: eraseDisk,
  parted: eraseDisk,
  blkdiscard: eraseDisk,
  tee,
  touch: checkEveryPath,
  mkdir: checkEveryPath,
  rmdir: (args, context, name, command) => {
    // On Windows, `rmdir /s` deletes a whole folder.
    removeItem(args, context, name, command);
    checkEveryPath(args, context, name, command);
  },
  unlink,
  truncate,
  "remove-item": removeItem,
  ri: removeItem,
  "clear-content": emptyEveryPath,
  "set-content": overwriteEveryPath,
  "out-file": overwriteEveryPath,
  del: deleteOnWindows,
  erase: deleteOnWindows,
  rd: removeItem,
  cp: checkLastPath,
  install: checkLastPath,
  ln,
  scp,
  mv,
  rimraf,
  shred,
  rsync,
  sed,
  gsed: sed,
  tar,
  bsdtar: tar,
  gtar: tar,
  unzip,
  "7z": sevenZip,
  "7za": sevenZip,
  unrar: (args, context, name) => {
    if (hasOption(args, "", "o+") || args.all.some((arg) => /^-(?:o\+|y)$/.test(arg)))
      context.findings.add("deletes", "overwrites files without asking", `${name} -o+`);
  },
  zip,
  sort,
  openssl: (args, context, name, command) => {
    const isConnected =
      args.all[0] === "s_client" &&
      command.redirects.some(({ operator, target }) => operator === "<" && target.text !== "/dev/null");
    if (isConnected) context.findings.add("sends", "sends files to another machine", `${name} s_client`);
    createOutputCheck("", "out")(args, context, name, command);
  },
  gpg: (args, context, name, command) => {
    if (args.all.some((arg) => /^--delete-/.test(arg))) context.findings.add("deletes", "deletes keys", name);
    const exported = args.all.find((arg) => /^--export-s(?:e|$)/.test(arg));
    if (exported !== undefined)
      context.findings.add("sends", "gives out private keys", `${name} ${exported}`);
    createOutputCheck("o", "output")(args, context, name, command);
  },
  shuf: createOutputCheck("o", "output"),
  uniq: (args, { checkEmptied }, name) => {
    const [from, to] = args.rest;
    if (from !== undefined && from === to) checkEmptied(from, name);
  },
  cpio: (args, { findings }, name) => {
    if (hasOption(args, "u", "unconditional"))
      findings.add("deletes", "overwrites files without asking", `${name} -u`);
  },
  robocopy: ({ all }, { findings }, name) => {
    const option = all.find((arg) => /^\/(?:mir|purge|move?)$/i.test(arg));
    if (option !== undefined) findings.add("deletes", "deletes files", `${name} ${option}`);
  },
  move: mv,
  "move-item": mv,
  sponge: tee,
  age: createOutputCheck("o", "output"),
  iconv: createOutputCheck("o", "output"),
  xxd: (args, { checkOverwrite }, name) => checkOverwrite(args.rest[1] ?? "", name),
  rg: runOption(/^--(?:pre|hostname-bin)(?:=|$)/),
  man: runOption(/^(?:-P|-H|--pager|--html)(?:=|$)?/),
  make,
  gmake: make,
  gcc: runOption(/^-(?:wrapper|fplugin)/),
  clang: runOption(/^-(?:wrapper|fplugin|load)/),
  ed: editor,
  ex: editor,
  vi: editor,
  vim: editor,
  gvim: editor,
  view: editor,
  vimdiff: editor,
  "vim.basic": editor,
  "vim.tiny": editor,
  nvim: editor,
  emacs: editor,
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  cmake,
  trash,
  "trash-put": trash,
  "trash-cli": trash,
  rmtrash: trash,
  "trash-empty": emptyTrash,
  "trash-rm": emptyTrash,
  gio: (args, context, name, command) => {
    const [sub = "", ...rest] = args.rest;
    const inner = { ...args, rest };
    if (sub === "trash" && hasOption(args, "", "empty")) emptyTrash(args, context, name, command);
    if (sub === "trash" || sub === "remove") trash(inner, context, name, command);
    if (sub === "move" || sub === "rename") mv(inner, context, name, command);
    if (sub === "copy") checkLastPath(inner, context, name, command);
    if (sub === "save") overwriteEveryPath(inner, context, name, command);
  },
  nsenter: ({ all }, { findings }, name) => {
    if (!all.every((arg) => /^(?:-[hV]|--help|--version)$/.test(arg)))
      findings.add("root", "runs in the place of another process", name);
  },
  "del-cli": rimraf,
  srm: shred,
  wipe: shred,
  badblocks: (args, context, name) => {
    if (hasOption(args, "wn")) context.findings.add("disk", "erases a disk", name);
  },
  hdparm: (args, context, name) => {
    if (args.all.some((arg) => /^--(?:security|trim|make-bad|write|fwdownload|dco|sanitize)/.test(arg)))
      context.findings.add("disk", "erases a disk", name);
  },
  nvme: (args, context, name) => {
    if (/^(?:format|sanitize|write|delete-ns)/.test(args.rest[0] ?? ""))
      context.findings.add("disk", "erases a disk", name);
  },
  gdisk: eraseDisk,
  cfdisk: eraseDisk,
  partprobe: eraseDisk,
  mdadm: eraseDisk,
  curl: download,
  wget: download,
  cd: changeFolder,
  pushd: changeFolder,
  chdir: changeFolder,
};
