/** Programs that change a database, servers, published packages, or this system. */

import type { CheckProgram, DangerPattern } from "./context.ts";
import { isDryRun } from "./dry-run.ts";
import { git } from "./git.ts";

const word = (list: string): RegExp => new RegExp(`(?:^| )(?:${list})(?= |$)`);
const first = (list: string): RegExp => new RegExp(`^(?:-\\S+ )*(?:${list})(?= |$)`);

const publishes = "publishes for everybody";
const servers = "changes servers that are running";
export const skipsPermissions = "starts an agent that does not ask";
const turnsOff = "turns the machine or its services off";

const table: Readonly<Record<string, readonly DangerPattern[]>> = {
  kubectl: [
    ["servers", "deletes in the cluster", word("delete|drain|replace --force")],
    ["servers", servers, word("apply|scale|patch|replace|edit|set image|rollout (?:undo|restart)")],
  ],
  helm: [["servers", "deletes in the cluster", word("uninstall|delete|rollback")]],
  terraform: [["servers", servers, word("apply|destroy|-destroy|state rm|taint|import")]],
  pulumi: [["servers", servers, word("up|destroy|refresh")]],
  cdk: [["servers", servers, word("deploy|destroy")]],
  serverless: [["servers", servers, word("deploy|remove")]],
  "ansible-playbook": [["servers", servers, /^/]],
  aws: [
    [
      "servers",
      "deletes in the cloud",
      word("delete-\\S+|terminate-\\S+|rb|rm|deregister-\\S+|purge-\\S+|.* --delete"),
    ],
  ],
  gcloud: [["servers", "deletes in the cloud", word("delete|destroy")]],
  az: [["servers", "deletes in the cloud", word("delete|purge")]],
  gsutil: [["servers", "deletes in the cloud", word("rm|rb")]],
  heroku: [["servers", servers, /destroy|pg:reset/]],
  fly: [["servers", servers, word("destroy|deploy")]],
  vercel: [["servers", servers, word("--prod|deploy|remove|rm|promote|rollback")]],
  netlify: [["servers", servers, /deploy.* (?:--prod|-p)(?: |$)/]],
  firebase: [["servers", servers, /^deploy|:delete/]],
  wrangler: [["servers", servers, word("deploy|publish|delete|rollback")]],
  gh: [
    [
      "servers",
      "deletes on GitHub",
      word("(?:repo|release|secret|variable|run|cache|gist|label|codespace) delete"),
    ],
    ["servers", "changes GitHub directly", /(?:^| )api .*(?:-X|--method)[ =]?(?:DELETE|PUT|POST|PATCH)/i],
    ["publishes", publishes, word("release create|gist create")],
    ["git", "merges for everybody", word("pr merge")],
  ],
  docker: [
    [
      "root",
      "gives a container the whole machine",
      /--privileged|--pid[ =]host|docker\.sock|(?:^| )(?:-v|--volume)[ =]?\/:/,
    ],
    [
      "data",
      "deletes containers and their data",
      word(
        "(?:system|volume|image|container|builder|network) prune|volume rm|rm -f|down .*(?:-v|--volumes)|down -v|down --volumes",
      ),
    ],
    ["publishes", publishes, first("push|image push")],
  ],
  npm: [["publishes", publishes, first("publish|unpublish|deprecate|dist-tag|npm publish|owner|access")]],
  cargo: [["publishes", publishes, first("publish|yank|owner")]],
  twine: [["publishes", publishes, first("upload")]],
  gem: [["publishes", publishes, first("push|yank")]],
  poetry: [["publishes", publishes, first("publish")]],
  mvn: [["publishes", publishes, word("deploy|release:perform")]],
  vsce: [["publishes", publishes, first("publish|unpublish")]],
  "redis-cli": [["data", "deletes data", /flushall|flushdb/i]],
  mongosh: [["data", "deletes data", /dropDatabase|\.drop\(|deleteMany|remove\(/]],
  dropdb: [["data", "deletes data", /^/]],
  rake: [["data", "deletes data", /db:(?:drop|reset|purge|truncate_all|schema:load|migrate:reset)/]],
  php: [["data", "deletes data", /artisan (?:migrate:(?:fresh|refresh|reset)|db:wipe)/]],
  python: [["data", "deletes data", /manage\.py (?:flush|reset_db)/]],
  "manage.py": [["data", "deletes data", first("flush|reset_db")]],
  prisma: [["data", "deletes data", /migrate reset|--force-reset|--accept-data-loss/]],
  supabase: [["data", "deletes data", word("db reset")]],
  pg_restore: [["data", "deletes data", word("-c|--clean")]],
  s3cmd: [["data", "deletes data", word("del|rm|rb")]],
  hdfs: [["data", "deletes data", word("-rm|-rmr")]],
  codex: [["root", skipsPermissions, /--(?:yolo|full-auto|dangerously-\S+)/]],
  apt: [["system", "removes programs", word("remove|purge|autoremove|erase|uninstall|del|-R\\w*")]],
  format: [["disk", "erases a disk", /^[a-z]:/i]],
  security: [["system", "changes or reads your keychain", /delete-|dump-|find-\w+-password|export/]],
  tmutil: [["data", "deletes backups", word("delete|deletelocalsnapshots|disable")]],
  mysqladmin: [["data", "deletes data", word("drop")]],
  shutdown: [["system", turnsOff, /^/]],
  systemctl: [
    ["system", turnsOff, word("poweroff|reboot|halt|stop|disable|mask|kill")],
    ["system", "changes what starts by itself", word("enable|edit|link")],
  ],
  launchctl: [
    ["system", "changes what starts by itself", word("load|bootstrap|submit|enable|remove|unload|bootout")],
  ],
  crontab: [["system", "changes what starts by itself", /^(?!-l\b)/]],
  kill: [["system", "ends every process", /(?:^| )-1(?: |$)(?=.)|-1$/]],
  pkill: [["system", "ends processes by their name", /^/]],
  iptables: [["system", "changes the firewall", /^(?!-L\b|-S\b)/]],
  ufw: [["system", "changes the firewall", word("disable|reset|allow|delete")]],
  usermod: [["system", "changes who may log in", /^/]],
  modprobe: [["system", "changes the system's kernel", /^/]],
  sysctl: [["system", "changes the system's kernel", /(?:^| )-\w*[wp]|=/]],
  diskutil: [["disk", "erases a disk", /erase|partition|reformat/i]],
  cryptsetup: [["disk", "erases a disk", /luksFormat|erase/]],
  nc: [["sends", "gives another machine a shell", /(?:^| )-\w*[ec](?: |$)|--exec|--sh-exec/]],
  socat: [["sends", "gives another machine a shell", /exec:|system:/i]],
  awk: [["runs", "runs other programs", /\bsystem\s*\(|\|\s*getline|\|\s*"/]],
};

const alike: Readonly<Record<string, string>> = {
  oc: "kubectl",
  tofu: "terraform",
  terragrunt: "terraform",
  podman: "docker",
  "docker-compose": "docker",
  nerdctl: "docker",
  pnpm: "npm",
  yarn: "npm",
  bun: "npm",
  lerna: "npm",
  uv: "poetry",
  flit: "poetry",
  flyctl: "fly",
  sls: "serverless",
  ovsx: "vsce",
  mongo: "mongosh",
  rails: "rake",
  gemini: "codex",
  "apt-get": "apt",
  dnf: "apt",
  yum: "apt",
  zypper: "apt",
  pacman: "apt",
  apk: "apt",
  brew: "apt",
  snap: "apt",
  flatpak: "apt",
  reboot: "shutdown",
  poweroff: "shutdown",
  halt: "shutdown",
  killall: "pkill",
  ip6tables: "iptables",
  nft: "iptables",
  useradd: "usermod",
  userdel: "usermod",
  passwd: "usermod",
  chsh: "usermod",
  visudo: "usermod",
  adduser: "usermod",
  deluser: "usermod",
  insmod: "modprobe",
  rmmod: "modprobe",
  ncat: "nc",
  netcat: "nc",
  gawk: "awk",
  mawk: "awk",
};

const maxJoined = 4_000;

export function createCheck(rows: readonly DangerPattern[]): CheckProgram {
  return ({ all }, { findings }, name) => {
    if (isDryRun(name, all)) return;
    const text = all.join(" ").slice(0, maxJoined);
    for (const [kind, words, pattern] of rows) {
      const match = pattern.exec(text);
      if (match) findings.add(kind, words, `${name} ${match[0]}`.replace(/[\s(]+$/, "").replace(/\s+/g, " "));
    }
  };
}

export const servicePrograms: Readonly<Record<string, CheckProgram>> = {
  git,
  ...Object.fromEntries(Object.entries(table).map(([name, rows]) => [name, createCheck(rows)])),
  ...Object.fromEntries(
    Object.entries(alike).map(([name, other]) => [name, createCheck(table[other] ?? [])]),
  ),
};

export const databaseClients: ReadonlySet<string> = new Set(
  "psql mysql mariadb sqlite3 sqlite sqlcmd mssql-cli clickhouse-client cockroach duckdb bq snowsql prisma wrangler".split(
    " ",
  ),
);
const sql =
  /\b(?:drop\s{1,9}(?:table|database|schema|index|view|user|role|column)|truncate(?:\s{1,9}table)?\s{1,9}\w|alter\s{1,9}table\b[^;]{0,200}\bdrop\b|delete\s{1,9}from\s{1,9}[\w."`]{1,99}\s{0,9}(?:;|$|"))/i;

/** The SQL statement that deletes data. null if there is none. */
export function findDataLoss(text: string): string | null {
  return sql.exec(text)?.[0].replace(/\s+/g, " ") ?? null;
}
