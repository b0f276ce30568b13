/** History: a search over everything that happened. */
import { type HistoryItem, type HistoryKind, historyKinds } from "../../core/interfaces/wire.ts";
import { formatExactDuration } from "../../core/view/figures.ts";
import {
  cleanText,
  describeEnding,
  formatWhen,
  isAskKind,
  kindLabels,
  noValue,
  splitMatches,
} from "./format.ts";
import { openSession, searchFieldId } from "./navigation.ts";
import { filter, history, isSearching, searchMore, stats } from "./reports.ts";
import { facts, sessions, slowNow } from "./state.ts";
import { HistoryOff, Problem } from "./today.tsx";
import { Glyph, Icon } from "./ui.tsx";

const setFilter = (change: Partial<typeof filter.value>): void => {
  filter.value = { ...filter.value, ...change };
};

export function History() {
  const page = history.value;
  return (
    <section class="panel" id="history" aria-labelledby="h-his">
      <div class="panel-head">
        <h2 id="h-his">History</h2>
        {page?.enabled && (
          <span class="quiet" role="status">
            {isSearching.value
              ? "Searching…"
              : `${page.items.length} of ${page.total.toLocaleString("en")} ${page.total === 1 ? "event" : "events"}`}
          </span>
        )}
      </div>
      {page !== null && !page.enabled ? (
        <HistoryOff what="Nothing can be searched" />
      ) : (
        <>
          <Problem text={page?.problem} />
          <Sift />
          <Results />
        </>
      )}
    </section>
  );
}

function listProjects(): string[] {
  const known = stats.value?.projects.map(({ project }) => project) ?? [];
  const current = [...sessions.value.values()].flatMap(({ project }) => project ?? []);
  return [...new Set([...known, ...current])].sort((a, b) => a.localeCompare(b));
}

function Sift() {
  const { q, project, agent, kind } = filter.value;
  return (
    <div class="sift">
      <div class="find">
        <Icon of="search" />
        <input
          class="field"
          type="search"
          id={searchFieldId}
          aria-label="Search history by text"
          placeholder="Command, file, question, prompt"
          value={q}
          onInput={(event) => setFilter({ q: event.currentTarget.value })}
        />
        <kbd>/</kbd>
      </div>
      <Pick
        label="Project"
        value={project}
        any="Any project"
        options={listProjects().map((name) => [name, cleanText(name)])}
        onChange={(value) => setFilter({ project: value })}
      />
      <Pick
        label="Agent"
        value={agent}
        any="Any agent"
        options={Object.entries(facts.value?.agents ?? {})}
        onChange={(value) => setFilter({ agent: value })}
      />
      <Pick
        label="Kind"
        value={kind}
        any="Any kind"
        options={historyKinds.map((name) => [name, kindLabels[name]])}
        onChange={(value) => setFilter({ kind: value as HistoryKind | "" })}
      />
    </div>
  );
}

interface PickProps {
  readonly label: string;
  readonly value: string;
  readonly any: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Pick({ label, value, any, options, onChange }: PickProps) {
  return (
    <div class="pick">
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{any}</option>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      <Icon of="down" />
    </div>
  );
}

function Results() {
  const page = history.value;
  if (page === null) return <p class="off">Loading…</p>;
  if (page.items.length === 0) return <p class="off">{describeNothing()}</p>;
  return (
    <>
      <table class="tbl hist">
        <colgroup>
          <col class="t" />
          <col class="p" />
          <col />
          <col class="h" />
          <col class="d" />
        </colgroup>
        <thead>
          <tr>
            <th>When</th>
            <th>Project</th>
            <th>What</th>
            <th>How it was answered</th>
            <th class="num">Waited</th>
          </tr>
        </thead>
        <tbody>
          {page.items.map((item) => (
            <HistoryRow key={item.id} item={item} />
          ))}
        </tbody>
      </table>
      {page.next !== null && (
        <div class="more">
          <button class="btn sm" type="button" onClick={searchMore}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

/** "Nothing found for “npm” in checkout-api." */
function describeNothing(): string {
  const { q, project, agent, kind } = filter.value;
  if (q === "" && project === "" && agent === "" && kind === "") return "Nothing has happened yet.";
  const parts = [
    q === "" ? "" : ` for “${cleanText(q)}”`,
    project === "" ? "" : ` in ${cleanText(project)}`,
    agent === "" ? "" : `, ${facts.value?.agents[agent] ?? agent}`,
    kind === "" ? "" : `, ${kindLabels[kind]}`,
  ];
  return `Nothing found${parts.join("")}.`;
}

const glyphOf = ({ kind, how }: HistoryItem) => {
  if (kind === "failed") return "failed" as const;
  if (!isAskKind(kind)) return "ended" as const;
  return how === null ? ("needs_you" as const) : ("past" as const);
};

function HistoryRow({ item }: { readonly item: HistoryItem }) {
  const ending = describeEnding(item);
  const text = cleanText(item.text);
  const project = cleanText(item.project) || noValue;
  return (
    <tr>
      <td class="t">{formatWhen(item.at, slowNow.value)}</td>
      <td class="p">
        {sessions.value.has(item.key) ? (
          <button class="link cut" type="button" onClick={() => openSession(item.key)}>
            {project}
          </button>
        ) : (
          project
        )}
      </td>
      <td class="wh">
        <div class="what">
          <Glyph of={glyphOf(item)} />
          <span class="k">{kindLabels[item.kind]}</span>
          <code class="cut" title={text}>
            {splitMatches(text, filter.value.q).map((part, index) =>
              part.isMatch ? <mark key={index}>{part.text}</mark> : part.text,
            )}
          </code>
        </div>
      </td>
      <td class={ending === "" ? "h none" : "h"}>
        <div class="cut" title={ending}>
          {ending === "" ? <span class="quiet">{noValue}</span> : ending}
        </div>
      </td>
      <td class={item.waitedMs === null ? "d num none" : "d num"}>
        {item.waitedMs === null ? noValue : formatExactDuration(item.waitedMs)}
      </td>
    </tr>
  );
}
