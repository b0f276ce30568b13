/** Programs that delete, overwrite or give away files. */
import type { Judge } from "./look.ts";
import { type Args, has, valuesOf } from "./options.ts";
import { isOutside } from "./places.ts";

const rm: Judge = (args, { found, target }) => {
  const isDeep = has(args, "rR", "recursive");
  if (isDeep && has(args, "f", "force")) found.add("deletes", "deletes without asking", "rm -rf");
  else if (isDeep) found.add("deletes", "deletes whole folders", "rm -r");
  const all = args.rest.find((path) => /(?:^|\/)\*(?:\.\*)?$/.test(path));
  if (all !== undefined) found.add("deletes", "deletes all files of a folder", `rm ${all}`);
  for (const path of args.rest) target(path, "deletes");
};

const find: Judge = ({ all }, { found, target }, name) => {
  const run = all.findIndex((arg) => /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec(?:-batch)?$/.test(arg));
  if (all.includes("-delete")) found.add("deletes", "deletes all that it finds", `${name} -delete`);
  if (run !== -1 && all.slice(run).some((arg) => /^(?:.*\/)?(?:rm|unlink|shred)$/.test(arg)))
    found.add("deletes", "deletes all that it finds", `${name} ${all[run]} rm`);
  all.forEach((arg, n) => {
    if (/^-(?:fprint0?|fprintf|fls)$/.test(arg)) target(all[n + 1] ?? "");
  });
};

const chmod: Judge = (args, { found, target }) => {
  const [mode = "", ...paths] = args.rest;
  const deep = has(args, "R", "recursive") ? "-R " : "";
  if (/^[0-7]?[0-7]{2}[2367]$|^(?:[ugo]*[ao][ugoa]*|)\+[rx]*w/.test(mode))
    found.add("rights", "lets everybody write", `chmod ${deep}${mode}`);
  if (/^[2-7][0-7]{3}$|\+[rwx]*s/.test(mode))
    found.add("root", "lets it run with its owner's rights", `chmod ${mode}`);
  for (const path of paths) target(path, "changes rights");
};

const chown: Judge = (args, { found, target }, name) => {
  if (has(args, "R", "recursive")) found.add("rights", "gives whole folders to another owner", `${name} -R`);
  for (const path of args.rest.slice(1)) target(path, "changes rights");
};

const dd: Judge = ({ all }, { target }) => {
  for (const arg of all) if (arg.startsWith("of=")) target(arg.slice(3));
};

const erase: Judge = (_, { found }, name) => found.add("disk", "erases a disk", name);

const everyPath: Judge = ({ rest }, { target }) => {
  for (const path of rest) target(path);
};

const lastPath: Judge = (args, { target }) => {
  const into = valuesOf(args, "t", "target-directory");
  for (const path of into.length > 0 ? into : args.rest.slice(1).slice(-1)) target(path);
};

const ln: Judge = (args, look, name) => {
  for (const path of args.rest) {
    if (isOutside(path, look.places))
      look.found.add("outside", "makes a link that leads outside the project", path);
  }
  lastPath(args, look, name);
};

const rimraf: Judge = (args, { found, target }, name) => {
  found.add("deletes", "deletes whole folders", name);
  for (const path of args.rest) target(path, "deletes");
};

const mv: Judge = (args, look, name) => {
  if (args.rest.at(-1) === "/dev/null") look.found.add("deletes", "deletes files", "mv … /dev/null");
  everyPath(args, look, name);
  for (const path of valuesOf(args, "t", "target-directory")) look.target(path);
};

const shred: Judge = (args, look, name) => {
  look.found.add("deletes", "destroys files for good", name);
  everyPath(args, look, name);
};

const rsync: Judge = (args, look, name) => {
  const option = args.all.find((arg) => arg.startsWith("--del") || arg === "--remove-source-files");
  if (option !== undefined)
    look.found.add("deletes", "deletes what the other side has not", `${name} ${option}`);
  lastPath(args, look, name);
};

const sed: Judge = (args, { target, found }, name) => {
  const isPlace = has(args, "i", "in-place");
  if (isPlace) for (const path of args.rest.slice(1)) target(path);
  if (args.rest.some((arg) => /(?:^|[;}/\d])\s*[eE]\s+\S|\/[gip]*e[gip]*$/.test(arg)))
    found.add("runs", "runs other programs", `${name} e`);
};

const unpack: Judge = (args, { target, found }, name) => {
  for (const path of valuesOf(args, name === "unzip" ? "d" : "C", "directory")) target(path);
  const runs = args.all.find((arg) => /^--(?:checkpoint-action|to-command|use-compress-program)/.test(arg));
  if (runs !== undefined) found.add("runs", "runs other programs", `${name} ${runs}`);
};

/** Windows and PowerShell. */
const removeItem: Judge = ({ all }, { found }, name) => {
  const deep = all.find((arg) => /^(?:-r(?:ecurse)?|\/s)$/i.test(arg));
  if (deep !== undefined) found.add("deletes", "deletes whole folders", `${name} ${deep}`);
};

const written = (args: Args): string[] => [
  ...valuesOf(args, "o", "output", "output-document", "output-dir", "directory-prefix"),
  ...valuesOf(args, "OP"),
];

const download: Judge = (args, { target, fetched }, name) => {
  const paths = name === "curl" ? valuesOf(args, "o", "output", "output-dir") : written(args);
  for (const path of paths) {
    if (path === "-") continue;
    target(path);
    fetched.add(path.replace(/^\.\//, ""));
  }
  const isNamed = name === "wget" ? paths.length === 0 : has(args, "OJ", "remote-name");
  for (const url of isNamed ? args.rest : []) {
    const file = url.split(/[?#]/, 1)[0]?.split("/").pop();
    if (file) fetched.add(file);
  }
};

const go: Judge = ({ rest }, { enter }) => enter(rest[0] ?? "");

export const files: Readonly<Record<string, Judge>> = {
  rm,
  find,
  fd: find,
  chmod,
  chown,
  chgrp: chown,
  dd,
  mkfs: erase,
  mke2fs: erase,
  mkswap: erase,
  wipefs: erase,
  fdisk: erase,
  sfdisk: erase,
  sgdisk: erase,
  parted: erase,
  blkdiscard: erase,
  tee: everyPath,
  touch: everyPath,
  mkdir: everyPath,
  rmdir: everyPath,
  unlink: everyPath,
  truncate: everyPath,
  "remove-item": removeItem,
  ri: removeItem,
  del: removeItem,
  erase: removeItem,
  rd: removeItem,
  cp: lastPath,
  install: lastPath,
  ln,
  scp: lastPath,
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
  cd: go,
  pushd: go,
  chdir: go,
};
