/** Subcommands of any program that delete, publish or change something for others: `foo delete x`, `make deploy`. */
import { type Arguments, findOptionValues, hasOption } from "./arguments.ts";
import type { CommandContext } from "./context.ts";
import { isReading } from "./remote-programs.ts";

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Programs whose arguments are texts, files or names, but never a verb or a command. Their own checks say what they can do. */
const textPrograms = set(
  `echo printf cat tac less more most bat head tail ls ll la exa eza tree pwd wc nl cut paste tr rev fold fmt column sort uniq comm join
   diff cmp sdiff colordiff patch grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk gawk mawk nawk jq yq xq tomlq dasel fx gron htmlq
   test [ [[ expr let read true false : set unset shift getopts local declare typeset readonly export return break continue exit wait jobs
   fg bg disown umask ulimit type which whereis whatis hash help man info apropos tldr history fc bind complete compgen shopt alias unalias
   trap mapfile readarray printenv env pushd popd dirs cd mkdir rmdir touch cp mv ln install stat file du df realpath readlink basename
   dirname mktemp date cal uname hostname whoami id who w groups uptime free vmstat iostat lsof ps pgrep pstree top htop btop nproc lscpu
   lsblk lsusb lspci dmesg journalctl sleep seq yes factor bc dc md5sum sha1sum sha224sum sha256sum sha512sum shasum b2sum cksum sum od xxd
   hexdump strings base64 base32 split csplit tee tar zip unzip gzip gunzip bzip2 xz zstd zcat git gh glab rm find fd dd
   curl wget http https xh ping dig nslookup host traceroute whois psql mysql sqlite3 mongosh redis-cli node python ruby perl php lua
   open xdg-open code subl say notify-send logger clear tput stty tty sw_vers ssh-keygen ssh-keyscan ssh-add openssl gpg kill sudo doas
   codex gemini aider source . ffmpeg ffprobe convert magick identify pandoc dot vim vi nvim nano emacs ed ex tokei cloc scc hyperfine
   make gmake ninja nginx`,
);

/** Tools that build, test and check a project. Their first argument is a verb, and only a few verbs leave the machine. */
const projectTools = set(
  `npm pnpm yarn bun deno cargo rustc rustup rustfmt clippy go gofmt golangci-lint pip pip3 pipx conda mamba poetry pdm hatch gem composer
   nuget dotnet mvn gradle sbt lein mix rebar3 cabal stack ghc brew apt apt-get dnf yum pacman apk snap flatpak asdf mise nvm fnm pyenv
   rbenv sdk meson bazel cmake ctest gcc g++ clang clang++ cc ld tsc tsx eslint prettier biome stylelint ruff black isort flake8 mypy
   pyright pylint pytest tox nox jest vitest mocha ava tap playwright cypress rspec minitest rubocop phpunit phpstan psalm pint go-test
   nosetests unittest webpack vite rollup esbuild parcel swc next nuxt astro ng storybook turbo nx tailwindcss postcss flutter dart swift
   xcodebuild xcrun docker podman kubectl helm terraform tofu aws commitlint cz markdownlint shellcheck shfmt actionlint hadolint yamllint
   latexmk pdflatex protoc buf sqlc graphql-codegen openapi caddy uvicorn gunicorn flask django-admin rails rake bundle`,
);

/** False if the arguments may be a command of another program: most programs that are not known here are wrappers. */
export const isOrdinary = (name: string): boolean => textPrograms.has(name) || projectTools.has(name);

/** Programs whose arguments may quote a command without running it: prose, code, patterns, names of tests. */
const quoting = set(
  `echo printf cat grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk gawk mawk nawk jq yq xq tomlq dasel fx gron htmlq git gh glab
   test [ [[ expr let read set local declare typeset readonly export return alias history type which whereis whatis help info apropos
   tldr say notify-send logger codex gemini aider curl wget http https xh psql mysql sqlite3 mongosh redis-cli node python ruby
   perl php lua sudo doas env trap docker podman kubectl jest vitest mocha ava tap playwright cypress pytest rspec minitest phpunit
   go-test nosetests unittest semgrep ast-grep comby cz commitlint find fd vim vi nvim nano emacs ed ex`,
);

export const quotesCommands = (name: string): boolean => quoting.has(name);

/** Programs of cloud providers: everything that does not read changes machines that cost money. */
const providers = set(
  "gcloud az doctl hcloud linode-cli oci oci-cli ibmcloud scw openstack aliyun tccli vultr-cli civo exo upctl",
);
const readVerb =
  /^(?:list|ls|show|describe|get|info|search|find|view|read|tail|logs?|status|check|validate|test|wait|diff|plan|preview|version|help|help-\S+|list-\S+|get-\S+|show-\S+|describe-\S+|check-\S+|export|download|browse|history|feedback|interactive|login|logout|docker-config|configure-docker|application-default|print-\S+|kubeconfig|ssh-config|config-ssh)$/;

/** Programs for administrators: everything but reading changes the machine. */
const administration = set(
  `resize2fs e2fsck fsck fsck.ext4 tune2fs xfs_repair xfs_growfs ntfsresize flashrom efibootmgr grub-install grub2-install grub-mkconfig
   grub2-mkconfig wg-quick brctl ovs-vsctl conntrack ipset ebtables arptables setsebool semanage restorecon chcon aa-disable aa-complain
   aa-enforce auditctl multipath pvmove pvcreate vgcreate lvcreate lvextend lvresize dmsetup losetup chage faillock keyctl mkinitcpio dracut
   update-initramfs depmod ldconfig update-rc.d chkconfig rc-update sysrc vipw newusers groupadd addgroup hwclock ntpdate fwupdmgr
   pg_dropcluster pg_ctlcluster pg_upgradecluster apachectl apache2ctl httpd pg_ctl mysqld_safe varnishadm rndc postsuper postqueue exim
   ipmitool racadm esxcli pmset nvram kmutil kextunload systemsetup run-parts alternatives`,
);
const readOption =
  /^(?:-[aLlNnhtvV]|--(?:list|help|version|dry-run|show|status|info|all|print\S*|get\S*)|list|ls|show|status|info|get|dump|table|search|version|help|describe|configtest)$/;

/** Programs that manage machines, clusters and services. */
const cloud = set(
  `gcloud az tccli exo upctl doctl hcloud linode-cli oci ibmcloud scw openstack aliyun vultr-cli civo heroku railway render netlify firebase pscale turso
   neonctl vault consul nomad etcdctl rabbitmqctl rabbitmqadmin sam eb copilot eksctl kops argocd flux istioctl velero virsh vboxmanage
   lxc incus qm pct dokku kamal pm2 supervisorctl zfs zpool btrfs nmcli rfkill timedatectl hostnamectl localectl snapper glances bq cf oci-cli stripe
   eas expo fastlane amplify apphosting shopify twilio auth0 okta snowsql databricks dbt airflow prefect temporal rpk mc s3cmd b2`,
);
const localGroups =
  /^(?:config|auth|login|logout|init|local|help|completion|context|account|version|dev|emulators?:?\w*|link|logs?|status|list|ls|show|describe|get|info|whoami|validate|lint|template|plan|preview|diff|build|doctor|serve|start|test|compile|open|export|cat|du|find|tree|watch|listen|components|topic|docs|kv get|read|device|general|hostname|connection show)$/;
const cloudVerb =
  /^(?:deploy|redeploy|delete|destroy|remove|rm|create|start|deallocate|invoke|import|update|upgrade|set|unset|add|apply|import|scale|resize|stop|restart|reboot|reset|rollback|promote|enable|disable|rotate|revoke|grant|attach|detach|patch|replace|edit|put|write|push|release|publish|submit|purge|undefine|seal|halt|kill|suspend|execute|failover|move|mv|rename|transfer|invite|upload|sync|cp|copy|rb|del|up|down|off|abandon|remediate|restore|drop|maintenance:on|leave|drain|evict)(?=[-:_]|$)|:(?:delete|destroy|remove|set|unset|add|create|reset|restart|deploy|disable|promote|rollback|stop|scale|on|off)$/;

const deletes =
  /^(?:[\w.]+[-:])?(?:delete|deleteall|destroy|purge|terminate|undefine|unpublish|deregister|wipe|nuke|erase|decommission|force-unlock|drop|teardown|obliterate|shutdown|reboot|poweroff|factory-?reset|revoke|evict|flush-?all|flash)(?:[-:_][\w-]+)?$|^(?:delete|destroy|remove|purge|terminate)[A-Z]\w*$/;
const removes =
  /^(?:(?:rm|remove|del)(?:-[\w-]+)?|rmi|(?:[\w-]+:)?uninstall|rb|unlink|reset|force[-_]reset|prune|forget|flush|[\w-]+-flush|empty|revert|unregister|deactivate|uninstrument|hide|gc)$/;
const publishesProject = /^(?:publish|unpublish|upload|push|deploy|yank|release|ship|shipit)$/;
const publishes =
  /^(?:(?:gh-)?deploy|publish|release|upload|push|promote|rollback|redeploy|submit|land|ship|shipit)(?:[:-](?!notes|dry|plan|check|build)\w+)?$/;
/** `db:drop`, `schema:drop`, `ecto.reset`, `database drop`, `migrate fresh`, `db downgrade base` */
const dropsDatabase =
  /(?:^|[ ./:])(?:db|database|schema|ecto|migrate|migration|migrations|orm|queue|index|cache_table)[:. _-](?:\S* |seed:)?(?:drop|reset|wipe|fresh|refresh|purge|truncate\w*|clear|nuke|undo(?::all)?|zero|rollback|flush|downgrade|revert|clean)(?= |$|:)|(?:^| )doctrine:fixtures:load(?= |$)|(?:^| )(?:downgrade|migrate:undo:all|migrate zero)(?= |$)/;
/** `kafka-delete-records.sh`, `./drop-db.sh` */
const deletesByName = /(?:^|[-_])(?:delete|destroy|purge|wipe|drop|nuke|erase|uninstall)(?:[-_.]|$)/;
/** Names of targets and scripts. */
const target =
  /^(?:[\w-]+-)?uninstall\.sh$|^(?:deploy|publish|release|destroy|teardown|wipe|nuke|ship|undeploy|rollback)(?:[:_-](?:all|prod\w*|staging|live|web|api|app|db|infra|aws|k8s|npm|force|rollback|restart|stop|migrate))?(?:\.\w+)?$|^(?:(?:db|database)[:_-]?(?:reset|drop|wipe|nuke|purge)|(?:reset|drop|wipe|nuke)[:_-]?(?:db|database|data|all|prod)|(?!cache|test)[\w-]+:(?:reset|drop|wipe|nuke|destroy|purge))(?:\.\w+)?$/;

const runners = set(
  "make gmake just task mage rake gradle gradlew invoke inv fab cap nx turbo lerna mask npm pnpm yarn bun ant sbt lein mill earthly dagger",
);

/** Checks the subcommand, the target or the script of a program. */
export function checkVerbs(
  args: Arguments,
  { findings }: CommandContext,
  name: string,
  hasOwnCheck: boolean,
): void {
  const isDry = args.all.some((arg) =>
    /^--?(?:dry-?run(?:=(?:true|client|server))?|check|what-?if|noop|no-act|plan|list|help|version)$/i.test(
      arg,
    ),
  );
  if (isDry && !args.all.some((arg) => /^--no-dry|^--dry-run=(?:false|none)/.test(arg))) return;
  const rest = listSubcommands(args.all).slice(0, 5);
  const form = (text: string) => `${name} ${text}`;
  const database = dropsDatabase.exec(args.rest.slice(0, 6).join(" ").slice(0, 1_000))?.[0];
  if (database !== undefined && !ordinaryText.has(name))
    findings.add("data", "deletes data", form(database.trim()));
  if (/^(?:goose|migrate|dbmate|sql-migrate|node-pg-migrate|sqitch)$/.test(name)) {
    const down = args.rest.find((text) => /^(?:down(?:-to|-all)?|drop|reset|rollback|revert)$/.test(text));
    if (down !== undefined) findings.add("data", "deletes data", form(down));
  }
  if (runners.has(name)) {
    if (hasOption(args, "n", "just-print", "dry-run", "recon") && /^g?make$/.test(name)) return;
    // `npm publish` has its own check.
    const goal = rest.find(
      (text, n) =>
        // `sbt 'release with-defaults'`, `nx run api:deploy`
        target.test((name === "nx" ? text.replace(/^[\w@/-]+:/, "") : text).split(" ", 1)[0] ?? "") &&
        !(n === 0 && text === "publish" && /^(?:npm|pnpm|yarn|bun|lerna)$/.test(name)),
    );
    if (goal !== undefined) findings.add("publishes", "publishes or deploys for everybody", form(goal));
    return;
  }
  const script = /^(?:sh|bash|zsh|dash|ksh|source|\.|python|node|tsx|ts-node|bun|deno|ruby|perl|php)$/.test(
    name,
  )
    ? (rest[0] ?? "")
    : name;
  // `bash -n` only checks the syntax.
  if (script !== name && hasOption(args, "n")) return;
  const scriptName = script.replace(/^.*\//, "");
  if ((script !== name || /\./.test(name)) && target.test(scriptName) && /\.|\//.test(script))
    findings.add("publishes", "publishes or deploys for everybody", scriptName);
  if (textPrograms.has(name)) return;
  if (projectTools.has(name)) {
    if (!hasOwnCheck && publishesProject.test(rest[0] ?? ""))
      findings.add("publishes", "publishes or deploys for everybody", form(rest[0] ?? ""));
    return;
  }
  if (administration.has(name) && args.all.some((arg) => !readOption.test(arg)))
    findings.add("system", "changes the running system", form(args.all[0] ?? ""));
  if (cloud.has(name) && !localGroups.test(rest[0] ?? "")) {
    const changes = rest.find((text) => cloudVerb.test(text));
    const isUnread =
      providers.has(name) &&
      rest.length > 1 &&
      !rest.some((text) => readVerb.test(text)) &&
      !readsOverSsh(args);
    const verb = changes ?? (isUnread ? rest[1] : undefined);
    if (verb !== undefined) findings.add("servers", "changes servers that are running", form(verb));
  }
  if (hasOwnCheck) return;
  if (deletesByName.test(name) && !/test|spec|dry|check|plan/.test(name))
    findings.add("deletes", "deletes something", name);
  const option = args.all.find((arg) =>
    /^--?(?:delete|destroy|purge|wipe|drop|erase|truncate|overwrite|hard|factory-reset|force-reset|force-sync|unregister|accept-data-loss|(?:remove-all|delete|drop|wipe|purge|reset|overwrite)-(?!cache)\S+)$/.test(
      arg,
    ),
  );
  const verb =
    rest.slice(0, 4).find((text) => deletes.test(text)) ??
    rest.slice(0, 3).find((text) => removes.test(text)) ??
    option;
  if (verb !== undefined) findings.add("servers", "deletes something", form(verb));
  const copies = rest
    .slice(0, 3)
    .find((text) => /^(?:cp|copy|mv|move|sync|put|send|upload|mirror)$/.test(text));
  if (copies !== undefined && /^(?!https?:|file:)[a-z][a-z0-9+.-]+:\/\//.test(args.rest.at(-1) ?? ""))
    findings.add("sends", "sends files to another machine", form(copies));
  const publishing = args.all
    .slice(0, 4)
    .find((text, n) => publishes.test(text) && !/^--/.test(args.all[n - 1] ?? ""));
  if (publishing !== undefined)
    findings.add("publishes", "publishes or deploys for everybody", form(publishing));
}

/** `gcloud compute ssh x --command='uptime'` */
function readsOverSsh(args: Arguments): boolean {
  const [command] = findOptionValues(args, "", "command");
  return command !== undefined && args.rest.includes("ssh") && isReading(command);
}

/** Options without a value. */
const flag =
  /^-(?:[a-zA-Z]|-(?:yes|force|quiet|verbose|all|recursive|no-\S+|json|debug|global|local|prod|production|auto-approve|non-?interactive))$/;

/** What is not an option, and not the value of an option that comes after the first subcommand: `generate --name drop-users`. */
function listSubcommands(all: readonly string[]): string[] {
  const words: string[] = [];
  for (const [n, arg] of all.entries()) {
    if (words.length >= 6) break;
    if (arg.startsWith("-") && arg !== "-") continue;
    const option = all[n - 1] ?? "";
    const isValue = words.length > 0 && /^-[^=]+$/.test(option) && !flag.test(option);
    if (!isValue) words.push(arg);
  }
  return words;
}

/** Programs whose arguments are free text that may speak about databases. */
const ordinaryText = set(
  "echo printf git gh glab grep egrep fgrep rg ag ack sed awk jq cat ls head tail curl test read find code vim codex logger export docker",
);
