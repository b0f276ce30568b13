/** Programs that delete, overwrite or share files. */

import { type Arguments, findOptionValues, hasOption } from "./arguments.ts";
import type { CheckProgram } from "./context.ts";
import { isOutsideProject } from "./paths.ts";

const rm: CheckProgram = (args, { findings, checkTarget }) => {
  const isRecursive = hasOption(args, "rR", "recursive");
  if (isRecursive && hasOption(args, "f", "force"))
    findings.add("deletes", "deletes without asking", "rm -rf");
  else if (isRecursive) findings.add("deletes", "deletes whole folders", "rm -r");
  const all = args.rest.find((path) => /(?:^|\/)\*(?:\.\*)?$/.test(path));
  if (all !== undefined) findings.add("deletes", "deletes all files in a folder", `rm ${all}`);
  for (const path of args.rest) checkTarget(path, "deletes");
};

const find: CheckProgram = ({ all }, { findings, checkTarget }, name) => {
  const run = all.findIndex((arg) => /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec(?:-batch)?$/.test(arg));
  if (all.includes("-delete")) findings.add("deletes", "deletes everything it finds", `${name} -delete`);
  if (run !== -1 && all.slice(run).some((arg) => /^(?:.*\/)?(?:rm|unlink|shred)$/.test(arg)))
    findings.add("deletes", "deletes everything it finds", `${name} ${all[run]} rm`);
  all.forEach((arg, n) => {
    if (/^-(?:fprint0?|fprintf|fls)$/.test(arg)) checkTarget(all[n + 1] ?? "");
  });
};

const chmod: CheckProgram = (args, { findings, checkTarget }) => {
  const [mode = "", ...paths] = args.rest;
  const deep = hasOption(args, "R", "recursive") ? "-R " : "";
  if (/^[0-7]?[0-7]{2}[2367]$|^(?:[ugo]*[ao][ugoa]*|)\+[rx]*w/.test(mode))
    findings.add("rights", "lets everybody write", `chmod ${deep}${mode}`);
  if (/^[2-7][0-7]{3}$|\+[rwx]*s/.test(mode))
    findings.add("root", "lets it run with its owner's rights", `chmod ${mode}`);
  for (const path of paths) checkTarget(path, "changes rights");
};

const chown: CheckProgram = (args, { findings, checkTarget }, name) => {
  if (hasOption(args, "R", "recursive"))
    findings.add("rights", "gives whole folders to another owner", `${name} -R`);
  for (const path of args.rest.slice(1)) checkTarget(path, "changes rights");
};

const dd: CheckProgram = ({ all }, { checkTarget }) => {
  for (const arg of all) if (arg.startsWith("of=")) checkTarget(arg.slice(3));
};

const eraseDisk: CheckProgram = (_, { findings }, name) => findings.add("disk", "erases a disk", name);

const checkEveryPath: CheckProgram = ({ rest }, { checkTarget }) => {
  for (const path of rest) checkTarget(path);
};

const checkLastPath: CheckProgram = (args, { checkTarget }) => {
  const into = findOptionValues(args, "t", "target-directory");
  for (const path of into.length > 0 ? into : args.rest.slice(1).slice(-1)) checkTarget(path);
};

const ln: CheckProgram = (args, context, name) => {
  for (const path of args.rest) {
    if (isOutsideProject(path, context.paths))
      context.findings.add("outside", "makes a link that leads outside the project", path);
  }
  checkLastPath(args, context, name);
};

const rimraf: CheckProgram = (args, { findings, checkTarget }, name) => {
  findings.add("deletes", "deletes whole folders", name);
  for (const path of args.rest) checkTarget(path, "deletes");
};

const mv: CheckProgram = (args, context, name) => {
  if (args.rest.at(-1) === "/dev/null") context.findings.add("deletes", "deletes files", "mv … /dev/null");
  checkEveryPath(args, context, name);
  for (const path of findOptionValues(args, "t", "target-directory")) context.checkTarget(path);
};

const shred: CheckProgram = (args, context, name) => {
  context.findings.add("deletes", "destroys files", name);
  checkEveryPath(args, context, name);
};

const rsync: CheckProgram = (args, context, name) => {
  const option = args.all.find((arg) => arg.startsWith("--del") || arg === "--remove-source-files");
  if (option !== undefined)
    context.findings.add("deletes", "deletes files that the source does not have", `${name} ${option}`);
  checkLastPath(args, context, name);
};

const sed: CheckProgram = (args, { checkTarget, findings }, name) => {
  const isInPlace = hasOption(args, "i", "in-place");
  if (isInPlace) for (const path of args.rest.slice(1)) checkTarget(path);
  if (args.rest.some((arg) => /(?:^|[;}/\d])\s*[eE]\s+\S|\/[gip]*e[gip]*$/.test(arg)))
    findings.add("runs", "runs other programs", `${name} e`);
};

const unpack: CheckProgram = (args, { checkTarget, findings }, name) => {
  for (const path of findOptionValues(args, name === "unzip" ? "d" : "C", "directory")) checkTarget(path);
  const runs = args.all.find((arg) => /^--(?:checkpoint-action|to-command|use-compress-program)/.test(arg));
  if (runs !== undefined) findings.add("runs", "runs other programs", `${name} ${runs}`);
};

/** Windows and PowerShell. */
const removeItem: CheckProgram = ({ all }, { findings }, name) => {
  const deep = all.find((arg) => /^(?:-r(?:ecurse)?|\/s)$/i.test(arg));
  if (deep !== undefined) findings.add("deletes", "deletes whole folders", `${name} ${deep}`);
};

const listOutputs = (args: Arguments): string[] => [
  ...findOptionValues(args, "o", "output", "output-document", "output-dir", "directory-prefix"),
  ...findOptionValues(args, "OP"),
];

const download: CheckProgram = (args, { checkTarget, downloads }, name) => {
  const paths = name === "curl" ? findOptionValues(args, "o", "output", "output-dir") : listOutputs(args);
  for (const path of paths) {
    if (path === "-") continue;
    checkTarget(path);
    downloads.add(path.replace(/^\.\//, ""));
  }
  const isNamed = name === "wget" ? paths.length === 0 : hasOption(args, "OJ", "remote-name");
  for (const url of isNamed ? args.rest : []) {
    const file = url.split(/[?#]/, 1)[0]?.split("/").pop();
    if (file) downloads.add(file);
  }
};

const changeFolder: CheckProgram = ({ rest }, { enterFolder }) => enterFolder(rest[0] ?? "");

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
  tee: checkEveryPath,
  touch: checkEveryPath,
  mkdir: checkEveryPath,
  rmdir: checkEveryPath,
  unlink: checkEveryPath,
  truncate: checkEveryPath,
  "remove-item": removeItem,
  ri: removeItem,
  del: removeItem,
  erase: removeItem,
  rd: removeItem,
  cp: checkLastPath,
  install: checkLastPath,
  ln,
  scp: checkLastPath,
  mv,
  rimraf,
  shred,
  srm: shred,
  rsync,
  sed,
  gsed: sed,
  tar: unpack,
  unzip: unpack,
  curl: download,
  wget: download,
  cd: changeFolder,
  pushd: changeFolder,
  chdir: changeFolder,
};
