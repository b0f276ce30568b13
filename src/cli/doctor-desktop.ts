/**
 * `beckon doctor --desktop`: shows an icon with a menu and an alert with buttons for a moment, and says what became of each. It needs
 * no running beckon and no agent, and its output is meant to be pasted into a report.
 */
import { existsSync } from "node:fs";
import { arch, release, version as systemVersion } from "node:os";
import { version } from "../../package.json";
import { createFindings, type Finding } from "../agents/finding.ts";
import type { NotifierReport, TrayReport } from "../core/interfaces/index.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import type { Alert, AlertButton, MenuItem, TrayView } from "../core/view/view.ts";
import { createDesktopParts, type DesktopParts, hasDesktop } from "../desktop/index.ts";
import { macAppOf } from "../desktop/login/mac-app.ts";
import { desktopVariables } from "../setup/doctor/report.ts";
import { ensureOwnFolder } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { waitUntil } from "../system/schedule.ts";

export interface DesktopTestOptions {
  readonly env: Env;
  readonly paths: Paths;
  /** How long icon and alert stay for a click of the user. */
  readonly waitMs: number;
  readonly tryOwnTerminal: (env: Env) => Promise<FocusOutcome>;
  readonly checkLogin: (env: Env, paths: Paths) => Promise<readonly Finding[]>;
  /** Icon and alert are on the screen, as far as that is possible. */
  readonly onShown: () => void;
}

/** What is shown has to reach the screen within this time. */
const showMs = 5_000;
const pollMs = 100;
const session = "desktop-test";
const alertKey = "desktop-test";

const rows: readonly MenuItem[] = ["beckon tests this desktop", "Click this row, to test the menu"].map(
  (label, n) => ({
    kind: "entry",
    id: `test-${n}`,
    label,
    action: n === 0 ? null : { do: "focus", session },
  }),
);

const view: TrayView = {
  icon: { phase: "blocked", count: 2 },
  title: "beckon: a test of this desktop",
  tooltip: "A test of this desktop",
  items: rows,
  leftClick: "menu",
};

const buttons: readonly AlertButton[] = ["One", "Two"].map((label) => ({
  id: label.toLowerCase(),
  label,
  action: { do: "focus", session },
  needsAll: false,
}));

const alert: Alert = {
  key: alertKey,
  session,
  kind: "blocked",
  urgency: "urgent",
  sound: false,
  title: "beckon tests this desktop",
  body: "Click one of the buttons, or this text.",
  since: 0,
  buttons,
};

/** Polls, because neither a panel nor a helper says when it is done. */
const waitFor = (isDone: () => boolean | Promise<boolean>, atMostMs: number): Promise<boolean> =>
  waitUntil(isDone, { atMostMs, everyMs: pollMs });

export async function testDesktop(options: DesktopTestOptions): Promise<readonly Finding[]> {
  const { env, paths } = options;
  const about = [describeSystem(env)];
  if (process.platform === "darwin")
    about.push(describeProgram(macAppOf(homeOf(env)), process.execPath, existsSync));
  if (!hasDesktop(env)) {
    const finding = createFindings("icon", "desktop");
    return [...about, finding("info", "headless", "there is no desktop here, so nothing was shown")];
  }
  const shown = await showAll(createDesktopParts(env), options);
  return [
    ...about,
    ...shown,
    describeFocus(await options.tryOwnTerminal(env)),
    ...(await options.checkLogin(env, paths)),
  ];
}

function describeSystem(env: Env): Finding {
  const desktop = desktopVariables.flatMap((name) =>
    env[name] ? [name === "XDG_CURRENT_DESKTOP" ? `${name}=${env[name]}` : name] : [],
  );
  const parts = [`beckon ${version}`, process.platform, arch(), release(), systemVersion(), ...desktop];
  return createFindings("system", "system")("info", "described", parts.join(", "));
}

/** macOS gives permissions and a name in its lists to beckon.app, or else to the terminal that runs the program: both can be tested. */
export function describeProgram(
  { app, program }: { readonly app: string; readonly program: string },
  running: string,
  exists: (path: string) => boolean,
): Finding {
  const finding = createFindings("program", "program");
  if (running === program)
    return finding("info", "app", `this is ${app}. The program alone: beckon doctor --desktop`);
  return exists(program)
    ? finding(
        "info",
        "alone",
        `this is ${running}, not ${app}. To test that one: ${program} doctor --desktop`,
      )
    : finding("info", "no-app", `this is ${running}. There is no ${app}: beckon --install --login builds it`);
}

async function showAll(
  parts: DesktopParts,
  { paths, waitMs, onShown }: DesktopTestOptions,
): Promise<Finding[]> {
  const folder = paths.helpers;
  ensureOwnFolder(folder);
  const problems = { tray: [] as string[], alert: [] as string[] };
  let chosen = false;
  let clicked: string | null = null;
  const tray = await parts.openTray({
    folder,
    isDemo: true,
    onAction: () => {
      chosen = true;
    },
    onProblem: (text) => void problems.tray.push(text),
  });
  const notifier = await parts.openNotifier({
    folder,
    onClick: (_, button) => {
      clicked = button === null ? "the alert itself" : `the button "${button}"`;
    },
    onClosed: () => {},
    onProblem: (text) => void problems.alert.push(text),
  });
  try {
    tray?.show(view);
    const handle = await notifier?.show({ ...alert, since: Date.now() }).catch((error) => {
      problems.alert.push(String(error));
      return null;
    });
    await waitFor(async () => (await tray?.report())?.missing === null, tray === null ? 0 : showMs);
    onShown();
    await waitFor(() => (tray === null || chosen) && (notifier === null || clicked !== null), waitMs);
    const trayReport = (await tray?.report()) ?? null;
    return [
      describeIcon(trayReport, problems.tray),
      ...(trayReport === null ? [] : [describeMenu(chosen)]),
      describeAlert((await notifier?.report()) ?? null, handle ?? null, problems.alert),
      ...(notifier === null ? [] : [describeClick(clicked)]),
    ];
  } finally {
    await notifier?.close(alertKey);
    await Promise.all([tray?.stop(), notifier?.stop()]);
  }
}

const because = (problems: readonly string[]): string => problems.at(-1) ?? "the system gave no reason";

function describeIcon(report: TrayReport | null, problems: readonly string[]): Finding {
  const finding = createFindings("icon", "icon");
  if (report === null) return finding("fail", "none", `not shown: ${because(problems)}`);
  const by = report.host === null ? "" : `, shown by ${report.host}`;
  return report.missing === null
    ? finding("ok", "shown", `${report.way}${by}`)
    : finding("fail", "missing", `${report.way}${by}: ${report.missing}`);
}

function describeMenu(isChosen: boolean): Finding {
  const finding = createFindings("menu", "menu");
  return isChosen
    ? finding("ok", "chosen", `${rows.length} rows, and one of them was chosen`)
    : finding("info", "given", `${rows.length} rows were given to the system; none was chosen in time`);
}

function describeAlert(
  report: NotifierReport | null,
  handle: string | null,
  problems: readonly string[],
): Finding {
  const finding = createFindings("alert", "alert");
  if (report === null) return finding("fail", "none", `not shown: ${because(problems)}`);
  const by = report.server === null ? report.way : `${report.way}, ${report.server}`;
  if (report.missing !== null) return finding("fail", "missing", `${by}: ${report.missing}`);
  const abilities = report.abilities === null ? "" : ` (${report.abilities.join(", ")})`;
  const isUnnamed = report.namesAlerts && handle === null;
  return isUnnamed
    ? finding("fail", "unnamed", `${by}${abilities}: not on the screen: ${because(problems)}`)
    : finding("ok", "shown", `${by}${abilities}${handle === null ? "" : `, as ${handle}`}`);
}

function describeClick(clicked: string | null): Finding {
  const finding = createFindings("buttons", "buttons");
  return clicked === null
    ? finding("info", "given", `${buttons.length} buttons were given to the system; none was clicked in time`)
    : finding("ok", "clicked", `${clicked} was clicked`);
}

function describeFocus({ result, by, why }: FocusOutcome): Finding {
  const finding = createFindings("focus", "focus");
  const where = by === "" ? "" : ` by ${by}`;
  if (result === "exact") return finding("ok", "exact", `would show exactly this terminal${where}`);
  return finding(
    "info",
    result,
    `${result === "window" ? `would show the window${where}` : "not possible"}: ${why}`,
  );
}
