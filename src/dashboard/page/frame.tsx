/** What is around the sections: the bar, banners, the keys, the first run, the phone's tabs. */
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { QuietMode } from "../../core/config/user-action.ts";
import { copyText, setQuiet } from "./actions.ts";
import { retryNow } from "./connection.ts";
import { cleanText, formatTime } from "./format.ts";
import { isIntercepted } from "./key.ts";
import { goToSearch, rememberFocus, restoreFocus, switchTheme } from "./navigation.ts";
import {
  connection,
  facts,
  heardAt,
  isHelpOpen,
  isLive,
  message,
  now,
  openAsks,
  quiet,
  retryAt,
  wantedAt,
} from "./state.ts";
import { Icon } from "./ui.tsx";
import { view } from "./view.ts";

const bubble = (
  <g class="bub">
    <rect x="16" y="20" width="224" height="168" rx="44" />
    <polygon points="56,180 56,244 120,180" />
  </g>
);

/** beckon's mark; with the number of asks in it if there are any. */
function Mark({ count }: { readonly count: number }) {
  return (
    <svg viewBox="0 0 256 256" aria-hidden="true">
      {bubble}
      {count > 0 ? (
        <text class="num" x="128" y="151">
          {count > 9 ? "9+" : count}
        </text>
      ) : (
        <g fill="#fafafc">
          <polygon points="68,60 100,60 144,104 100,148 68,148 112,104" />
          <rect x="140" y="128" width="52" height="20" rx="4" />
        </g>
      )}
    </svg>
  );
}

export function Bar({ isFirstRun }: { readonly isFirstRun: boolean }) {
  return (
    <header class="bar">
      <a class="brand" href="#needs-you">
        <Mark count={openAsks.value.length} />
        beckon
        {facts.value?.isDemo && (
          <span class="demo-mark" title="The sessions are invented">
            demo
          </span>
        )}
      </a>
      {!isFirstRun && (
        <nav class="nav" aria-label="Page">
          <a href="#sessions">Sessions</a>
          <a href="#today">Today</a>
          <a href="#waited">Waited</a>
          <a href="#history" aria-current={view.value === "history" ? "page" : undefined}>
            History
          </a>
          <a href="#rules" aria-current={view.value === "rules" ? "page" : undefined}>
            Rules
          </a>
          {facts.value?.teams && (
            <a href="#team" aria-current={view.value === "team" ? "page" : undefined}>
              Team
            </a>
          )}
        </nav>
      )}
      <div class="bar-end">
        <span class="live">{describeConnection(isFirstRun)}</span>
        {!isFirstRun && view.value === "sessions" && (
          <button class="find find-top" type="button" onClick={goToSearch}>
            <Icon of="search" />
            <span class="field">Search history</span>
            <kbd>/</kbd>
          </button>
        )}
        <QuietMenu />
        <a
          class={view.value === "settings" ? "btn sq here" : "btn sq"}
          href="#settings"
          title="Settings"
          aria-label="Settings"
          aria-current={view.value === "settings" ? "page" : undefined}
        >
          <Icon of="gear" />
        </a>
        <button
          class="btn sq"
          type="button"
          title="Light or dark"
          aria-label="Light or dark"
          onClick={switchTheme}
        >
          <Icon of="theme" />
        </button>
        <button class="btn sq" type="button" title="Keys" aria-label="Keys" onClick={openHelp}>
          ?
        </button>
      </div>
    </header>
  );
}

function describeConnection(isFirstRun: boolean): string {
  switch (connection.value) {
    case "connecting":
      return "Connecting…";
    case "live":
      if (wantedAt.value !== null) return `Paused at ${formatTime(wantedAt.value)}`;
      return isFirstRun ? "Live, listening" : `Live ${formatTime(now.value)}`;
    default:
      return `Last heard ${formatTime(heardAt.value)}`;
  }
}

const quietChoices: readonly (readonly [QuietMode, string])[] = [
  ["hour", "No alerts for an hour"],
  ["tomorrow", "No alerts until tomorrow"],
  ["on", "No alerts until you turn them on"],
];

function QuietMenu() {
  const isOpen = useSignal(false);
  const menu = useRef<HTMLDivElement>(null);
  const mode = quiet.value;
  const label =
    mode === null
      ? "Alerts on"
      : mode.until === null
        ? "Alerts off"
        : `Quiet until ${formatTime(mode.until)}`;
  useEffect(() => {
    const close = (event: Event) => {
      const isInside = event.target instanceof Node && menu.current?.contains(event.target);
      if (!isInside || (event instanceof KeyboardEvent && event.key === "Escape")) isOpen.value = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close);
    };
  }, [isOpen]);
  const choose = (choice: QuietMode) => {
    isOpen.value = false;
    setQuiet(choice);
  };
  const choices =
    mode === null
      ? quietChoices
      : ([...(mode.by === "you" ? [["off", "Turn alerts on"] as const] : []), ...quietChoices] as const);
  return (
    <div class="menu-at alerts" ref={menu}>
      <button
        class="btn"
        type="button"
        aria-haspopup="true"
        aria-expanded={isOpen.value}
        disabled={!isLive.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Icon of={mode === null ? "bell" : "bellOff"} />
        {label}
      </button>
      {isOpen.value && (
        <div class="menu right" data-menu>
          {mode?.by === "quiet hours" && <p class="quiet">Your quiet hours are on.</p>}
          {choices.map(([choice, text]) => (
            <button key={choice} type="button" onClick={() => choose(choice)}>
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** What happened, and why this page cannot go on. */
function describeRefusal(): readonly [what: string, why: string] {
  if (isIntercepted.value)
    return ["Another program has used this address.", "It can read what this tab does. Close the tab."];
  // It was connected before.
  if (facts.value !== null)
    return ["beckon was restarted.", `This is what was known at ${formatTime(heardAt.value)}.`];
  return ["This page is not connected any more.", "beckon was restarted, or this tab was not opened by it."];
}

export function Banner() {
  const state = connection.value;
  if (state === "closed") {
    const [what, why] = describeRefusal();
    return (
      <div class="stop" role="alert">
        <Icon of="info" />
        <b>{what}</b>
        <span>{why}</span>
        <div class="end">
          <span>Choose “Open dashboard” in beckon’s menu, or run</span>
          <code>beckon open</code>
        </div>
      </div>
    );
  }
  if (state !== "stopped") return null;
  return (
    <div class="stop" role="alert">
      <Icon of="info" />
      <b>beckon has stopped.</b>
      <span>
        This is what was known at {formatTime(heardAt.value)}. Your agents go on; answer them in their
        terminals.
      </span>
      <div class="end">
        <Retry />
        <button class="btn sm" type="button" onClick={retryNow}>
          Try now
        </button>
        <span>or run</span>
        <code>beckon start</code>
      </div>
    </div>
  );
}

/** Counts down to the next attempt. */
function Retry() {
  const time = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      time.value = Date.now();
    }, 500);
    return () => clearInterval(timer);
  }, [time]);
  const seconds = Math.max(0, Math.ceil((retryAt.value - time.value) / 1_000));
  return <span aria-hidden="true">{seconds === 0 ? "Trying…" : `Tries again in ${seconds} s`}</span>;
}

/** What is wrong with the settings, and agents that do not call beckon. */
export function Notices() {
  const { problems = [], unconnected = [] } = facts.value ?? {};
  if (problems.length + unconnected.length === 0) return null;
  return (
    <ul class="notices">
      {unconnected.map((name) => (
        <li key={name}>
          <Icon of="info" />
          <span>
            {name} is not connected: run <code class="in">beckon --install</code>
          </span>
        </li>
      ))}
      {problems.map((problem) => (
        <li key={problem}>
          <Icon of="warn" />
          <span>{cleanText(problem)}</span>
        </li>
      ))}
    </ul>
  );
}

export function openHelp(): void {
  rememberFocus();
  isHelpOpen.value = true;
}

export function closeHelp(): void {
  if (!isHelpOpen.value) return;
  isHelpOpen.value = false;
  restoreFocus();
}

const keyRows: readonly (readonly [what: string, keys: readonly string[]])[] = [
  ["Next, previous", ["j", "k"]],
  ["Allow, approve", ["a", "a"]],
  ["Go to terminal", ["⏎"]],
  ["Deny, send back", ["d"]],
  ["Open its details", ["o"]],
  ["Choose an option", ["1", "…", "9"]],
  ["Next prompt", ["p"]],
  ["Send it", ["Ctrl ⏎"]],
  ["Search history", ["/"]],
  ["In the history: transcript", ["o"]],
  ["Open or close a fold", ["x"]],
  ["Next, previous hit", ["n", "N"]],
  ["Snooze 15 min", ["s"]],
  ["Light or dark", ["t"]],
  ["Settings", [","]],
  ["Save settings", ["Ctrl S"]],
  ["Back to now, close", ["Esc"]],
];

export function Help() {
  const box = useRef<HTMLDivElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) box.current?.focus();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <div
      class="veil"
      onPointerDown={(event) => {
        if (event.target === event.currentTarget) closeHelp();
      }}
    >
      <div class="help" role="dialog" aria-modal="true" aria-labelledby="h-keys" tabIndex={-1} ref={box}>
        <div class="help-top">
          <h2 id="h-keys">Keys</h2>
          <button class="btn bare sq" type="button" aria-label="Close" onClick={closeHelp}>
            <Icon of="close" />
          </button>
        </div>
        <dl class="keys">
          {keyRows.map(([what, keys]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                {keys.map((key, index) =>
                  key === "…" ? <span key={index}>…</span> : <kbd key={index}>{key}</kbd>,
                )}
              </dd>
            </div>
          ))}
        </dl>
        <p class="note">
          The first <kbd>a</kbd> arms the button for 3 seconds, the second allows. An ask that has been on the
          screen for less than a second takes no key, and what is not shown in full cannot be allowed here.
        </p>
      </div>
    </div>
  );
}

const installCommand = "beckon --install";

export function FirstRun() {
  const { version = "", unconnected = [], agents = {} } = facts.value ?? {};
  const names = unconnected.length > 0 ? unconnected : Object.values(agents).slice(0, 1);
  const isConnected = unconnected.length === 0;
  const checks: readonly (readonly [isDone: boolean, what: string, detail: string])[] = [
    [true, "beckon runs", `${version}, port ${location.port || "80"}`],
    [isConnected, "Hooks in your settings", isConnected ? "registered" : "not yet"],
    [false, "First event", "listening"],
  ];
  return (
    <div class="first">
      <div class="first-top">
        <Mark count={0} />
        <h1>{isConnected ? "Waiting for your first session" : `Connect ${names.join(" and ")}`}</h1>
        <p>
          {isConnected
            ? `Start ${names.join(" or ")} in a terminal. It appears here with its first event, and you hear of it when it needs you.`
            : "One command adds beckon’s hooks to your settings. From then on every session is here, and you hear of it when one needs you."}
        </p>
      </div>
      {!isConnected && (
        <div class="cmd">
          <code>{installCommand}</code>
          <button class="btn main" type="button" onClick={() => copyText(installCommand, "Copied.")}>
            Copy
          </button>
        </div>
      )}
      <ul class="checks panel">
        {checks.map(([isDone, what, detail]) => (
          <li key={what}>
            <Icon of={isDone ? "check" : "box"} class={isDone ? "ok" : "no"} />
            <span>{what}</span>
            <span class="quiet">{detail}</span>
          </li>
        ))}
      </ul>
      <div class="after">
        {!isConnected && (
          <p>
            Your settings file stays yours: a dated backup is kept, and{" "}
            <code class="in">beckon --install --dry-run</code> shows the change without making it.
          </p>
        )}
        <p>
          Sessions that are already running are picked up within about a second. Nothing leaves this machine.
        </p>
        <p>
          Is something wrong? <code class="in">beckon doctor</code> tests every part and says what to do.{" "}
          <code class="in">beckon demo</code> shows a day with invented sessions.
        </p>
      </div>
    </div>
  );
}

const tabs = [
  ["needs-you", "Needs you", "inbox"],
  ["sessions", "Sessions", "list"],
  ["today", "Today", "day"],
  ["history", "History", "search"],
] as const;

const teamTab = ["team", "Team", "people"] as const;

/** On a phone: the sections, and which of them is on the screen. */
export function Tabs() {
  const current = useSignal<string>("needs-you");
  useEffect(() => {
    const spy = () => {
      const reached = tabs.findLast(
        ([id]) => (document.getElementById(id)?.getBoundingClientRect().top ?? Infinity) < innerHeight * 0.4,
      );
      current.value = reached?.[0] ?? "needs-you";
    };
    addEventListener("scroll", spy, { passive: true });
    return () => removeEventListener("scroll", spy);
  }, [current]);
  return (
    <nav class="tabs" aria-label="Sections">
      {[...tabs, ...(facts.value?.teams ? [teamTab] : [])].map(([id, label, icon]) => (
        <a
          key={id}
          href={`#${id}`}
          aria-current={(view.value === "sessions" ? current.value : view.value) === id ? "true" : undefined}
        >
          <Icon of={icon} />
          {id === "needs-you" && openAsks.value.length > 0 && (
            <span class="badge">{openAsks.value.length}</span>
          )}
          {label}
        </a>
      ))}
    </nav>
  );
}

export function Message() {
  return (
    <div class="toast-at" role="status">
      {message.value !== null && <p class="toast">{message.value}</p>}
    </div>
  );
}

/** The tab's title and icon carry the count. */
export function followTitle(): void {
  effect(() => {
    const count = openAsks.value.length;
    const isStopped = connection.value === "stopped" || connection.value === "closed";
    const name = facts.value?.isDemo ? "beckon demo" : "beckon";
    const text = count === 0 ? name : `${count} ${count === 1 ? "needs" : "need"} you · ${name}`;
    document.title = isStopped ? `${name} (stopped)` : text;
    document.documentElement.dataset.state = isStopped ? "stopped" : "live";
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = count === 0 && !isStopped ? "/icon.svg" : createIcon(count, isStopped);
  });
}

function createIcon(count: number, isStopped: boolean): string {
  const colour = isStopped ? "#666973" : "#d6400a";
  const number =
    count === 0
      ? ""
      : `<text x="128" y="151" fill="#fff" font-family="system-ui,sans-serif" font-weight="700" font-size="132" text-anchor="middle">${count > 9 ? "9+" : count}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256"><g fill="${colour}"><rect x="16" y="20" width="224" height="168" rx="44"/><path d="M56 180v64l64-64z"/></g>${number}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
