/**
 * Toasts by the PowerShell that every Windows has (version 5.1 by its full path, because version 7 cannot load WinRT). The
 * first part is pure: what is run, written to the registry and shown. createToasts runs it.
 *
 * By SnoreToast of node-notifier only where PowerShell may not run the script (notify/node-notifier.ts): it has no buttons that
 * outlive a process for each toast, and is an unsigned program that virus scanners warn about.
 */
import { createHash } from "node:crypto";
import type { Exec } from "../../core/interfaces/index.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert, AlertButton } from "../../core/view/view.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { windowlessPathOf } from "../../system/windowless.ts";
import { appName, clickLabel, formatBody, formatTitle, hasTerminal } from "../notify/alert-text.ts";
import type { RegistryText } from "./registry.ts";

/** Shows a toast, or removes it if `xml` is null. */
export type ToastJob = { readonly tag: string; readonly xml: string | null };

/** Windows keeps beckon's toasts, and the user's settings for them, under this name. */
const appId = appName;
const scheme = appName;
const protocolKey = `Software\\Classes\\${scheme}`;
const appKey = `Software\\Classes\\AppUserModelId\\${appId}`;
export const registryKeys: readonly string[] = [protocolKey, appKey];

/** An environment block has at most 32,767 characters. */
const maxDataLength = 24_000;
export const dataVariable = "BECKON_TOASTS";

/** Any web page can open `beckon:…`, so an id is random, has no meaning, and works once. */
export const createToastId = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
export const formatToastLink = (id: string): string => `${scheme}:${id}`;

/** Returns the id of a toast; null if it is not one of our links. */
export function parseToastLink(link: string): string | null {
  return /^beckon:([0-9a-f]{32})$/.exec(link)?.[1] ?? null;
}

/** The same for the same alert, also after a restart. */
export const tagOf = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 16);
export const isTag = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

/** Removes what XML 1.0 does not allow even escaped: lone surrogates, and control characters other than tab and newline. */
export function escapeXml(text: string): string {
  const allowed = text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "");
  return escapeMarkup(allowed).replaceAll('"', "&quot;").replaceAll("'", "&apos;");
}

/** Windows shows four lines below the title. */
const visibleLines = 4;

export const selectToastButtons = (alert: Alert): readonly AlertButton[] =>
  selectButtons(alert, visibleLines);

/** `buttonIds`: one id for each button, in their order. */
export function formatToast(alert: Alert, id: string, buttonIds: readonly string[] = []): string {
  const link = escapeXml(formatToastLink(id));
  const buttons = selectToastButtons(alert).map(({ label }, n) =>
    formatAction(label, formatToastLink(buttonIds[n] ?? id)),
  );
  // A reminder stays until it is answered, and Windows requires a button on it:
  // https://learn.microsoft.com/en-us/uwp/schemas/tiles/toastschema/element-toast
  const scenario = alert.urgency === "urgent" ? ' scenario="reminder"' : "";
  const sound = alert.sound ? "" : '<audio silent="true"/>';
  return (
    `<toast activationType="protocol" launch="${link}"${scenario}><visual><binding template="ToastGeneric">` +
    `<text>${escapeXml(formatTitle(alert))}</text><text>${escapeXml(formatBody(alert))}</text></binding></visual>${sound}` +
    `<actions>${buttons.join("")}${hasTerminal(alert) ? formatAction(clickLabel, formatToastLink(id)) : ""}` +
    '<action content="" activationType="system" arguments="dismiss"/></actions></toast>'
  );
}

function formatAction(label: string, link: string): string {
  return `<action content="${escapeXml(label)}" activationType="protocol" arguments="${escapeXml(link)}"/>`;
}

/** Constant: everything that varies is data in an environment variable. */
const script = `
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
[void][Windows.Data.Xml.Dom.XmlDocument, Windows.Data.Xml.Dom, ContentType = WindowsRuntime]
$manager = [Windows.UI.Notifications.ToastNotificationManager]
$json = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($env:${dataVariable}))
foreach ($job in (ConvertFrom-Json $json).jobs) {
  try {
    if ($job.xml) {
      $xml = New-Object Windows.Data.Xml.Dom.XmlDocument
      $xml.LoadXml($job.xml)
      $toast = New-Object Windows.UI.Notifications.ToastNotification $xml
      $toast.Tag = $job.tag
      $toast.Group = '${appId}'
      $manager::CreateToastNotifier('${appId}').Show($toast)
    } else {
      $manager::History.Remove($job.tag, '${appId}', '${appId}')
    }
    'ok'
  } catch {
    'failed ' + ($_.Exception.Message -replace '\\s+', ' ')
  }
}
`;

/** Returns the command that runs the script; null if SystemRoot is not a folder of Windows. */
export function findPowershell(systemRoot: string | undefined): readonly string[] | null {
  if (systemRoot === undefined || !/^[a-z]:\\[^"*?<>|]*$/i.test(systemRoot)) return null;
  const folder = systemRoot.replace(/\\+$/, "");
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  return [
    `${folder}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
    "-NoLogo",
    "-NoProfile",
    "-NonInteractive",
    "-EncodedCommand",
    encoded,
  ];
}

/** Encodes as many jobs as one run can take. */
export function encodeBatch(jobs: readonly ToastJob[]): { count: number; data: string } {
  const encode = (some: readonly ToastJob[]): string =>
    Buffer.from(JSON.stringify({ jobs: some })).toString("base64");
  let count = jobs.length;
  while (count > 1 && encode(jobs.slice(0, count)).length > maxDataLength) count = Math.floor(count / 2);
  return { count, data: encode(jobs.slice(0, count)) };
}

/** The script prints one line per job, in order. Returns null for success, else what went wrong. */
export function parseResults(stdout: string, count: number): (string | null)[] {
  const lines = stdout.split(/\r?\n/).filter((line) => line !== "");
  return Array.from({ length: count }, (_, index) => {
    const line = lines[index];
    if (line === "ok") return null;
    return line?.startsWith("failed ") ? line.slice("failed ".length) : "PowerShell gave no answer";
  });
}

/**
 * The registry values that name the sender of the toasts, and the command that a click starts: the program
 * without a console, because a click should not flash one.
 */
export function createRegistration(
  [program, ...args]: readonly [program: string, ...args: string[]],
  icon: string | null,
): RegistryText[] {
  const command = [windowlessPathOf(program) ?? program, ...args].map((part) => `"${part}"`).join(" ");
  return [
    { key: appKey, name: "DisplayName", text: appName },
    ...(icon === null ? [] : [{ key: appKey, name: "IconUri", text: icon }]),
    { key: protocolKey, name: "", text: `URL:${appName}` },
    { key: protocolKey, name: "URL Protocol", text: "" },
    { key: `${protocolKey}\\shell\\open\\command`, name: "", text: `${command} click "%1"` },
  ];
}

/** PowerShell is slow at login. */
const runTimeoutMs = 20_000;

export interface Toasts {
  /** Returns what went wrong, or null. */
  send(job: ToastJob): Promise<string | null>;
  /** PowerShell may not run, or not run the script: the last run did not end well. */
  isRestricted(): boolean;
  /** Removes every toast that may be on the screen. Takes `stopTimeoutMs` at most. */
  stop(): Promise<void>;
}

/** Runs one PowerShell at a time; jobs that arrive meanwhile go into the next run. */
export function createToasts(command: readonly string[], exec: Exec, { stopTimeoutMs = 5_000 } = {}): Toasts {
  const waiting: { readonly job: ToastJob; readonly done: (failure: string | null) => void }[] = [];
  /** Tags of toasts that may be on the screen. Windows does not report when the user dismisses one. */
  const shown = new Set<string>();
  let running: Promise<void> | null = null;
  let isRestricted = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const { count, data } = encodeBatch(waiting.map(({ job }) => job));
      const batch = waiting.splice(0, count);
      for (const { job } of batch) if (job.xml !== null) shown.add(job.tag);
      const { code, stdout, stderr } = await exec(command, {
        timeoutMs: runTimeoutMs,
        env: { [dataVariable]: data },
      });
      isRestricted = code !== 0;
      const failures =
        code === null
          ? batch.map(() => `PowerShell cannot be run: ${stderr.trim().slice(0, 200)}`)
          : parseResults(stdout, count);
      for (const [index, { job, done }] of batch.entries()) {
        const failure = failures[index] ?? null;
        if (job.xml === null && failure === null) shown.delete(job.tag);
        done(failure);
      }
    }
    running = null;
  }

  function enqueue(job: ToastJob): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    // Only the last job for a toast counts.
    const older = waiting.findIndex((other) => other.job.tag === job.tag);
    if (older >= 0) for (const { done } of waiting.splice(older, 1)) done(null);
    waiting.push({ job, done: resolve });
    return promise;
  }

  return {
    send(job) {
      const done = enqueue(job);
      running ??= run();
      return done;
    },
    isRestricted: () => isRestricted,
    async stop() {
      const tags = new Set([...shown, ...waiting.map(({ job }) => job.tag)]);
      for (const tag of tags) void enqueue({ tag, xml: null });
      if (tags.size > 0) running ??= run();
      await waitAtMost(stopTimeoutMs, running ?? Promise.resolve());
    },
  };
}
