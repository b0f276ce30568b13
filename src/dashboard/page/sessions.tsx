/** The table of sessions: by group, with their subagents. */

import { signal } from "@preact/signals";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import { formatAge, formatCost, formatTokens, sumTokens } from "../../core/view/figures.ts";
import { formatGroupCount, type Group, groups, nameGroup } from "../../core/view/group-names.ts";
import { formatQuotas, listQuotas } from "../../core/view/quotas.ts";
import type { ChildView, SessionView } from "../../core/view/session-view.ts";
import { focusSession } from "./actions.ts";
import {
  branchOf,
  cleanText,
  contextPercent,
  describeActivity,
  describeLastMessage,
  formatComing,
  formatModel,
  formatTime,
  noValue,
} from "./format.ts";
import { isNew } from "./looked.ts";
import {
  Host,
  isByMachine,
  isNarrowed,
  isOnChosen,
  listByMachine,
  listLost,
  MachineChoice,
  MachineHead,
  type MachineSessions,
  shapeOf,
  showAllMachines,
} from "./machines.tsx";
import { memo } from "./memo.ts";
import { labelSession } from "./names.ts";
import { openSession } from "./navigation.ts";
import { stats } from "./reports.ts";
import {
  agentName,
  isLive,
  isPastShown,
  moment,
  selectedId,
  shownCount,
  shownInGroup,
  shownSessions,
  slowNow,
} from "./state.ts";
import { Age, Dots, Duration, Glyph, Icon } from "./ui.tsx";
import { hasWorkNotes, WorkMarks, WorkNotes } from "./work-notes.tsx";

/** From this many sessions on, each has one line. */
const manySessions = 40;
const readyAtFirst = 12;
/** Of a machine; those that wait or have failed are always shown. */
const onMachineAtFirst = 10;
const childrenAtFirst = 6;

/** Groups that the user has opened, or of which they see everything. */
const opened = signal<ReadonlySet<Group>>(new Set());
/** Machines of which the user sees everything. */
const openedMachines = signal<ReadonlySet<string | null>>(new Set());
/** Show only this group. */
const only = signal<Group | null>(null);
const filterText = signal("");

const closedAtFirst: ReadonlySet<Group> = new Set(["set_aside", "ended"]);
const inChips: readonly Group[] = ["needs_you", "failed", "working", "ready"];

const open = (group: Group): void => {
  opened.value = new Set(opened.value).add(group);
};

const close = (group: Group): void => {
  opened.value = new Set([...opened.value].filter((other) => other !== group));
};

function matchesFilter(session: SessionView): boolean {
  if (!isOnChosen(session)) return false;
  const words = filterText.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const label = labelSession(session);
  const { lead, text } = describeActivity(session);
  const haystack = [
    label.project,
    label.detail,
    session.gitBranch,
    session.title,
    lead,
    text,
    agentName(session.provider),
    session.model,
    session.machine,
    session.port?.id,
    session.port?.title,
    nameGroup(session.group, isPastShown.value),
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => haystack.includes(word));
}

export function Sessions() {
  const count = shownCount.value;
  const isMany = count >= manySessions;
  const hasTasks = [...shownSessions.value.values()].some(({ tasks }) => tasks !== null);
  const isFiltered = filterText.value !== "" || only.value !== null || isNarrowed.value;
  const shown = groups.filter((group) => only.value === null || only.value === group);
  const matching = new Map(shown.map((group) => [group, shownInGroup(group).filter(matchesFilter)]));
  const hasAny = [...matching.values()].some((list) => list.length > 0);
  const machines = isByMachine.value ? listByMachine([...matching.values()].flat()) : null;
  const inGroups = machines ? shown.filter((group) => group === "ended") : shown;
  return (
    <section class={isMany ? "panel many" : "panel"} id="sessions" aria-labelledby="h-ses">
      <div class="panel-head">
        <h2 id="h-ses">
          Sessions{moment.value !== null && ` at ${formatTime(moment.value.at)}`}{" "}
          <span class="n">{count}</span>
        </h2>
        <div class="end">
          <Chips />
          <MachineChoice />
        </div>
      </div>
      {isMany && <Sift />}
      <table class={hasTasks ? "tbl ses" : "tbl ses no-tasks"}>
        <colgroup>
          <col class="c-g" />
          <col class="c-s" />
          <col />
          <col class="c-t" />
          <col class="c-c" />
          <col class="c-m" />
          <col class="c-w" />
        </colgroup>
        <thead>
          <tr>
            <th>
              <span class="hid">State</span>
            </th>
            <th>Session</th>
            <th>What it does, and its last message</th>
            <th class="num ta">Tasks</th>
            <th class="num">Context</th>
            <th class="num">Cost</th>
            <th class="num c-w">Since</th>
          </tr>
        </thead>
        {machines
          ?.filter(({ list }) => list.length > 0 || !isFiltered)
          .map((machine) => (
            <MachineRows key={machine.name ?? ""} {...machine} isMany={isMany} isFiltered={isFiltered} />
          ))}
        {inGroups.map((group) => {
          const list = matching.get(group) ?? [];
          return list.length === 0 ? null : (
            <GroupRows key={group} group={group} list={list} isMany={isMany} isFiltered={isFiltered} />
          );
        })}
        {!machines && listLost().length > 0 && (
          <tbody>
            {listLost().map((name) => (
              <MachineHead key={name ?? ""} name={name} list={[]} />
            ))}
          </tbody>
        )}
        {!hasAny && (!machines || isFiltered) && (
          <tbody>
            <tr>
              <td colSpan={7} class="nothing">
                {count > 0
                  ? "No session matches."
                  : isPastShown.value
                    ? "No sessions then."
                    : "No sessions now. Start an agent, and it appears here."}
                {isFiltered && (
                  <button
                    class="btn sm"
                    type="button"
                    onClick={() => {
                      filterText.value = "";
                      only.value = null;
                      showAllMachines();
                    }}
                  >
                    Show all
                  </button>
                )}
              </td>
            </tr>
          </tbody>
        )}
      </table>
      <Foot />
    </section>
  );
}

function Chips() {
  return (
    <fieldset class="chips" aria-label="Show only">
      {inChips.map((group) => {
        const count = shownInGroup(group).length;
        if (count === 0) return null;
        const isOnly = only.value === group;
        const [number, ...label] = formatGroupCount(group, count, isPastShown.value).split(" ");
        return (
          <button
            key={group}
            class="chip"
            type="button"
            aria-pressed={isOnly}
            onClick={() => {
              only.value = isOnly ? null : group;
            }}
          >
            <Glyph of={group} />
            <span>
              <b>{number}</b> {label.join(" ")}
            </span>
          </button>
        );
      })}
    </fieldset>
  );
}

const shareHeights: Readonly<Partial<Record<Group, number>>> = {
  needs_you: 8,
  failed: 8,
  working: 8,
  ready: 4,
};

/** A filter, and how the sessions divide: for lists that do not fit on a screen. */
function Sift() {
  const total = shownSessions.value.size;
  let x = 0;
  const parts = groups.flatMap((group) => {
    const count = shownInGroup(group).length;
    const part = { group, count, x, width: (count / total) * 100 };
    x += part.width;
    return count === 0 ? [] : [part];
  });
  return (
    <div class="share-at">
      <div class="find sift-ses">
        <Icon of="search" />
        <input
          class="field"
          type="search"
          aria-label="Filter sessions"
          placeholder="Filter by project, branch, tool or text"
          value={filterText.value}
          onInput={(event) => {
            filterText.value = event.currentTarget.value;
          }}
        />
      </div>
      <svg
        class="share"
        role="img"
        aria-label={parts
          .map(({ group, count }) => formatGroupCount(group, count, isPastShown.value))
          .join(", ")}
      >
        {parts.map(({ group, x: left, width }) => {
          const height = shareHeights[group] ?? 2;
          return (
            <rect
              key={group}
              class={`s-${group}`}
              x={`${left}%`}
              width={`${Math.max(0.2, width - 0.2)}%`}
              y={(8 - height) / 2}
              height={height}
            />
          );
        })}
      </svg>
    </div>
  );
}

interface MachineRowsProps extends MachineSessions {
  readonly isMany: boolean;
  readonly isFiltered: boolean;
}

const isUrgent = ({ group }: SessionView): boolean =>
  group === "needs_you" || group === "failed" || group === "set_aside";

function MachineRows({ name, list, isMany, isFiltered }: MachineRowsProps) {
  const isOpened = openedMachines.value.has(name) || isFiltered;
  const limit = Math.max(onMachineAtFirst, list.filter(isUrgent).length);
  // "Show 1 more" would take as much room as the session itself.
  const shown = isOpened || list.length <= limit + 1 ? list : list.slice(0, limit);
  return (
    <tbody>
      <MachineHead name={name} list={list} />
      {shown.map((session) => (
        <SessionRowOf key={viewKeyOf(session)} session={session} isMany={isMany} />
      ))}
      {shown.length < list.length && (
        <tr>
          <td colSpan={7} class="more">
            <button
              class="btn sm"
              type="button"
              onClick={() => {
                openedMachines.value = new Set(openedMachines.value).add(name);
              }}
            >
              Show {list.length - shown.length} more, none of them {isPastShown.value ? "waited" : "waits"}
            </button>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function SessionRowOf({ session, isMany }: { readonly session: SessionView; readonly isMany: boolean }) {
  const { project, detail, machine } = labelSession(session);
  const key = viewKeyOf(session);
  return (
    <SessionRow
      session={session}
      isSelected={selectedId.value === key}
      isNew={!isPastShown.value && isNew(session)}
      isMany={isMany}
      isLive={isLive.value && !isPastShown.value}
      agent={agentName(session.provider)}
      project={project}
      detail={detail}
      machine={isByMachine.value ? null : machine}
      // The head of its machine says why it is not reachable.
      silence={isByMachine.value && !session.reachable ? null : (session.silence ?? null)}
    />
  );
}

interface GroupRowsProps {
  readonly group: Group;
  readonly list: readonly SessionView[];
  readonly isMany: boolean;
  readonly isFiltered: boolean;
}

function GroupRows({ group, list, isMany, isFiltered }: GroupRowsProps) {
  const isOpened = opened.value.has(group);
  const isClosed = closedAtFirst.has(group) && !isOpened && !isFiltered;
  const limit = group === "ready" && isMany && !isOpened && !isFiltered ? readyAtFirst : list.length;
  const shown = isClosed ? [] : list.slice(0, limit);
  const label = nameGroup(group, isPastShown.value);
  return (
    <tbody>
      <tr class="grp">
        <th colSpan={7} scope="rowgroup">
          <div>
            <Glyph of={group} />
            <span>{capitalize(label)}</span>
            <span class="n">{list.length}</span>
            {isClosed && <span class="n cut">{describeClosed(group, list)}</span>}
            {closedAtFirst.has(group) && !isFiltered && (
              <button
                type="button"
                aria-expanded={isOpened}
                onClick={() => (isOpened ? close(group) : open(group))}
              >
                {isOpened ? "Hide" : "Show"}
                <span class="hid"> {label}</span>
              </button>
            )}
          </div>
        </th>
      </tr>
      {shown.map((session) => (
        <SessionRowOf key={viewKeyOf(session)} session={session} isMany={isMany} />
      ))}
      {shown.length > 0 && shown.length < list.length && (
        <tr>
          <td colSpan={7} class="more">
            <button class="btn sm" type="button" onClick={() => open(group)}>
              Show {list.length - shown.length} more that are {label}
            </button>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function describeClosed(group: Group, list: readonly SessionView[]): string {
  const [first] = list;
  if (!first) return "";
  const { project } = labelSession(first);
  return group === "set_aside"
    ? `${project}, ${first.silence ?? ""}${list.length > 1 ? ", …" : ""}`
    : `last: ${project}`;
}

function describeDetail({ gitBranch }: SessionView, detail: string): string {
  const branch = branchOf(gitBranch);
  return branch === "" || branch === detail ? detail : `${detail}, branch ${branch}`;
}

interface SessionRowProps {
  readonly session: SessionView;
  readonly isSelected: boolean;
  readonly isNew: boolean;
  readonly isMany: boolean;
  readonly isLive: boolean;
  readonly agent: string;
  readonly project: string;
  readonly detail: string;
  /** null if it need not be said. */
  readonly machine: string | null;
  readonly silence: string | null;
}

/** Drawn again only if its session changes: a list of 200 stays cheap. */
const SessionRow = memo(
  ({
    session,
    isSelected,
    isNew: isMarkedNew,
    isMany,
    isLive: canAct,
    agent,
    project,
    detail,
    machine,
    silence,
  }: SessionRowProps) => {
    const key = viewKeyOf(session);
    const isCarded = session.group === "needs_you";
    const { reachable } = session;
    const classes = [
      "row",
      isCarded ? "carded" : "",
      session.group === "ended" ? "dim" : "",
      reachable ? "" : "far",
    ].join(" ");
    const children = isMany
      ? []
      : session.children.filter(
          ({ state }) => state === "running" || isCarded || session.group === "working",
        );
    return (
      <>
        <tr
          class={classes}
          data-id={key}
          tabIndex={-1}
          aria-current={isSelected ? "true" : undefined}
          onPointerDown={() => {
            selectedId.value = key;
          }}
        >
          <td class="gl">
            <Glyph of={shapeOf(session)} isSpoken isLost={!reachable} />
          </td>
          <th scope="row" class="se">
            <div class="two">
              <div class="l1">
                <button
                  class="link"
                  type="button"
                  title={cleanText(session.title) || undefined}
                  onClick={() => openSession(key)}
                >
                  {project}
                </button>
                <span class="branch" title={describeDetail(session, detail)}>
                  {detail}
                </span>
                <Host machine={machine} />
                {isMarkedNew && (
                  <span class="new" title="Finished since you last looked">
                    new
                  </span>
                )}
              </div>
              <Dots
                class="l2 agent cut"
                before={<Host machine={machine} />}
                parts={[
                  reachable ? null : silence,
                  agent,
                  formatModel(session.model),
                  session.port ? `port ${cleanText(session.port.id)}` : null,
                  reachable ? silence : null,
                ]}
              />
            </div>
          </th>
          <td class="dg">
            <Activity session={session} isOneLine={isMany || isCarded} />
          </td>
          <td class="ta num">
            <Tasks tasks={session.tasks} />
          </td>
          <td class="cx num">
            <Context context={session.context} />
          </td>
          <td class="mo num">
            <Cost session={session} />
          </td>
          <td class={isCarded ? "w num need" : "w num"}>
            <Since session={session} />
            {session.group !== "ended" && reachable && !isPastShown.value && (
              <button
                class="btn sm row-go"
                type="button"
                tabIndex={-1}
                data-do="go"
                aria-label="Go to terminal"
                disabled={!canAct}
                onClick={() => focusSession(key)}
              >
                Terminal
              </button>
            )}
          </td>
        </tr>
        {children.slice(0, childrenAtFirst).map((child) => (
          <ChildRow
            key={child.agentId}
            child={child}
            hasAsk={session.asks.some(({ agentId }) => agentId === child.agentId)}
          />
        ))}
        {children.length > childrenAtFirst && (
          <tr class="row kid">
            <td class="gl" />
            <td class="se" colSpan={6}>
              <div class="twig">
                <button class="link" type="button" onClick={() => openSession(key)}>
                  {children.length - childrenAtFirst} more subagents
                </button>
              </div>
            </td>
          </tr>
        )}
      </>
    );
  },
);

function Since({ session: { group, since, unreachableSince } }: { readonly session: SessionView }) {
  // It stood still for us when its machine was lost.
  if (unreachableSince !== undefined) return <>{formatAge(Math.max(0, unreachableSince - since))} then</>;
  return group === "needs_you" ? <Duration since={since} /> : <Age since={since} />;
}

/** What the session does, and its last message. */
function Activity({ session, isOneLine }: { readonly session: SessionView; readonly isOneLine: boolean }) {
  const activity = describeActivity(session);
  const isPlain = activity.lead === "";
  const dangers = session.asks.flatMap((ask) => ask.dangers ?? []).map(cleanText);
  const lastMessage = describeLastMessage(session);
  return (
    <div class="two">
      <div class={isPlain ? "do cut quiet" : "do cut"} title={`${activity.lead} ${activity.text}`.trim()}>
        {session.evidence === "inferred" && (
          <span class="sure" title="Inferred: no status file or report of the agent proves it">
            ≈<span class="hid"> inferred </span>
          </span>
        )}
        {dangers.length > 0 && (
          <span class="risky" title={dangers.join("\n")}>
            <Icon of="warn" />
            <span class="hid">dangerous: </span>
          </span>
        )}
        {isOneLine && <WorkMarks session={session} />}
        {!isPlain && <b class={activity.isFailure ? "why-fail" : ""}>{activity.lead}</b>} {activity.text}
      </div>
      {hasWorkNotes(session) && !isOneLine ? (
        <WorkNotes session={session} />
      ) : (
        <div class="l2 cut" title={lastMessage}>
          {lastMessage}
        </div>
      )}
      <div class="l2 dots phone-only">
        {session.tasks && (
          <span>
            {session.tasks.done}/{session.tasks.total} tasks
          </span>
        )}
        {contextPercent(session.context) !== null && <span>{contextPercent(session.context)}% context</span>}
        {session.costUsd != null && <span>{formatCost(session.costUsd)}</span>}
      </div>
    </div>
  );
}

const stateOfChild = ({ state }: ChildView, hasAsk: boolean): Group =>
  hasAsk ? "needs_you" : state === "running" ? "working" : "ended";

function ChildRow({ child, hasAsk }: { readonly child: ChildView; readonly hasAsk: boolean }) {
  const name = cleanText(child.name) || "Subagent";
  const tokens = child.tokens && sumTokens(child.tokens);
  return (
    <tr class="row kid">
      <td class="gl" />
      <th scope="row" class="se">
        <div class="twig">
          <Glyph of={stateOfChild(child, hasAsk)} isSpoken />
          <span class="cut" title={name}>
            {name}
          </span>
        </div>
      </th>
      <td class="dg">
        <div class="cut" title={cleanText(child.detail)}>
          {cleanText(child.detail)}
        </div>
      </td>
      <td class="ta" />
      <td class="cx" />
      <td class="mo num">{tokens === null ? "" : formatTokens(tokens)}</td>
      <td class={hasAsk ? "w num need" : "w num"}>
        <Age since={child.startedAt} />
      </td>
    </tr>
  );
}

const Missing = ({ why }: { readonly why: string }) => (
  <span class="quiet" title={why}>
    {noValue}
  </span>
);

const pipsWidth = 52;
const maxPips = 13;

function Tasks({ tasks }: { readonly tasks: SessionView["tasks"] }) {
  if (!tasks) return <Missing why="It has no list of tasks" />;
  const { done, total } = tasks;
  const gap = 1.5;
  const width = (pipsWidth - gap * (total - 1)) / total;
  return (
    <>
      {done}/{total}
      <svg class="pips" aria-hidden="true">
        {total <= maxPips ? (
          Array.from({ length: total }, (_, index) => (
            <rect
              key={index}
              class={index < done ? "on" : ""}
              x={index * (width + gap)}
              width={width}
              height="4"
              rx="1"
            />
          ))
        ) : (
          <>
            <rect width={pipsWidth} height="4" rx="2" />
            <rect class="on" width={(done / total) * pipsWidth} height="4" rx="2" />
          </>
        )}
      </svg>
    </>
  );
}

const fullPercent = 85;

function Context({ context }: { readonly context: SessionView["context"] }) {
  const percent = contextPercent(context);
  if (percent === null || !context) return <Missing why="The agent has not reported its context" />;
  const isFull = percent >= fullPercent;
  const title = `${formatTokens(context.used)} of ${formatTokens(context.window ?? 0)} tokens${isFull ? ": it compacts soon" : ""}`;
  return (
    <div class={isFull ? "full" : ""} title={title}>
      {percent}%
      <svg class="ctx" aria-hidden="true">
        <rect class="track" width={pipsWidth} height="4" rx="2" />
        <rect class="used" width={(percent / 100) * pipsWidth} height="4" rx="2" />
      </svg>
    </div>
  );
}

function Cost({ session }: { readonly session: SessionView }) {
  const tokens = session.tokens && sumTokens(session.tokens);
  return (
    <div class="two">
      <div>
        {session.costUsd == null ? (
          <Missing why={tokens === null ? "No usage is known yet" : "The price of its model is unknown"} />
        ) : (
          formatCost(session.costUsd)
        )}
      </div>
      <div class="l2">{tokens === null ? "" : formatTokens(tokens)}</div>
    </div>
  );
}

/** How much of the user's quotas is used, a line per account. */
function describeQuotas(): readonly string[] {
  const at = moment.value?.at ?? slowNow.value;
  const reports = [...shownSessions.value.values()].map(({ provider, machine, rateLimits }) => ({
    agent: provider,
    machine,
    rateLimits,
  }));
  const formatReset = (resetsAt: number) => formatComing(resetsAt, at);
  return formatQuotas(listQuotas(reports, at), { agentName, formatTime: formatReset }).map(cleanText);
}

function Foot() {
  const today = stats.value?.enabled && !isPastShown.value ? stats.value.today : null;
  const hasInferred = [...shownSessions.value.values()].some(
    ({ evidence, group }) => evidence === "inferred" && group !== "ended",
  );
  const hasTokens = today !== null && today.tokens > 0;
  const lost = [...shownSessions.value.values()].filter(({ reachable }) => !reachable).length;
  const quotas = describeQuotas();
  if (!hasInferred && !hasTokens && lost === 0 && quotas.length === 0) return null;
  return (
    <div class="foot">
      {hasInferred && (
        <span>
          <span class="sure">≈</span> inferred; everything else is proven
        </span>
      )}
      {lost > 0 && <span>{formatCount(lost, "session")} as last known</span>}
      {quotas.map((line) => (
        <span key={line} class="quota">
          {line}
        </span>
      ))}
      {hasTokens && (
        <span class="end">
          Today: {formatTokens(today.tokens)} tokens
          {today.costUsd === null ? "" : `, ${formatCost(today.costUsd, today.isCostPartial)} at list price`}
        </span>
      )}
    </div>
  );
}
