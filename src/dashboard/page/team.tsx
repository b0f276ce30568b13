/**
 * Team: who is blocked since when, by person and machine, and what the others see of you. A script of its own, with its styles: most
 * people are in no team.
 */
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { TeamMachine, TeamPerson, TeamView, TeamWait } from "../../core/interfaces/wire.ts";
import { formatCount } from "../../core/text/words.ts";
import { formatAge, formatExactDuration } from "../../core/view/figures.ts";
import type { callApi } from "./api.ts";
import { addStyle, definePanel } from "./define-panel.tsx";
import { cleanText, formatTime, noValue, startOfDay } from "./format.ts";
import {
  chooseDayRange,
  chooseLabels,
  createBars,
  createTicks,
  markWaits,
  placeOf,
  type Range,
} from "./spans.ts";
import style from "./team.css" with { type: "text" };
import { Icon, Pick } from "./ui.tsx";

/** What it needs of the page. */
export interface TeamHost {
  readonly callApi: typeof callApi;
}

addStyle(style);

const teams = signal<readonly TeamView[] | null>(null);
const chosen = signal("");
const showsAll = signal(false);
const now = signal(Date.now());
const slowNow = computed(() => Math.ceil(now.value / 5_000) * 5_000);

const refreshMs = 2_000;
const tickMs = 1_000;
/** More people than this are folded, as far as nothing of theirs waits. */
const maxRows = 16;
const rowHeight = 44;

async function refresh({ callApi }: TeamHost): Promise<void> {
  if (document.visibilityState !== "visible") return;
  const { status, body } = await callApi("/api/teams");
  if (status === 200) teams.value = (body as unknown as { readonly teams: readonly TeamView[] }).teams;
}

/** Shows it until the returned function is called. */
function follow(host: TeamHost): () => void {
  const load = () => void refresh(host);
  const timers = [
    setInterval(load, refreshMs),
    setInterval(() => {
      now.value = Date.now();
    }, tickMs),
  ];
  document.addEventListener("visibilitychange", load);
  now.value = Date.now();
  load();
  return () => {
    timers.forEach(clearInterval);
    document.removeEventListener("visibilitychange", load);
  };
}

function Duration({ since }: { readonly since: number }) {
  return <>{formatExactDuration(now.value - since)}</>;
}

/** A person with all of their machines. */
interface Row {
  readonly person: TeamPerson;
  readonly name: string;
  readonly waiting: number;
  readonly since: number | null;
  /** The machine whose agent has waited longest. */
  readonly blocked: TeamMachine | null;
  readonly isThere: boolean;
  readonly heardAt: number | null;
  readonly waits: readonly TeamWait[];
  readonly waitedMs: number;
}

const latest = (times: readonly (number | null)[]): number | null =>
  times.reduce((last, at) => (at !== null && (last === null || at > last) ? at : last), null);

/** Time in which at least one agent waited: waits at the same time count once. */
function sumWaits(waits: readonly TeamWait[], { from, to }: Range): number {
  let end = from;
  let sum = 0;
  for (const wait of waits.toSorted((a, b) => a.from - b.from)) {
    const stop = Math.min(wait.to ?? to, to);
    sum += Math.max(0, stop - Math.max(wait.from, end));
    end = Math.max(end, stop);
  }
  return sum;
}

function createRow(person: TeamPerson, day: Range): Row {
  const { machines } = person;
  const waiting = machines.filter(({ since }) => since !== null);
  const [blocked = null] = waiting.toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0));
  const waits = machines.flatMap((machine) => machine.waits).filter(({ to }) => to === null || to > day.from);
  return {
    person,
    name: person.isYou ? "You" : cleanText(person.name),
    waiting: machines.reduce((sum, machine) => sum + machine.waiting, 0),
    since: blocked?.since ?? null,
    blocked,
    isThere: machines.some((machine) => machine.isThere),
    heardAt: latest(machines.map(({ heardAt }) => heardAt)),
    waits,
    waitedMs: sumWaits(waits, day),
  };
}

/** Who has waited longest comes first, then those who are there, by name. */
const compareRows = (a: Row, b: Row): number =>
  (a.since ?? Number.POSITIVE_INFINITY) - (b.since ?? Number.POSITIVE_INFINITY) ||
  Number(b.isThere) - Number(a.isThere) ||
  a.name.localeCompare(b.name);

function Team({ host }: { readonly host: TeamHost }) {
  useEffect(() => follow(host), [host]);
  const all = teams.value;
  const team = all?.find(({ name }) => name === chosen.value) ?? all?.[0];
  if (!team) return <p class="off">{all === null ? "Loading…" : "This machine is in no team."}</p>;
  return (
    <div class="team" id="team">
      <h1 class="hid">Team</h1>
      <People team={team} names={all?.map(({ name }) => name) ?? []} />
      <Shared team={team} />
    </div>
  );
}

function People({ team, names }: { readonly team: TeamView; readonly names: readonly string[] }) {
  const time = slowNow.value;
  const day = { from: startOfDay(time), to: time };
  const rows = team.people.map((person) => createRow(person, day)).sort(compareRows);
  const spans = rows.flatMap(({ waits }) => waits);
  const range = chooseDayRange(
    spans.map(({ from }) => ({ from: Math.max(from, day.from) })),
    day,
  );
  const blocked = rows.filter(({ since }) => since !== null);
  const shown = showsAll.value ? rows : rows.slice(0, Math.max(maxRows, blocked.length));
  const rest = rows.length - shown.length;
  return (
    <section class="panel" aria-labelledby="h-team">
      <div class="panel-head">
        <h2 id="h-team">
          Team <span class="n">{rows.length}</span>
        </h2>
        {names.length > 1 ? (
          <Pick
            label="Team"
            value={team.name}
            options={names.map((name) => [name, cleanText(name)] as const)}
            onChange={(name) => {
              chosen.value = name;
            }}
          />
        ) : (
          <span class="quiet cut">{cleanText(team.name)}</span>
        )}
        <span class="end lvl">
          <Icon of="lock" />
          You share: <b>{team.share}</b>
        </span>
      </div>
      <div class="said">
        <p>{describeTeam(rows, blocked)}</p>
        <small>Blocked: an agent cannot go on until its user answers. Only that user can.</small>
      </div>
      <table class="tbl team-t">
        <colgroup>
          <col class="tc-p" />
          <col />
          <col class="tc-n" />
          <col class="tc-s" />
          <col class="tc-w" />
        </colgroup>
        <thead>
          <tr>
            <th>Person</th>
            <Axis range={range} />
            <th class="num">Waiting</th>
            <th>Blocked</th>
            <th class="num">Waited today</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <PersonRow key={row.person.name} row={row} range={range} />
          ))}
        </tbody>
      </table>
      <div class="foot">
        {rest > 0 || showsAll.value ? (
          <button
            class="link u"
            type="button"
            onClick={() => {
              showsAll.value = !showsAll.value;
            }}
          >
            {rest > 0 ? `Show ${rest} more, none of them is blocked` : "Show fewer"}
          </button>
        ) : (
          <span>Seen since {formatTime(Math.max(team.followedAt, day.from))}</span>
        )}
        <span class="end">End-to-end encrypted: the server sees neither names nor what waits</span>
      </div>
    </section>
  );
}

function describeTeam(rows: readonly Row[], blocked: readonly Row[]) {
  const people = formatCount(rows.length, "person", "people");
  const [longest] = blocked;
  if (!longest || longest.since === null) return `Nobody is blocked. ${people} in the team.`;
  return (
    <>
      {blocked.length} of {people} {blocked.length === 1 ? "is" : "are"} blocked, the longest for{" "}
      <em>
        <Duration since={longest.since} />
      </em>
    </>
  );
}

function Axis({ range }: { readonly range: Range }) {
  const nowX = placeOf(slowNow.value, range);
  return (
    <th class="lane axis">
      <span class="hid">Blocked today</span>
      <svg class="tl" aria-hidden="true">
        {chooseLabels(createTicks(range), 9, nowX).map(({ at, x }) => (
          <text key={at} x={`${x}%`} y="14" text-anchor={x < 2 ? "start" : "middle"}>
            {formatTime(at)}
          </text>
        ))}
        <text class="now-t" x={`${nowX}%`} y="14" text-anchor={nowX > 97 ? "end" : "middle"}>
          {formatTime(slowNow.value)}
        </text>
      </svg>
    </th>
  );
}

function PersonRow({ row, range }: { readonly row: Row; readonly range: Range }) {
  const { person, name, waiting, since, isThere, waitedMs } = row;
  const machines = person.machines.map((machine) => cleanText(machine.name)).join(", ");
  return (
    <tr class={isThere ? "" : "gone"}>
      <th scope="row">
        <div class="per">
          <span class="av" aria-hidden="true">
            {[...name][0]?.toUpperCase()}
          </span>
          <div>
            <div class="cut" title={cleanText(person.name)}>
              {name}
            </div>
            <div class="cut on" title={machines}>
              {machines}
            </div>
          </div>
        </div>
      </th>
      <td class="tl-c">
        <Waits row={row} range={range} />
      </td>
      <td class="num">{waiting === 0 ? <span class="quiet">{noValue}</span> : waiting}</td>
      <td class={since === null ? "bl quiet" : "bl"}>
        <Blocked row={row} />
      </td>
      <td class="num">{waitedMs === 0 ? <span class="quiet">{noValue}</span> : formatAge(waitedMs)}</td>
    </tr>
  );
}

function Blocked({ row: { since, blocked, isThere, heardAt, person } }: { readonly row: Row }) {
  if (since === null || blocked === null)
    return (
      <>
        {isThere
          ? "nothing waits"
          : heardAt === null
            ? "not heard of yet"
            : `not heard since ${formatTime(heardAt)}`}
      </>
    );
  const where = person.machines.length > 1 ? `on ${cleanText(blocked.name)}` : "";
  const what = [blocked.project, blocked.tool].flatMap((text) => (text === null ? [] : cleanText(text)));
  const detail = [where, ...what].filter((text) => text !== "").join(" · ");
  return (
    <>
      <div>
        <b>
          <Duration since={since} />
        </b>{" "}
        since {formatTime(since)}
      </div>
      {detail !== "" && (
        <div class="cut on" title={detail}>
          {detail}
        </div>
      )}
    </>
  );
}

const describeWait = ({ from, to }: Range): string =>
  `${formatAge(to - from)} · ${formatTime(from)}–${formatTime(to)}`;

function Waits({ row, range }: { readonly row: Row; readonly range: Range }) {
  const time = slowNow.value;
  const sorted = row.waits.toSorted((a, b) => a.from - b.from);
  const draw = (isOpen: boolean) => {
    const spans = sorted
      .filter(({ to }) => (to === null) === isOpen)
      .map((wait) => ({ ...wait, state: "waiting" as const }));
    return markWaits(createBars(spans, range, time), 0.6);
  };
  const shape = (isOpen: boolean) => (isOpen ? { y: 13, height: 18 } : { y: 18, height: 8 });
  const said = sorted.map(({ from, to }) => `${formatTime(from)} to ${to === null ? "now" : formatTime(to)}`);
  return (
    <svg class="tl" role="img" aria-label={`${row.name} was blocked: ${said.join(", ") || "never"}`}>
      {createTicks(range).map(({ at, x }) => (
        <line key={at} class="tick" x1={`${x}%`} x2={`${x}%`} y1="0" y2={rowHeight} />
      ))}
      {[false, true].flatMap((isOpen) =>
        draw(isOpen).map((mark) => (
          <rect
            key={`${isOpen} ${mark.from}`}
            class={isOpen ? "s-waiting" : "s-past"}
            x={`${mark.x}%`}
            width={`${mark.width}%`}
            {...shape(isOpen)}
            rx="2"
          >
            <title>{describeWait(mark)}</title>
          </rect>
        )),
      )}
      <line
        class="now"
        x1={`${placeOf(time, range)}%`}
        x2={`${placeOf(time, range)}%`}
        y1="-1"
        y2={rowHeight + 1}
      />
    </svg>
  );
}

function Shared({ team }: { readonly team: TeamView }) {
  const others = team.people.filter(({ isYou }) => !isYou).length;
  return (
    <section class="panel share-me" aria-labelledby="h-share">
      <div class="panel-head">
        <h2 id="h-share">What the others see of you</h2>
      </div>
      <div class="share-in">
        <dl>
          <div>
            <dt>Shared</dt>
            <dd>{team.shareWords}</dd>
          </div>
          <div>
            <dt>With</dt>
            <dd>
              {others === 0 ? "nobody yet" : formatCount(others, "other person", "other people")} in{" "}
              {cleanText(team.name)}
            </dd>
          </div>
          <div>
            <dt>To stop</dt>
            <dd>
              <code class="in">beckon fleet leave --fleet {cleanText(team.name)}</code>
            </dd>
          </div>
        </dl>
        {team.example !== null && (
          <figure>
            <figcaption class="quiet">
              One of your sessions as they get it; all other fields are empty
            </figcaption>
            <pre class="code">{formatExample(team.example)}</pre>
          </figure>
        )}
      </div>
    </section>
  );
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value as object).length === 0);

/** One field a line, without those that have no value. */
const formatExample = (json: string): string =>
  Object.entries(JSON.parse(json, (_, value) => (isEmpty(value) ? undefined : value)) as object)
    .map(([name, value]) => `${name}: ${JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ")}`)
    .join("\n");

definePanel("beckon-team", Team);
