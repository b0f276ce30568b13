/** How long agents waited for the user: today, by day and by project. */
import type { ComponentChildren } from "preact";
import { describeEnding } from "../../core/answers/words.ts";
import type { DayStats, ProjectStats, Stats } from "../../core/interfaces/wire.ts";
import { formatCount } from "../../core/text/words.ts";
import { formatAge, formatExactDuration, formatSpokenDuration } from "../../core/view/figures.ts";
import { describeAsk } from "../../core/view/moment-words.ts";
import { cleanText, formatTime, noValue } from "./format.ts";
import { nameOnMachine } from "./names.ts";
import { showMoment } from "./past.ts";
import { isFirstDay, recentAnswers, stats } from "./reports.ts";
import { withTip } from "./tip.tsx";
import { HistoryOff, Problem } from "./today.tsx";

export function Waited() {
  const loaded = stats.value;
  return (
    <section class="panel" id="waited" aria-labelledby="h-wait">
      <div class="panel-head">
        <h2 id="h-wait">Waited for you</h2>
      </div>
      {loaded === null ? (
        <p class="off">Loading…</p>
      ) : loaded.enabled ? (
        <Figures stats={loaded} />
      ) : (
        <HistoryOff what="Waiting times are not recorded" />
      )}
    </section>
  );
}

function Figures({ stats: { today, days, projects, problem } }: { readonly stats: Stats }) {
  const longest =
    today.longest &&
    `the longest ${formatExactDuration(today.longest.ms)} (${nameOnMachine(cleanText(today.longest.project), today.longest.key)}${today.longest.open ? ", still open" : ""})`;
  return (
    <>
      <Problem text={problem} />
      <div class="said">
        {today.asks === 0 ? (
          <p>No agent waited for you today</p>
        ) : (
          <p>
            Agents waited <em>{formatSpokenDuration(today.waitedMs)}</em> for you{" "}
            {isFirstDay.value ? "so far" : "today"}
            {today.medianMs !== null && `; median answer ${formatExactDuration(today.medianMs)}`}
          </p>
        )}
        <small>
          {today.asks > 0 && formatCount(today.asks, "ask")}
          {longest && today.longest && (
            <>
              , <MomentLink at={today.longest.from + today.longest.ms / 2}>{longest}</MomentLink>
            </>
          )}
          {today.asks > 0 && ". "}
          {today.byRules > 0 && `Your rules answered ${today.byRules} more at once. `}
          {isFirstDay.value
            ? "From tomorrow on, days are compared here."
            : "Sessions that waited at the same time count each."}
        </small>
      </div>
      {/* Bars of thirteen days before the first would say nothing. */}
      {isFirstDay.value ? (
        <FirstAsks />
      ) : (
        <div class="waited">
          <div>
            <Days days={days} />
          </div>
          <div>
            <Projects projects={projects} />
          </div>
        </div>
      )}
    </>
  );
}

/** Shows what was there at that moment. */
const MomentLink = ({ at, children }: { readonly at: number; readonly children: ComponentChildren }) => (
  <button class="link" type="button" title="Show that moment" onClick={() => showMoment(at)}>
    {children}
  </button>
);

/** On the first day: what was asked, how it ended and how long it waited. */
function FirstAsks() {
  const asks = recentAnswers.value;
  const most = Math.max(1, ...asks.map(({ waitedMs }) => waitedMs ?? 0));
  return (
    <ol class="first-asks">
      {asks.map(({ id, at, key, project, kind, text, how, where, detail, waitedMs }) => {
        const { subject, isCode } = describeAsk({ kind, text, how, isOpen: false });
        const { done, rest } = describeEnding(
          how ?? "dismissed",
          kind,
          where === "page" ? "this page" : where,
          detail ?? null,
        );
        const asked = cleanText(subject);
        return (
          <li key={id}>
            <MomentLink at={at + (waitedMs ?? 0) / 2}>
              <time>{formatTime(at)}</time>
            </MomentLink>
            <div class="cut">
              <b>{nameOnMachine(cleanText(project), key)}</b> {isCode ? <code>{asked}</code> : asked}
              <small class="cut">{cleanText(`${done} ${rest}`)}</small>
            </div>
            <svg aria-hidden="true">
              <rect width={`${((waitedMs ?? 0) / most) * 100}%`} height="6" rx="2" />
            </svg>
            <span class="num">{waitedMs === null ? "" : formatExactDuration(waitedMs)}</span>
          </li>
        );
      })}
    </ol>
  );
}

const chartHeight = 112;
const chartTop = 8;
const left = 6;

const minutesOf = (ms: number): number => Math.floor(ms / 60_000);

/** A round number above the highest bar. */
function chooseTop(minutes: number): number {
  const steps = [10, 20, 40, 60, 80, 120, 160, 240, 320, 480, 720, 960, 1_440];
  return steps.find((step) => step >= minutes) ?? Math.ceil(minutes / 480) * 480;
}

/** "2026-11-17" in local time. */
const parseDate = (date: string): Date => new Date(`${date}T12:00:00`);

const nameDay = (date: string): string =>
  parseDate(date).toLocaleDateString("en-GB", { weekday: "short", day: "numeric" });

function Days({ days }: { readonly days: readonly DayStats[] }) {
  const minutes = days.map(({ waitedMs }) => minutesOf(waitedMs));
  const top = chooseTop(Math.max(1, ...minutes));
  const step = (100 - left) / Math.max(1, days.length);
  const yOf = (value: number) => chartTop + chartHeight * (1 - value / top);
  const past = minutes.slice(0, -1);
  const average =
    past.length === 0 ? 0 : Math.round(past.reduce((total, value) => total + value, 0) / past.length);
  const spoken = days
    .map(({ date }, index) => `${index === days.length - 1 ? "Today" : nameDay(date)} ${minutes[index]}`)
    .join(", ");
  return (
    <>
      <h3 class="sub">
        <span>Minutes a day, last {days.length} days</span>
        {average > 0 && <span>average {average}</span>}
      </h3>
      <svg class="bars" role="img" aria-label={`Minutes that agents waited for you: ${spoken}`}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="gl" x1={`${left}%`} x2="100%" y1={yOf(value)} y2={yOf(value)} />
            <text x={`${left - 1.6}%`} y={yOf(value) + 4} text-anchor="end">
              {value}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          const value = minutes[index] ?? 0;
          const isToday = index === days.length - 1;
          const x = left + index * step + step * 0.15;
          const tip = {
            title: isToday ? "Today" : nameDay(day.date),
            lines: [
              `Agents waited ${formatSpokenDuration(day.waitedMs)} for you`,
              `${formatCount(day.asks, "ask")}${day.medianMs === null ? "" : ` · median answer ${formatExactDuration(day.medianMs)}`}`,
            ],
          };
          const height = day.waitedMs === 0 ? 0 : Math.max(1.5, (chartHeight * value) / top);
          return (
            <g key={day.date} {...withTip(tip)}>
              <rect
                class="hit"
                x={`${left + index * step}%`}
                width={`${step}%`}
                y={chartTop}
                height={chartHeight}
              />
              <rect
                class={isToday ? "v today" : "v"}
                x={`${x}%`}
                width={`${step * 0.7}%`}
                y={chartTop + chartHeight - height}
                height={height}
                rx="2"
              />
              {isToday && value > 0 && (
                <text class="today" x={`${x + step * 0.35}%`} y={yOf(value) - 5} text-anchor="middle">
                  {value}
                </text>
              )}
              <text
                class={isToday ? "today" : index === days.length - 2 ? "near" : ""}
                x={`${x + step * 0.35}%`}
                y="138"
                text-anchor="middle"
              >
                {isToday ? "Today" : parseDate(day.date).getDate()}
              </text>
            </g>
          );
        })}
      </svg>
    </>
  );
}

const projectsShown = 6;

/** Projects after the first few, as one. The median of medians would say nothing, so there is none. */
function joinOthers(projects: readonly ProjectStats[]): ProjectStats[] {
  if (projects.length <= projectsShown) return [...projects];
  const others = projects.slice(projectsShown - 1);
  const total = (pick: (project: ProjectStats) => number) =>
    others.reduce((sum, project) => sum + pick(project), 0);
  return [
    ...projects.slice(0, projectsShown - 1),
    {
      project: `${others.length} others`,
      waitedMs: total(({ waitedMs }) => waitedMs),
      todayMs: total(({ todayMs }) => todayMs),
      asks: total(({ asks }) => asks),
      tokens: total(({ tokens }) => tokens),
      medianMs: null,
      costUsd: null,
    },
  ];
}

function Projects({ projects }: { readonly projects: readonly ProjectStats[] }) {
  const rows = joinOthers(projects.filter(({ waitedMs, asks }) => waitedMs > 0 || asks > 0));
  const most = Math.max(1, ...rows.map(({ waitedMs }) => waitedMs));
  return (
    <>
      <h3 class="sub">
        <span>By project</span>
        <span class="legend">
          <span>
            <svg aria-hidden="true">
              <rect y="3" width="14" height="8" rx="2" class="s-today" />
            </svg>
            today
          </span>
        </span>
      </h3>
      {rows.length === 0 ? (
        <p class="quiet">No agent has waited for you in these days.</p>
      ) : (
        <table class="pt">
          <thead>
            <tr>
              <th class="p">Project</th>
              <th>
                <span class="hid">Share</span>
              </th>
              <th class="num m">Waited</th>
              <th class="num a">Asks</th>
              <th class="num m">Median</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ project, waitedMs, todayMs, asks, medianMs }) => (
              <tr key={project}>
                <th scope="row" class="p cut" title={cleanText(project)}>
                  {cleanText(project)}
                </th>
                <td>
                  <svg aria-hidden="true">
                    <rect width={`${(waitedMs / most) * 100}%`} height="8" rx="2" />
                    <rect class="t" width={`${(todayMs / most) * 100}%`} height="8" rx="2" />
                  </svg>
                </td>
                <td class="num m">{formatAge(waitedMs)}</td>
                <td class="num a">{asks}</td>
                <td class="num m">{medianMs === null ? noValue : formatExactDuration(medianMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
