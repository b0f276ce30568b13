/**
 * Toasts, as the PowerShell that every Windows has can show them (7 cannot load WinRT, so it is 5.1 by its full path).
 * Pure: what is run, written and shown can be read in a test.
 *
 * Not SnoreToast of node-notifier: it tells of a click only while a process of its own waits for each toast, leaves a
 * shortcut in the Start menu, and is an unsigned program that virus scanners ask about.
 */
import { createHash } from "node:crypto";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert, AlertButton } from "../../core/view/view.ts";
import { appName, bodyOf, clickLabel, leadsSomewhere, titleOf } from "../notify/message.ts";
import type { RegistryText } from "./registry.ts";

export type ToastJob = { readonly tag: string; readonly xml: string | null };

/** Under this name Windows keeps beckon's toasts, and the person's settings for them. */
const appId = appName;
const scheme = appName;
const protocolKey = `Software\\Classes\\${scheme}`;
const appKey = `Software\\Classes\\AppUserModelId\\${appId}`;
export const registryKeys: readonly string[] = [protocolKey, appKey];

/** An environment block holds 32,767 units in all. */
const maxDataLength = 24_000;
export const dataVariable = "BECKON_TOASTS";

/** Any page in a browser can open `beckon:…`, so an id says nothing, cannot be guessed, and is good once. */
export const newId = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
export const linkOf = (id: string): string => `${scheme}:${id}`;

/** null: no link of ours. */
export function idIn(link: string): string | null {
  return /^beckon:([0-9a-f]{32})$/.exec(link)?.[1] ?? null;
}

/** The same for the same alert, also after a restart. */
export const tagOf = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 16);
export const isTag = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** What XML 1.0 does not allow, not even escaped, is left out: half a pair, and all control characters but the end of a line. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? "");
}

/** Windows shows four lines below the title. */
const toastRows = 4;

/** What a toast can offer beside going there. */
export const toastButtons = (alert: Alert): readonly AlertButton[] => selectButtons(alert, toastRows);

/** `ids`: of its buttons, in their order. */
export function toastXml(alert: Alert, id: string, ids: readonly string[] = []): string {
  const link = escapeXml(linkOf(id));
  const buttons = toastButtons(alert).map(({ label }, n) => actionXml(label, linkOf(ids[n] ?? id)));
  // A reminder stays until it is answered; Windows wants a button on it.
  const scenario = alert.urgency === "critical" ? ' scenario="reminder"' : "";
  const sound = alert.sound ? "" : '<audio silent="true"/>';
  return (
    `<toast activationType="protocol" launch="${link}"${scenario}><visual><binding template="ToastGeneric">` +
    `<text>${escapeXml(titleOf(alert))}</text><text>${escapeXml(bodyOf(alert))}</text></binding></visual>${sound}` +
    `<actions>${buttons.join("")}${leadsSomewhere(alert) ? actionXml(clickLabel, linkOf(id)) : ""}` +
    '<action content="" activationType="system" arguments="dismiss"/></actions></toast>'
  );
}

function actionXml(label: string, link: string): string {
  return `<action content="${escapeXml(label)}" activationType="protocol" arguments="${escapeXml(link)}"/>`;
}

/** Always the same: what differs comes in a variable, and is read as data. */
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

/** null: SystemRoot does not say where Windows is. */
export function powershell(systemRoot: string | undefined): readonly string[] | null {
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

/** As many jobs as one run can take, and what tells it of them. */
export function batch(jobs: readonly ToastJob[]): { count: number; data: string } {
  const encode = (some: readonly ToastJob[]): string =>
    Buffer.from(JSON.stringify({ jobs: some })).toString("base64");
  let count = jobs.length;
  while (count > 1 && encode(jobs.slice(0, count)).length > maxDataLength) count = Math.floor(count / 2);
  return { count, data: encode(jobs.slice(0, count)) };
}

/** One line a job, in order: null is well, else what went wrong. */
export function outcomes(stdout: string, count: number): (string | null)[] {
  const lines = stdout.split(/\r?\n/).filter((line) => line !== "");
  return Array.from({ length: count }, (_, index) => {
    const line = lines[index];
    if (line === "ok") return null;
    return line?.startsWith("failed ") ? line.slice("failed ".length) : "PowerShell gave no answer";
  });
}

/**
 * Whom Windows shows as the sender, and what a click starts. conhost without a window: beckon is a console program, and
 * a click should not flash one.
 */
export function registration(
  program: readonly string[],
  systemRoot: string,
  picture: string | null,
): RegistryText[] {
  const quoted = program.map((part) => `"${part}"`).join(" ");
  const conhost = `"${systemRoot.replace(/\\+$/, "")}\\System32\\conhost.exe" --headless`;
  return [
    { key: appKey, name: "DisplayName", text: appName },
    ...(picture === null ? [] : [{ key: appKey, name: "IconUri", text: picture }]),
    { key: protocolKey, name: "", text: `URL:${appName}` },
    { key: protocolKey, name: "URL Protocol", text: "" },
    { key: `${protocolKey}\\shell\\open\\command`, name: "", text: `${conhost} ${quoted} click "%1"` },
  ];
}
