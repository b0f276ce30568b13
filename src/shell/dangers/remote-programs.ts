/** Programs that send files away, or that change something on another machine. */
import { parseShell } from "../index.ts";
import { type Arguments, findOptionValues, hasOption, parseArguments } from "./arguments.ts";
import type { CheckProgram, CommandContext } from "./context.ts";
import { isOutsideProject } from "./paths.ts";
import { findDataLoss } from "./sql.ts";

const sendsFile = "sends files to another machine";
const runsThere = "runs commands on another machine";

const local =
  /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?(?:localhost|127(?:\.\d+){1,3}|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.(?:local|localhost|test))(?=[:/?]|$)/i;
/** Databases and daemons that often listen on this machine: what is deleted there is real data. */
const dataPort =
  /:(?:2375|2379|5984|6333|7700|8086|8108|8123|8200|8500|9200|15672)(?:\/|$)|_delete_by_query|\/_all\b/;

const isAddress = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/|^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)|^localhost\b/i.test(text);

/** The addresses among the arguments. An empty list means that the address is not known. */
function listRemoteHosts(args: Arguments): { isRemote: boolean; form: string } {
  const urls = args.rest.filter(isAddress);
  const remote = urls.find((url) => !local.test(url));
  return { isRemote: remote !== undefined || urls.length === 0, form: remote ?? urls[0] ?? "" };
}

const secretVariable =
  /\$\{?\w{0,40}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIAL)\w{0,40}\}?/i;

/** Checks what an HTTP client asks of a server. */
function checkHttpRequest(
  args: Arguments,
  method: string,
  files: readonly string[],
  data: readonly string[],
  { findings, network }: CommandContext,
  name: string,
): void {
  const { isRemote, form } = listRemoteHosts(args);
  const isData = dataPort.test(args.rest.join(" "));
  const statements = data.filter((text) => /^\s*(?:drop|truncate|delete|alter|update)\b/i.test(text));
  const loss = statements.map((text) => findDataLoss(text)).find((statement) => statement !== null);
  if (loss || (isData && data.some((text) => /delete|remove|drop|truncate/i.test(text))))
    findings.add("data", "deletes data", `${name} ${loss ?? form}`);
  if (/^(?:DELETE|PURGE)$/i.test(method) && (isRemote || isData))
    findings.add("servers", "deletes on a server", `${name} ${form}`);
  else if (/^(?:PUT|PATCH)$/i.test(method) && isRemote)
    findings.add("servers", "changes a server", `${name} ${form}`);
  else if (
    (/^POST$/i.test(method) || data.length > 0 || files.length > 0) &&
    (isRemote || isData) &&
    /delete|destroy|deploy|purge|shutdown|restart|truncate/i.test(args.rest.filter(isAddress).join(" "))
  )
    findings.add("servers", "changes a server", `${name} ${form}`);
  const secret = [...data, ...args.rest.filter(isAddress)]
    .map((text) => secretVariable.exec(text)?.[0])
    .find(Boolean);
  if (isRemote && secret !== undefined) findings.add("sends", "sends a secret to another machine", secret);
  if (isRemote && files.length > 0) findings.add("sends", sendsFile, `${name} ${files[0]}`);
  if (isRemote && data.some((text) => /\$\(\)|[<]\(\)/.test(text)))
    findings.add("sends", "sends what another program prints to another machine", `${name} ${form}`);
  if (files.length > 0 || data.length > 0) network.add(name);
}

export const checkCurlRequest: CheckProgram = (args, context, name) => {
  const data = findOptionValues(args, "d", "data", "data-binary", "data-raw", "data-urlencode", "json");
  const forms = findOptionValues(args, "F", "form");
  const files = [
    ...findOptionValues(args, "T", "upload-file"),
    ...data.filter((text) => /^(?:[\w-]*=?)@./.test(text)),
    ...forms.filter((text) => /=[@<]/.test(text)),
  ];
  const [method = ""] = findOptionValues(args, "X", "request");
  checkHttpRequest(args, method, files, [...data, ...forms], context, name);
  const [config] = findOptionValues(args, "K", "config");
  if (config !== undefined) context.findings.add("unclear", "cannot tell what this runs", `${name} -K`);
};

export const checkWgetRequest: CheckProgram = (args, context, name) => {
  const files = findOptionValues(args, "", "post-file", "body-file");
  const data = findOptionValues(args, "", "post-data", "body-data");
  const [method = ""] = findOptionValues(args, "", "method");
  checkHttpRequest(args, method, files, data, context, name);
};

/** HTTPie: `http DELETE url`, `http POST url < file`, `http url field@file` */
const httpie: CheckProgram = (args, context, name, { redirects }) => {
  const method = args.rest.find((text) => /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/i.test(text)) ?? "";
  const files = [
    ...args.rest.filter((text) => /^[\w-]+(?:@|=@|:=@)./.test(text) && !isAddress(text)),
    ...redirects.filter(({ operator }) => operator === "<").map(({ target }) => target.text),
  ];
  checkHttpRequest(args, method, files, [], context, name);
};

/** `host:path`, `user@host:path`, `rsync://…`, `s3://…`, but not `C:\…` or `./a:b` */
const isRemotePath = (text: string): boolean =>
  /^(?:[\w.-]+@)?[\w.-]{2,}:(?!\/\/)|^(?:rsync|scp|sftp|ssh|ftps?|s3|gs|gcs|az|b2|r2|hdfs|oss|cos|swift|wasbs?|abfss?):\/\//i.test(
    text,
  ) || /^https?:\/\/[^/]*\.(?:blob\.core\.windows|amazonaws|storage\.googleapis)\./i.test(text);

const copyAway: CheckProgram = (args, { findings }, name) => {
  const last = args.rest.at(-1) ?? "";
  if (args.rest.length > 1 && isRemotePath(last)) findings.add("sends", sendsFile, `${name} ${last}`);
};

/** Runs a command elsewhere when it copies: `rsync -e 'sh -c …'`, `scp -S ./x`. */
const remoteShell: CheckProgram = (args, context, name) => {
  const values =
    name === "rsync" ? findOptionValues(args, "e", "rsh", "rsync-path") : findOptionValues(args, "S");
  const other = values.find(
    (value) => !/^(?:sudo )?(?:\/usr\/bin\/)?(?:ssh|rsync)\b(?!.*(?:ProxyCommand|LocalCommand))/i.test(value),
  );
  if (other !== undefined) context.findings.add("runs", "runs other programs", `${name} -e ${other}`);
  copyAway(args, context, name, { redirects: [] });
};

export const checkRsyncTarget = remoteShell;
export const checkScpTarget = remoteShell;

const readsOnly =
  /^(?:ls|ll|cat|head|tail|grep|egrep|zgrep|wc|df|du|free|ps|top|uptime|who|w|whoami|id|hostname|uname|date|pwd|cd|echo|printf|true|stat|file|env|printenv|journalctl|dmesg|lsblk|lscpu|ss|netstat|which|test|\[|sort|uniq|cut|jq|nproc|exit|ping|dig)$/;
const readsBySubcommand =
  /^(?:docker|podman|kubectl|systemctl|service|git|pm2|nginx|supervisorctl) (?:-\S+ (?:\/\S+ )?)*(?:ps|logs|images|inspect|stats|version|info|compose (?:ps|logs)|get|describe|top|status|list|ls|show|is-active|is-enabled|list-units|log|diff|rev-parse|branch|-t|-v)\b/;

/** True if every command of the script only reads. */
export function isReading(text: string): boolean {
  const script = parseShell(text);
  if (!script) return false;
  return script.flat().every(({ words, redirects, group }) => {
    if (group !== null || words.some(({ substitutions }) => substitutions.length > 0)) return false;
    if (
      redirects.some(
        ({ operator, target }) => operator.includes(">") && !/^(?:\d|\/dev\/null)$/.test(target.text),
      )
    )
      return false;
    const line = words.map((word) => word.text).join(" ");
    return words.length === 0 || readsOnly.test(words[0]?.text ?? "") || readsBySubcommand.test(line);
  });
}

/** Options of ssh whose value is the next word. */
const sshValues = /^-[A-Za-z]*[BbcDEeFIiJLlmOopQRSWw]$/;

const ssh: CheckProgram = ({ all }, { findings }, name, { redirects }) => {
  let at = 0;
  while (at < all.length && (all[at] ?? "").startsWith("-")) at += sshValues.test(all[at] ?? "") ? 2 : 1;
  const host = all[at] ?? "";
  const rest = all.slice(at + 1);
  const start = rest.findIndex((text) => !text.startsWith("-"));
  const words = start === -1 ? [] : rest.slice(start);
  if (words.length > 0 && !isReading(words.join(" "))) findings.add("servers", runsThere, `${name} ${host}`);
  if (words.length === 0 && redirects.some(({ operator }) => operator.startsWith("<")))
    findings.add("servers", runsThere, `${name} ${host}`);
  if (all.some((text) => /^-[A-Za-z]*R$|RemoteForward/.test(text)))
    findings.add("sends", "lets another machine into this one", `${name} -R`);
};

/** `nc host 99 < file`. What it reads from a pipe is checked where the pipe is. */
const netcat: CheckProgram = (args, { findings }, name, { redirects }) => {
  const [host = ""] = args.rest;
  if (hasOption(args, "zl", "listen") || host === "" || local.test(host)) return;
  if (redirects.some(({ operator }) => operator.startsWith("<")))
    findings.add("sends", sendsFile, `${name} ${host}`);
};

/** Programs that send what they read from a pipe: the host that it goes to, or null. */
export function findPipeTarget(name: string, texts: readonly string[]): string | null {
  const args = parseArguments(texts);
  if (/^(?:nc|ncat|netcat)$/.test(name)) {
    const [host = ""] = args.rest;
    return hasOption(args, "zl", "listen") || host === "" || local.test(host) ? null : host;
  }
  if (name === "socat")
    return (
      texts.find((text) => /^(?:tcp|udp|openssl|ssl)\d?(?:-connect)?:(?!localhost|127\.)/i.test(text)) ?? null
    );
  if (/^(?:curl|wget)$/.test(name)) {
    const { isRemote, form } = listRemoteHosts(args);
    const readsPipe = texts.some((text) =>
      /^@-$|=@-$|^(?:-T|--upload-file)-?$|^(?:-d|-F|--[\w-]+=).*@-|^-$|--post-file=-|\/dev\/stdin/.test(text),
    );
    return isRemote && readsPipe ? form : null;
  }
  if (/^(?:mail|mailx|sendmail|mutt|msmtp|telnet|ftp|lftp)$/.test(name)) return args.rest.at(-1) ?? name;
  if (/^(?:http|https|xh)$/.test(name)) {
    const { isRemote, form } = listRemoteHosts(args);
    return isRemote ? form : null;
  }
  // A password or a tar archive that is piped into ssh goes to the other machine.
  return name === "ssh" ? (args.rest[0] ?? name) : null;
}

const sendsAway: CheckProgram = ({ rest }, { findings }, name) =>
  findings.add("sends", sendsFile, `${name} ${rest[0] ?? ""}`.trim());

const mail: CheckProgram = (args, { findings }, name, { redirects }) => {
  if (args.rest.length > 0 || redirects.length > 0) findings.add("sends", sendsFile, name);
};

const sendSubcommand: CheckProgram = ({ rest }, { findings }, name) => {
  if (rest[0] === "send") findings.add("sends", sendsFile, `${name} send`);
};

const tunnel: CheckProgram = ({ rest }, { findings }, name) => {
  if (rest.length > 0 && !/^(?:version|help|config|login)$/.test(rest[0] ?? ""))
    findings.add("sends", "lets other machines into this one", name);
};

export const remotePrograms: Readonly<Record<string, CheckProgram>> = {
  http: httpie,
  https: httpie,
  httpie,
  xh: httpie,
  ssh,
  autossh: ssh,
  mosh: ssh,
  slogin: ssh,
  nc: netcat,
  ncat: netcat,
  netcat,
  socat: (args, { findings }, name, { redirects }) => {
    const host = findPipeTarget(name, args.all);
    if (
      host !== null &&
      (redirects.some(({ operator }) => operator === "<") || /(?:file|open):/i.test(args.all.join(" ")))
    )
      findings.add("sends", sendsFile, `${name} ${host}`);
  },
  mail,
  mailx: mail,
  mutt: mail,
  sendmail: mail,
  msmtp: mail,
  swaks: mail,
  sftp: (args, context, name, { redirects }) => {
    if (hasOption(args, "b") || redirects.length > 0) context.findings.add("sends", sendsFile, name);
  },
  ftp: (_, { findings }, name, { redirects }) => {
    if (redirects.length > 0) findings.add("sends", sendsFile, name);
  },
  lftp: (args, { findings }, name) => {
    if (/\b(?:put|mput|mirror -\w*R|rm|mirror --reverse)\b/.test(args.all.join(" ")))
      findings.add("sends", sendsFile, name);
  },
  tftp: (args, { findings }, name) => {
    if (args.all.includes("put")) findings.add("sends", sendsFile, name);
  },
  "ssh-copy-id": (_, { findings }, name) => findings.add("servers", "lets a key into another machine", name),
  pbcopy: () => undefined,
  croc: sendSubcommand,
  wormhole: sendSubcommand,
  "magic-wormhole": sendSubcommand,
  ffsend: sendsAway,
  transfer: sendsAway,
  pastebinit: sendsAway,
  termbin: sendsAway,
  ipfs: (args, { findings }, name) => {
    if (/^(?:add|dag|block|name)$/.test(args.rest[0] ?? "")) findings.add("sends", sendsFile, name);
  },
  "http.server": (args, { findings, paths }, name) => {
    const folder = findOptionValues(args, "d", "directory").find((path) => isOutsideProject(path, paths));
    if (folder !== undefined) findings.add("sends", "lets other machines read files", `${name} ${folder}`);
  },
  gist: sendsAway,
  tailscale: (args, { findings }, name) => {
    if (/^(?:funnel|serve|file|up|down|set|ssh)$/.test(args.rest[0] ?? ""))
      findings.add("sends", "lets other machines into this one", `${name} ${args.rest[0]}`);
  },
  ngrok: tunnel,
  cloudflared: tunnel,
  localtunnel: tunnel,
  lt: tunnel,
  bore: tunnel,
};
