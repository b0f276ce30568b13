/** Programs that change a database, servers, published packages, or this system. */

import type { CheckProgram, DangerPattern } from "./context.ts";
import { isDryRun } from "./dry-run.ts";
import { git } from "./git.ts";

const word = (list: string): RegExp => new RegExp(`(?:^| )(?:${list})(?= |$)`);
/** The subcommand. An option before it may have a value: `npm -w foo publish`. */
const first = (list: string): RegExp => new RegExp(`^(?:-\\S+ (?:[^-\\s]\\S* )?)*?(?:${list})(?= |$)`);
const publishes = "publishes for everybody";
const servers = "changes servers that are running";
export const skipsPermissions = "starts an agent that does not ask";
const readsPasswords = "reads your passwords";
const turnsOff = "turns the machine or its services off";

const table: Readonly<Record<string, readonly DangerPattern[]>> = {
  kubectl: [
    ["servers", "deletes in the cluster", first("delete|drain|replace --force|config delete-\\S+")],
    [
      "servers",
      servers,
      first(
        "apply|scale|patch|replace|edit|set|rollout (?:undo|restart|pause|resume)|create|run|expose|autoscale|cordon|uncordon|taint|label|annotate|drain|cp|debug|attach|certificate",
      ),
    ],
  ],
  helmfile: [["servers", servers, word("apply|sync|destroy|delete")]],
  helm: [
    ["servers", "deletes in the cluster", word("uninstall|delete|rollback")],
    ["servers", servers, first("install|upgrade|push")],
  ],
  terraform: [
    [
      "servers",
      servers,
      word(
        "apply|destroy|-destroy|state (?:rm|mv|push|replace-provider)|taint|untaint|import|force-unlock|refresh|workspace delete|login",
      ),
    ],
  ],
  pulumi: [["servers", servers, word("up|update|destroy|refresh|cancel|import|state delete|stack rm")]],
  cdk: [["servers", servers, word("deploy|destroy")]],
  serverless: [["servers", servers, word("deploy|remove")]],
  "ansible-playbook": [["servers", servers, /^(?!.*--(?:check|syntax-check|list-\w+|help|version)\b)/]],
  ansible: [
    [
      "servers",
      servers,
      /^(?!.*(?:-m (?:\S+\.)?(?:ping|setup|debug|stat)\b|--(?:check|list-hosts|help|version)\b))/,
    ],
  ],
  salt: [["servers", servers, /^(?!.*test\.(?:ping|version))/]],
  "salt-call": [["servers", servers, word("state\\.\\S+|cmd\\.\\S+|service\\.\\S+|pkg\\.\\S+")]],
  puppet: [["servers", servers, first("agent|apply")]],
  "chef-client": [["servers", servers, /^(?!.*(?:-W|--why-run|--version|--help))/]],
  aws: [
    [
      "servers",
      "deletes in the cloud",
      word("delete-\\S+|terminate-\\S+|rb|rm|deregister-\\S+|purge-\\S+|.* --delete"),
    ],
    [
      "sends",
      "sends files to another machine",
      /(?:^| )s3 (?:-\S+ )*(?:cp|sync|mv) .*?(?<=\s)(?!s3:)\S+ s3:\/\/\S*/,
    ],
    ["servers", servers, /(?:^| )s3 (?:mv|mb|website|presign|cp s3:\S+ s3:|sync s3:\S+ s3:)/],
    [
      "servers",
      servers,
      /^(?:--?\S+ (?:[^-\s]\S* )?)*?(?!s3 |configure|sso|help|-)[a-z][\w-]* (?!describe|list|get|head|batch-get|lookup|filter|select|search|scan\b|query\b|tail|wait|help|validate|view|test|preview|decode|generate-|assume-role|start-query|update-kubeconfig|build|package|ls\b|estimate|simulate|check)[a-z][\w-]+/,
    ],
  ],
  gcloud: [
    ["servers", "deletes in the cloud", word("delete|destroy")],
    ["sends", "gives out a token of yours", /(?:^| )auth (?:application-default )?print-\S+/],
  ],
  az: [["servers", "deletes in the cloud", word("delete|purge")]],
  gsutil: [
    ["servers", "deletes in the cloud", word("rm|rb|rsync .*-d|-m rsync -d|rsync -d")],
    ["sends", "sends files to another machine", /(?:^| )(?:cp|rsync|mv) .*gs:\/\/\S*$/],
    ["servers", servers, word("acl|iam ch|iam set|defacl|setmeta|mb|lifecycle set|cors set")],
  ],
  rclone: [
    ["servers", "deletes in the cloud", first("delete|deletefile|purge|rmdirs?|cleanup|sync|bisync|dedupe")],
    ["sends", "sends files to another machine", first("copy|copyto|move|moveto|serve|link|rcat|copyurl")],
  ],
  heroku: [["servers", servers, /destroy|pg:reset/]],
  fly: [
    [
      "servers",
      servers,
      word("destroy|deploy|scale|secrets (?:set|unset|import)|launch|restart|stop|volumes delete"),
    ],
  ],
  // Without a subcommand it deploys.
  vercel: [
    [
      "servers",
      servers,
      /^(?!.*--(?:help|version)\b)(?!(?:-\S+ )*(?:dev|ls|list|env (?:pull|ls)|logs?|inspect|link|login|logout|whoami|build|pull|init|switch|teams|help|git|project ls|domains ls|certs ls|bisect|telemetry|--help|--version|-v|-h)(?: |$)).*/,
    ],
  ],
  netlify: [["servers", servers, /deploy.* (?:--prod|-p)(?: |$)/]],
  firebase: [["servers", servers, /^deploy|:(?:delete|disable)/]],
  wrangler: [
    [
      "servers",
      servers,
      word(
        "deploy|publish|delete|rollback|(?:secret|kv\\S*|key|object|bulk|versions) (?:put|bulk|upload|create|delete|deploy)|--remote",
      ),
    ],
  ],
  gh: [
    [
      "servers",
      "deletes on GitHub",
      word(
        "(?:repo|release|secret|variable|run|cache|gist|label|codespace|issue|project|environment|ssh-key|gpg-key|mr|project|ci|token) (?:delete|delete-asset|remove|unset)",
      ),
    ],
    [
      "servers",
      "changes GitHub directly",
      /(?:^| )api .*(?:(?:-X|--method)[ =]?(?:DELETE|PUT|POST|PATCH)|mutation\b)|(?:^| )api (?!graphql)(?!.*(?:-X|--method)[ =]?GET).*(?: -[fF] | --(?:field|raw-field|input)[ =])/i,
    ],
    [
      "servers",
      "changes GitHub directly",
      word(
        "(?:secret|variable) (?:set|create|update|import)|repo (?:edit|rename|archive|unarchive|transfer|sync|deploy-key add|mirror)|workflow (?:run|enable|disable)|ruleset \\S+|(?:ssh-key|gpg-key|deploy-key) add|run (?:cancel|rerun)|ci (?:run|trigger|cancel)|pipeline (?:run|delete)|issue (?:transfer|lock)|pr (?:lock)|auth token|codespace (?:cp|ssh)",
      ),
    ],
    [
      "publishes",
      publishes,
      word("release (?:create|upload|edit)|gist (?:create|edit)|repo (?:create|fork)|snippet create"),
    ],
    ["git", "merges for everybody", word("(?:pr|mr) merge")],
    ["git", "deletes branches for everybody", /(?:^| )(?:pr|mr) close .*(?:--delete-branch|-d)(?= |$)/],
  ],
  docker: [
    ["servers", servers, /^(?:-\S+ )*(?:-H|--host)[ =]?(?:tcp|ssh|https?):(?!\/\/(?:localhost|127\.))\S*/],
    [
      "root",
      "gives a container the whole machine",
      /--privileged|--pid[ =]host|docker\.sock|--cap-add[ =](?:ALL|SYS_)|--userns[ =]host|(?:^| )(?:-v|--volume)[ =]?(?:\/:|~|\$HOME\b|\$\{HOME\}|\/(?:etc|root|home|usr|var\/run|boot)\b)|(?:^| )--mount[ =]\S*(?:source|src)=\/,/,
    ],
    [
      "data",
      "deletes containers and their data",
      word(
        "(?:system|volume|image|container|builder|network|buildx) prune|volume (?:rm|remove)|rm (?:-\\S+ )*-\\w*[fv]\\w*|rm --force|down .*(?:-v|--volumes|--rmi)|down -v|down --volumes|(?:stack|service|swarm|node|secret|config) (?:rm|leave|update|scale|deploy|rollback|demote)|context rm|system reset|machine rm|(?:container |image )?(?:stop|kill|rm|rmi) .*\\$\\(\\)|rmi (?:-\\S+ )*-\\w*f\\w*",
      ),
    ],
    [
      "publishes",
      publishes,
      /^(?:-\S+ (?:[^-\s]\S* )?)*?(?:push|image push|compose (?:-\S+ (?:[^-\s]\S* )?)*?push|manifest push)(?= |$)|(?:^| )--push(?= |$)/,
    ],
  ],
  npm: [
    [
      "publishes",
      publishes,
      first(
        "(?:(?:-r|workspace \\S+|workspaces|exec|recursive|lerna) )?(?:publish|pub|unpublish|deprecate|dist-tag (?:add|rm|remove)|npm publish|npm tag|owner (?:add|rm)|access (?:set|grant|revoke|public|restricted)|token (?:create|revoke)|stage)",
      ),
    ],
    ["runs", "makes programs run other code", /(?:^| )--(?:script-shell|node-options)[ =]\S+/],
    [
      "downloads",
      "installs from an address that is not a known registry",
      /^(?:-\S+ )*(?:i|install|add)\b.* (?:git\+)?https?:\/\/(?!github\.com|gitlab\.com|localhost|127\.)\S+|(?:^| )--registry[ =](?!https:\/\/registry\.(?:npmjs\.org|yarnpkg\.com)|https?:\/\/(?:localhost|127\.))\S+/,
    ],
    [
      "runs",
      "makes programs run other code",
      first(
        "(?:config|c) set (?:--\\S+ )?(?:script-shell|node-options|git|editor|shell|registry|ignore-scripts)\\b.*|set (?:script-shell|registry)\\b.*|pkg set scripts\\.(?:(?:pre|post)\\w+|prepare|install)\\b.*",
      ),
    ],
  ],
  lerna: [["publishes", publishes, first("publish|version(?! --no-push)")]],
  cargo: [
    ["publishes", publishes, first("publish|yank|owner|release|workspaces publish")],
    [
      "runs",
      "makes programs run other code",
      /--config[ =]\S*(?:wrapper|runner|linker|rustc|credential|alias)\S*/,
    ],
  ],
  twine: [["publishes", publishes, first("upload")]],
  gem: [["publishes", publishes, first("push|yank")]],
  poetry: [["publishes", publishes, first("publish")]],
  mvn: [["publishes", publishes, word("deploy|release:perform")]],
  gradle: [
    ["publishes", publishes, word("\\S*(?:publish|uploadArchives|bintrayUpload|deploy)\\w*(?<!Local|M2)")],
  ],
  dotnet: [
    ["publishes", publishes, word("nuget (?:push|delete)")],
    ["data", "deletes data", word("ef database drop|ef migrations remove")],
  ],
  nuget: [["publishes", publishes, first("push|delete")]],
  hatch: [["publishes", publishes, first("publish")]],
  pod: [["publishes", publishes, word("trunk push|repo push|trunk delete")]],
  mix: [
    ["publishes", publishes, word("hex\\.publish|hex\\.retire")],
    ["data", "deletes data", word("ecto\\.(?:drop|reset|rollback)")],
  ],
  dart: [["publishes", publishes, word("pub publish")]],
  composer: [["publishes", publishes, first("publish")]],
  changeset: [["publishes", publishes, first("publish")]],
  np: [["publishes", publishes, /^(?!.*--(?:preview|help|version))/]],
  "semantic-release": [["publishes", publishes, /^(?!.*(?:--dry-run|-d\b|--help|--version))/]],
  "release-it": [["publishes", publishes, /^(?!.*(?:--dry-run|--help|--version|--changelog))/]],
  goreleaser: [["publishes", publishes, /^release(?!.*--(?:snapshot|skip[=-]publish))/]],
  "gh-pages": [["publishes", publishes, /^/]],
  surge: [["publishes", publishes, /^/]],
  vsce: [["publishes", publishes, first("publish|unpublish")]],
  "redis-cli": [
    [
      "data",
      "deletes data",
      /\b(?:flushall|flushdb|del|unlink|shutdown|config set|debug|swapdb|hdel|zremrangebyrank|ltrim|script flush|replicaof|slaveof)\b/i,
    ],
  ],
  mongosh: [
    [
      "data",
      "deletes data",
      /drop(?:Database|Collection|Index|Indexes|User|Role)?\(|delete(?:Many|One)\(|remove\(|findOneAndDelete|updateMany\(\s*\{\s*\}|replaceOne|bulkWrite|renameCollection|shutdownServer|shutdown\s*:/,
    ],
  ],
  hg: [
    [
      "git",
      "discards your changes",
      word(
        "(?:update|up|checkout|co) .*(?:-C|--clean)|revert|strip|purge|rollback|histedit|push .*(?:-f|--force)|--config \\S+",
      ),
    ],
  ],
  svn: [["git", "discards your changes", word("revert|delete|remove|rm|del|cleanup .*--remove-\\S+")]],
  jj: [
    [
      "git",
      "discards your changes",
      word("abandon|restore|undo|git push .*(?:--deleted|--delete)|op restore"),
    ],
  ],
  flutter: [["publishes", publishes, word("pub publish")]],
  conda: [["deletes", "deletes an environment", word("env remove|remove .*--all|clean .*--all")]],
  go: [["runs", "runs other programs", /(?:^| )--?(?:toolexec|exec)[ =]\S*/]],
  dropdb: [["data", "deletes data", /^(?!--help)/]],
  flyway: [["data", "deletes data", word("clean|undo|repair")]],
  liquibase: [["data", "deletes data", word("drop-?[aA]ll|rollback\\S*")]],
  init: [["system", turnsOff, /^[016]$/]],
  dropuser: [["data", "deletes data", /^/]],
  pg_resetwal: [["data", "deletes data", /^/]],
  mongorestore: [["data", "deletes data", word("--drop")]],
  memcached: [["data", "deletes data", /flush_all/]],
  etcdctl: [["data", "deletes data", first("del|rm|snapshot restore")]],
  rake: [["data", "deletes data", /db:(?:drop|reset|purge|truncate_all|schema:load|migrate:reset)/]],
  php: [["data", "deletes data", /artisan (?:migrate:(?:fresh|refresh|reset)|db:wipe)/]],
  python: [
    ["data", "deletes data", /manage\.py (?:flush|reset_db)/],
    ["publishes", publishes, /setup\.py .*\b(?:upload|register)\b/],
  ],
  "manage.py": [["data", "deletes data", first("flush|reset_db")]],
  prisma: [["data", "deletes data", /migrate reset|--force-reset|--accept-data-loss/]],
  supabase: [
    ["data", "deletes data", word("db reset")],
    [
      "servers",
      servers,
      word("db push|migration repair|functions (?:deploy|delete)|projects delete|secrets (?:set|unset)"),
    ],
  ],
  hasura: [["data", "deletes data", /migrate apply .*--down|metadata (?:clear|apply)|migrate delete/]],
  pg_restore: [["data", "deletes data", word("-c|--clean")]],
  s3cmd: [["data", "deletes data", word("del|rm|rb")]],
  hdfs: [["data", "deletes data", word("-rm|-rmr")]],
  tcpdump: [["runs", "runs other programs", /(?:^| )-z \S+/]],
  ethtool: [["system", "changes the network", /(?:^| )-[sKGACELNX] /]],
  resolvectl: [
    ["system", "changes the network", first("dns|domain|revert|default-route|llmnr|mdns|dnssec|nta")],
  ],
  nginx: [["system", turnsOff, /(?:^| )-s (?:stop|quit|reload)/]],
  caddy: [["system", turnsOff, word("stop|reload")]],
  journalctl: [["deletes", "deletes logs", /--(?:vacuum|rotate|flush)\S*/]],
  logrotate: [["deletes", "deletes logs", /(?:^| )(?:-\w*f\w*|--force)(?= |$)/]],
  "update-grub": [["system", "changes the running system", /^/]],
  mysql_secure_installation: [["rights", "changes who may use the database", /^/]],
  pass: [
    ["deletes", "deletes passwords", word("rm|remove|(?:insert|generate|mv|cp|edit) .*(?:-f|--force)")],
    ["sends", readsPasswords, first("show")],
  ],
  op: [["sends", readsPasswords, /^(?:-\S+ )*(?:read|inject|item get .*--reveal|document get)(?= |$)/]],
  // Also of a session that the user trusts for a while: it must not trust itself for longer.
  beckon: [
    [
      "root",
      "decides in your place",
      first(
        "answer|trust|send|click|link|(?:rules|config|channel|machine|fleet)(?: \\S+)*? (?:add|set|reset|edit|remove|update|create|invite|join|approve|rotate|leave)",
      ),
    ],
  ],
  codex: [["root", skipsPermissions, /--(?:yolo|full-auto|dangerously-\S+)/]],
  apt: [["system", "removes programs", word("remove|purge|autoremove|erase|uninstall|del|-R\\w*")]],
  brew: [
    ["system", "removes programs", first("remove|rm|uninstall|autoremove|untap")],
    ["system", turnsOff, word("services (?:start|stop|restart|run|kill|cleanup)")],
  ],
  dpkg: [["system", "removes programs", /(?:^| )(?:-P|-r|--purge|--remove)(?= |$)/]],
  rpm: [["system", "removes programs", /(?:^| )(?:-\w*e\w*|--erase)(?= |$)|--eval\b.*%\(/]],
  format: [["disk", "erases a disk", /^[a-z]:/i]],
  security: [["system", "changes or reads your keychain", /delete-|dump-|find-\w+-password|export/]],
  tmutil: [["data", "deletes backups", word("delete|deletelocalsnapshots|disable")]],
  mysqladmin: [["data", "deletes data", word("drop")]],
  shutdown: [["system", turnsOff, /^/]],
  systemctl: [
    [
      "system",
      turnsOff,
      word(
        "poweroff|reboot|halt|stop|restart|try-restart|reload|reload-or-restart|disable|mask|kill|isolate|suspend|hibernate|start|daemon-reload|set-default|rescue|emergency|revert",
      ),
    ],
    ["system", "changes what starts by itself", word("enable|edit|link")],
  ],
  launchctl: [
    ["system", "changes what starts by itself", word("load|bootstrap|submit|enable|remove|unload|bootout")],
  ],
  crontab: [["system", "changes what starts by itself", /^(?!-l\b)/]],
  kill: [["system", "ends every process", /(?:^| )-1(?: |$)(?=.)|-1$|(?:^| )[01]$/]],
  pkill: [["system", "ends processes by their name", /^/]],
  service: [["system", turnsOff, /(?:^| )(?:stop|start|restart|reload|force-reload)(?: |$)/]],
  mount: [["system", "changes what is mounted", /\S+ \S|^-a|--all|--bind|-o remount/]],
  umount: [["system", "changes what is mounted", /^/]],
  swapoff: [["system", "changes the running system", /^/]],
  ip: [["system", "changes the network", word("set|add|del|delete|flush|change|replace|down|up|append")]],
  ifconfig: [["system", "changes the network", /\S+ \S/]],
  route: [["system", "changes the network", word("add|del|delete|flush|change")]],
  tc: [["system", "changes the network", word("add|del|change|replace")]],
  nmcli: [["system", "changes the network", word("down|up|off|delete|modify|add|disconnect")]],
  networksetup: [["system", "changes the network", /-set|-remove|-create/]],
  scutil: [["system", "changes the running system", /--set/]],
  defaults: [
    ["system", "changes the settings of your account or system", word("write|delete|import|rename")],
  ],
  dscl: [["system", "changes who may log in", /-(?:create|delete|passwd|append|change)/]],
  csrutil: [["system", "changes the running system", word("disable|clear")]],
  spctl: [["system", "changes the running system", /--(?:master-disable|global-disable|add|disable)/]],
  setenforce: [["system", "changes the running system", /^/]],
  setcap: [["root", "lets it run with more rights", /^/]],
  setfacl: [["rights", "changes who may use files", /^/]],
  chattr: [["rights", "changes who may use files", /^/]],
  lvremove: [["disk", "erases a disk", /^/]],
  zfs: [["disk", "erases a disk", word("destroy|rollback|receive|recv|rename|unmount")]],
  zpool: [["disk", "erases a disk", word("destroy|labelclear|create|remove|detach|export|offline")]],
  btrfs: [
    ["disk", "erases a disk", word("subvolume delete|device (?:remove|delete)|filesystem resize|su del")],
  ],
  timedatectl: [["system", "changes the running system", /set-/]],
  date: [["system", "sets the clock", /(?:^| )(?:-s\b|--set\b)/]],
  at: [["runs", "runs commands later", /^(?!-[lcVq]\b|-l)/]],
  update_alternatives: [
    ["system", "changes the settings of your account or system", word("--set|--install|--remove")],
  ],
  iptables: [["system", "changes the firewall", /^(?!-L\b|-S\b)/]],
  "firewall-cmd": [
    ["system", "changes the firewall", /--(?:add|remove|set|reload|permanent|panic|new|delete)\S*/],
  ],
  rfkill: [["system", "changes the network", word("block|unblock|toggle")]],
  loginctl: [["system", "changes what starts by itself", word("\\w+-linger|terminate-\\w+|kill-\\w+")]],
  fallocate: [
    [
      "deletes",
      "overwrites files",
      /(?:^| )(?:-\w*[pzc]\w*|--(?:punch-hole|zero-range|collapse-range))(?= |$)/,
    ],
  ],
  "nix-collect-garbage": [["deletes", "deletes old versions for good", /(?:^| )(?:-d|--delete-o\S+)/]],
  // Windows
  reg: [
    [
      "system",
      "changes the settings of your account or system",
      /^(?:add|delete|import|restore|copy|load|unload)\b/i,
    ],
  ],
  schtasks: [["system", "changes what starts by itself", /\/(?:create|delete|change|run|end)\b/i]],
  sc: [["system", "changes what starts by itself", /^(?:create|delete|stop|start|config|failure)\b/i]],
  net: [["system", "changes the running system", /^(?:user|localgroup|stop|start|share|accounts) \S/i]],
  netsh: [["system", "changes the network", word("add|set|delete|reset|import|off")]],
  bcdedit: [["system", "changes the running system", /\/(?:set|delete|import|create)/i]],
  vssadmin: [["data", "deletes backups", word("delete|resize")]],
  wbadmin: [["data", "deletes backups", word("delete|disable")]],
  icacls: [["rights", "changes who may use files", /\/(?:grant|deny|remove|reset|setowner|inheritance)/i]],
  takeown: [["rights", "changes who may use files", /^/]],
  diskpart: [["disk", "erases a disk", /^/]],
  ufw: [["system", "changes the firewall", word("disable|reset|allow|delete")]],
  usermod: [["system", "changes who may log in", /^/]],
  modprobe: [["system", "changes the system's kernel", /^/]],
  sysctl: [["system", "changes the system's kernel", /(?:^| )-\w*[wp]|=/]],
  diskutil: [
    [
      "disk",
      "erases a disk",
      /erase|partition|reformat|secureErase|zeroDisk|randomDisk|deleteVolume|deleteContainer|unmountDisk|apfs delete/i,
    ],
  ],
  cryptsetup: [["disk", "erases a disk", /luksFormat|(?:luks)?erase|luksKill|luksRemove|reencrypt/i]],
  nc: [["sends", "gives another machine a shell", /(?:^| )-\w*[ec](?: |$)|--exec|--sh-exec/]],
  socat: [["sends", "gives another machine a shell", /exec:|system:/i]],
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
  uv: "poetry",
  flit: "poetry",
  flyctl: "fly",
  sls: "serverless",
  ovsx: "vsce",
  mongo: "mongosh",
  rails: "rake",
  gemini: "codex",
  "django-admin": "manage.py",
  "apt-get": "apt",
  dnf: "apt",
  yum: "apt",
  zypper: "apt",
  pacman: "apt",
  apk: "apt",
  snap: "apt",
  flatpak: "apt",
  reboot: "shutdown",
  poweroff: "shutdown",
  halt: "shutdown",
  killall: "pkill",
  killall5: "pkill",
  skill: "pkill",
  taskkill: "pkill",
  "stop-process": "pkill",
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
  glab: "gh",
  hub: "gh",
  tea: "gh",
  mvnw: "mvn",
  gradlew: "gradle",
  sbt: "gradle",
  "valkey-cli": "redis-cli",
  batch: "at",
  vgremove: "lvremove",
  pvremove: "lvremove",
  lvreduce: "lvremove",
  vgreduce: "lvremove",
  swapon: "swapoff",
  kexec: "swapoff",
  telinit: "shutdown",
  groupdel: "usermod",
  groupmod: "usermod",
  chpasswd: "usermod",
  gpasswd: "usermod",
  hadoop: "hdfs",
  "rc-service": "service",
  "update-alternatives": "update_alternatives",
  "ansible-pull": "ansible-playbook",
  "docker-buildx": "docker",
};

const maxJoined = 4_000;

export function createCheck(rows: readonly DangerPattern[]): CheckProgram {
  return ({ all }, { findings }, name) => {
    // `gh repo delete --help` prints its usage.
    if (isDryRun(name, all) || (all.at(-1) === "--help" && !all.at(-2)?.startsWith("-"))) return;
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
