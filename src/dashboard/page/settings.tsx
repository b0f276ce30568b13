/**
 * The settings panel: every setting with its words, its control, and where its value comes from. It is a bundle of its own, which
 * the page loads when the panel is first opened; `<beckon-settings>` is its only link to the page (settings-loader.tsx).
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import {
  type ChannelRow,
  type SectionId,
  type SettingView,
  sections,
} from "../../core/config/setting-view.ts";
import { formatCount } from "../../core/text/words.ts";
import { definePanel } from "./define-panel.tsx";
import { cleanText, formatTime, splitMatches } from "./format.ts";
import { SettingControl } from "./settings-controls.tsx";
import {
  canSave,
  changed,
  describeChanges,
  differs,
  discard,
  findMistake,
  formatShort,
  isChanged,
  keepChanges,
  load,
  loadProblem,
  newerView,
  openFile,
  query,
  resetValue,
  type SettingsHost,
  save,
  sendTest,
  view,
  wrong,
} from "./settings-store.ts";
import { Icon } from "./ui.tsx";

const sectionIds = Object.keys(sections) as SectionId[];
const anchorOf = (section: string): string => `settings-${section}`;

const words = (): readonly string[] => query.value.toLowerCase().split(/\s+/).filter(Boolean);

const matches = (...texts: readonly string[]): boolean => {
  const text = texts.join(" ").toLowerCase();
  return words().every((word) => text.includes(word));
};

const matchesSetting = ({ title, key, description }: SettingView): boolean =>
  matches(title, key, description);

/** A text with the words of the search marked. */
function Marked({ text }: { readonly text: string }) {
  const parts = splitMatches(text, query.value);
  return <>{parts.map((part, index) => (part.isMatch ? <mark key={index}>{part.text}</mark> : part.text))}</>;
}

function Row({ setting }: { readonly setting: SettingView }) {
  const { key, title, description, control, source, grants, value } = setting;
  const mistake = findMistake(setting);
  const id = anchorOf(`set-${key.replaceAll(".", "-")}`);
  const isForbidden = grants !== null && control.kind === "switch" && value === false;
  const isLocked = source.kind === "environment" || isForbidden || view.value?.locked !== null;
  const state = `${mistake === null ? "" : " wrong"}${isChanged(setting) ? " unsaved" : ""}`;
  return (
    <div class={`set${state}`} data-key={key}>
      <div class="set-words">
        <div class="set-name">
          <h3 id={id}>
            <Marked text={title} />
          </h3>
          <code>
            <Marked text={key} />
          </code>
        </div>
        <p>
          <Marked text={description} />
        </p>
      </div>
      <div class="set-ctl">
        <SettingControl
          setting={setting}
          control={control}
          labelId={id}
          errorId={mistake === null ? undefined : `${id}-error`}
          isLocked={isLocked}
        />
        {mistake !== null && (
          <p class="err" id={`${id}-error`}>
            <Icon of="warn" />
            <span>{cleanText(mistake)}</span>
          </p>
        )}
        <Hint setting={setting} isForbidden={isForbidden} />
      </div>
      <Source setting={setting} />
    </div>
  );
}

/** Why it cannot be changed here. */
function Hint({ setting, isForbidden }: { readonly setting: SettingView; readonly isForbidden: boolean }) {
  const { key, control, source, grants } = setting;
  if (source.kind === "environment")
    return <p class="hint">Started with it. Restart without it to change it.</p>;
  if (isForbidden)
    return (
      <p class="hint">
        {grants} So only you turn it on: <code class="in">beckon config set {key} true</code>
      </p>
    );
  if (control.kind !== "file") return null;
  return <p class="hint">{grants === null ? "" : `${grants} `}It is changed in config.json.</p>;
}

/** The exception is marked: a setting at its default says only that. */
function Source({ setting }: { readonly setting: SettingView }) {
  const { title, control, source, value, grants } = setting;
  const fallback = formatShort(setting, setting.default);
  if (isChanged(setting)) {
    const isDefault = source.kind === "default";
    return (
      <span class="from">
        <b>Not saved</b>
        <span>
          was {formatShort(setting, value)}
          {isDefault && ", the default"}
        </span>
        {!isDefault && <span>default {fallback}</span>}
      </span>
    );
  }
  if (source.kind === "environment")
    return (
      <span class="from cli">
        <Icon of="lock" />
        <span>
          Environment
          <code>{source.name}</code>
          <span class="quiet">default {fallback}</span>
        </span>
      </span>
    );
  if (source.kind === "default")
    return (
      <span class="from">
        {differs(setting) ? (
          // As long as the file has a mistake, what it said before counts.
          <>
            <span class="ink">From before</span>
            <span>default {fallback}</span>
          </>
        ) : (
          <span>Default</span>
        )}
      </span>
    );
  // Back to the default can turn on what only the user may.
  const canReset =
    control.kind !== "file" && !(grants !== null && value === false && setting.default === true);
  return (
    <span class="from">
      <span class="ink">config.json, line {source.line}</span>
      <span>
        default {fallback}
        {canReset && (
          <>
            {" · "}
            <button
              class="link"
              type="button"
              aria-label={`Reset ${title}`}
              disabled={view.value?.locked !== null}
              onClick={() => resetValue(setting)}
            >
              Reset
            </button>
          </>
        )}
      </span>
    </span>
  );
}

function Channel({ channel, host }: { readonly channel: ChannelRow; readonly host: SettingsHost }) {
  const { name, service, detail, answers, problem, lastSentAt } = channel;
  const about = `${detail}${answers === "off" ? ", no answers from there" : `, answers: ${answers}`}`;
  return (
    <div class="chan">
      <span class="chan-n">
        <b class="cut" title={name}>
          <Marked text={name} />
        </b>
        <small>{service}</small>
      </span>
      <span class="cut" title={about}>
        {about}
      </span>
      <span class={problem === null ? "chan-s" : "chan-s bad-s"} title={problem ?? undefined}>
        {problem !== null ? <Icon of="warn" /> : lastSentAt !== null && <Icon of="check" />}
        <span>
          {cleanText(
            problem ?? (lastSentAt === null ? "No alert sent yet" : `Sent ${formatTime(lastSentAt)}`),
          )}
        </span>
      </span>
      <button
        class="btn sm"
        type="button"
        aria-label={`Send a test to ${name}`}
        onClick={() => sendTest(host, name)}
      >
        Send a test
      </button>
    </div>
  );
}

/** What the search leaves of a section. */
interface ShownSection {
  readonly id: SectionId;
  readonly settings: readonly SettingView[];
  readonly channels: readonly ChannelRow[];
  readonly count: number;
}

function listSections(): readonly ShownSection[] {
  const { settings = [], channels = [] } = view.value ?? {};
  const all = sectionIds.map((id) => {
    const shown = settings.filter((setting) => setting.section === id && matchesSetting(setting));
    const rows = id === "phone" ? channels.filter(({ name, service }) => matches(name, service)) : [];
    return { id, settings: shown, channels: rows, count: shown.length + rows.length };
  });
  // The best fit first.
  return words().length === 0 ? all : all.toSorted((a, b) => b.count - a.count);
}

function Section({ section, host }: { readonly section: ShownSection; readonly host: SettingsHost }) {
  const { id, settings, channels, count } = section;
  const { title, about } = sections[id];
  return (
    <section class="panel set-sect" id={anchorOf(id)} aria-labelledby={`h-${anchorOf(id)}`}>
      <div class="set-head">
        <h2 id={`h-${anchorOf(id)}`}>{title}</h2>
        <p class="quiet">{words().length === 0 ? about : `${count} match`}</p>
      </div>
      {channels.map((channel) => (
        <Channel key={channel.name} channel={channel} host={host} />
      ))}
      {settings.map((setting) => (
        <Row key={setting.key} setting={setting} />
      ))}
    </section>
  );
}

function About() {
  return (
    <section class="panel set-sect" id={anchorOf("about")} aria-labelledby="h-settings-about">
      <div class="set-head">
        <h2 id="h-settings-about">About</h2>
      </div>
      <dl class="about">
        {view.value?.about.map(({ name, value, source }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {source !== null && (
                <span class="from cli">
                  <Icon of="lock" />
                  Environment <code>{source}</code>
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The one that the user reads: the last that has reached the upper part of the screen, and at the end of the page the last of all. */
function findSectionOnScreen(): string {
  const all = [...sectionIds, "about"];
  if (innerHeight + scrollY >= document.documentElement.scrollHeight - 2) return "about";
  const topOf = (id: string) =>
    document.getElementById(anchorOf(id))?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY;
  return all.findLast((id) => topOf(id) < innerHeight * 0.3) ?? "alerts";
}

function Nav({ shown }: { readonly shown: readonly ShownSection[] }) {
  const isSearch = words().length > 0;
  const { settings = [] } = view.value ?? {};
  const current = useSignal("alerts");
  useEffect(() => {
    const spy = () => {
      current.value = findSectionOnScreen();
    };
    addEventListener("scroll", spy, { passive: true });
    return () => removeEventListener("scroll", spy);
  }, [current]);
  const mark = (id: string) => (!isSearch && current.value === id ? "true" : undefined);
  return (
    <nav class="set-nav" aria-label="Parts of the settings">
      <div class="find">
        <Icon of="search" />
        <input
          class="field"
          type="search"
          aria-label="Search settings"
          placeholder="Search settings"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
        />
        <kbd>/</kbd>
      </div>
      <ol>
        {sectionIds.map((id) => {
          const own = settings.filter(({ section }) => section === id);
          const count = isSearch
            ? (shown.find((section) => section.id === id)?.count ?? 0)
            : own.filter(differs).length;
          const isWrong = own.some((setting) => findMistake(setting) !== null);
          return (
            <li key={id}>
              <a
                href={`#${anchorOf(id)}`}
                class={isSearch && count === 0 ? "none" : ""}
                aria-current={mark(id)}
              >
                <span>{sections[id].title}</span>
                {isWrong && !isSearch ? (
                  <span class="oops" title="has a mistake">
                    <Icon of="warn" />
                    <span class="hid">has a mistake</span>
                  </span>
                ) : (
                  count > 0 && (
                    <span class="n" title={isSearch ? "match" : "differ from the default"}>
                      {count}
                    </span>
                  )
                )}
              </a>
            </li>
          );
        })}
        <li>
          <a href={`#${anchorOf("about")}`} class={isSearch ? "none" : ""} aria-current={mark("about")}>
            <span>About</span>
          </a>
        </li>
      </ol>
    </nav>
  );
}

function Top({ count, host }: { readonly count: number; readonly host: SettingsHost }) {
  const { settings = [], channels = [], path = "" } = view.value ?? {};
  const total = settings.length + channels.length;
  const search = cleanText(query.value.trim());
  return (
    <div class="set-top">
      <div>
        <h2>Settings</h2>
        {search === "" ? (
          <p class="quiet">
            <code>{path}</code> · {settings.filter(differs).length} of {settings.length} differ from the
            default · read again whenever it changes
          </p>
        ) : (
          <p class="quiet">
            {count} of {total} match “{search}” ·{" "}
            <button class="link u" type="button" onClick={clearSearch}>
              Show all
            </button>
          </p>
        )}
      </div>
      <div class="end">
        <button class="btn" type="button" onClick={() => openFile(host)}>
          <Icon of="file" />
          Open config.json
        </button>
      </div>
    </div>
  );
}

const clearSearch = (): void => {
  query.value = "";
};

/** Mistakes in the file that no row can show. */
function Problems() {
  const { locked = null, problems = [] } = view.value ?? {};
  const all = [...(locked === null ? [] : [`${locked} Nothing can be saved here until then.`]), ...problems];
  if (all.length === 0) return null;
  return (
    <ul class="notices set-notices">
      {all.map((problem) => (
        <li key={problem}>
          <Icon of="warn" />
          <span>{cleanText(problem)}</span>
        </li>
      ))}
    </ul>
  );
}

function focusSetting({ key }: SettingView): void {
  clearSearch();
  requestAnimationFrame(() => {
    const row = document.querySelector(`.set[data-key="${CSS.escape(key)}"]`);
    row?.scrollIntoView({ block: "center" });
    row?.querySelector<HTMLElement>("input, button")?.focus({ preventScroll: true });
  });
}

/** One for all changes. */
function SaveBar({ host }: { readonly host: SettingsHost }) {
  const [count, what] = describeChanges();
  const [mistaken] = wrong.value;
  const isConflict = newerView.value !== null;
  return (
    <div class="save" role="status">
      {changed.value.length > 0 && (
        <div class="save-in">
          {(isConflict || mistaken) && <Icon of="warn" />}
          {isConflict ? (
            <p>
              <b>config.json changed.</b> Reload, or keep yours.
            </p>
          ) : mistaken ? (
            <p>
              <b>
                {count}, {formatCount(wrong.value.length, "mistake")}.
              </b>{" "}
              Nothing is saved until it is valid.{" "}
              <button class="link u" type="button" onClick={() => focusSetting(mistaken)}>
                {mistaken.title}
              </button>
            </p>
          ) : (
            <p>
              <b>{count}</b>: {what}
            </p>
          )}
          <div class="end">
            <button class="btn" type="button" onClick={discard}>
              {isConflict ? "Reload" : "Discard"}
            </button>
            {isConflict ? (
              <button class="btn main" type="button" onClick={keepChanges}>
                Keep yours
              </button>
            ) : (
              <button class="btn main" type="button" disabled={!canSave.value} onClick={() => save(host)}>
                Save
                <kbd>Ctrl S</kbd>
              </button>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

/** The file can change, a channel can fail, while the panel is open. */
const reloadMs = 2_000;

function followFile(host: SettingsHost): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void load(host);
  }, reloadMs);
  const saveWithKey = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    void save(host);
  };
  const warn = (event: Event) => {
    if (changed.value.length > 0) event.preventDefault();
  };
  document.addEventListener("keydown", saveWithKey);
  addEventListener("beforeunload", warn);
  void load(host);
  return () => {
    clearInterval(timer);
    document.removeEventListener("keydown", saveWithKey);
    removeEventListener("beforeunload", warn);
  };
}

function Settings({ host }: { readonly host: SettingsHost }) {
  useEffect(() => followFile(host), [host]);
  const isLoaded = view.value !== null;
  // The address can name a section, which is there only now.
  useEffect(() => {
    if (isLoaded) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [isLoaded]);
  if (!isLoaded) return <p class="off">{loadProblem.value ?? "Loading…"}</p>;
  const shown = listSections();
  const filled = shown.filter(({ count }) => count > 0);
  const count = filled.reduce((sum, section) => sum + section.count, 0);
  return (
    <div class="set-page">
      <h1 class="hid">Settings</h1>
      <Nav shown={shown} />
      <div class="set-main">
        <Top count={count} host={host} />
        <Problems />
        {filled.map((section) => (
          <Section key={section.id} section={section} host={host} />
        ))}
        {words().length === 0 ? (
          <About />
        ) : (
          filled.length === 0 && (
            <p class="quiet set-none">
              Nothing found for “{cleanText(query.value)}”.{" "}
              <button class="link u" type="button" onClick={clearSearch}>
                Show all
              </button>
            </p>
          )
        )}
      </div>
      <SaveBar host={host} />
    </div>
  );
}

definePanel("beckon-settings", Settings);
