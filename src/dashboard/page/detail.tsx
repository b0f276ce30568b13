/** Everything about one session, in a panel at the side. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { HistoryItem, HistoryPage } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import {
  formatAge,
  formatCost,
  formatExactDuration,
  formatTokens,
  sumTokens,
} from "../../core/view/figures.ts";
import { groupLabels } from "../../core/view/group-names.ts";
import { describeMoment } from "../../core/view/moment-words.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { isAskKind } from "../../core/view/story.ts";
import {
  copyText,
  dismissSession,
  endSnooze,
  focusSession,
  muteSession,
  openTranscript,
  snoozeSession,
} from "./actions.ts";
import { AskBody } from "./cards.tsx";
import {
  branchOf,
  cleanLines,
  cleanText,
  contextPercent,
  describeEnding,
  formatModel,
  formatTime,
  formatWhen,
  noValue,
} from "./format.ts";
import { Host, shapeOf } from "./machines.tsx";
import { labelSession } from "./names.ts";
import { closeSession } from "./navigation.ts";
import { NextPrompt } from "./next-prompt.tsx";
import { lanes, loadSessionHistory } from "./reports.ts";
import { chooseDayRange } from "./spans.ts";
import { agentName, isLive, openAsks, openedKey, sessions, slowNow } from "./state.ts";
import { LaneChart } from "./today.tsx";
import { Age, Dots, Duration, Glyph, Icon } from "./ui.tsx";
import { hasWorkNotes, WorkNotes } from "./work-notes.tsx";

export function Detail() {
  const key = openedKey.value;
  const session = key === null ? undefined : sessions.value.get(key);
  return session ? <Panel key={key} session={session} /> : null;
}

function Panel({ session }: { readonly session: SessionView }) {
  const key = viewKeyOf(session);
  const closeButton = useRef<HTMLButtonElement>(null);
  useEffect(() => closeButton.current?.focus({ preventScroll: true }), []);
  const { project, detail, machine } = labelSession(session);
  const branch = branchOf(session.gitBranch);
  const label = groupLabels[session.group];
  const evidence =
    session.evidence === "proven" ? "proven" : session.evidence === "inferred" ? "inferred" : "";
  const asks = openAsks.value.filter((ask) => ask.key === key);
  return (
    <aside class="side" aria-labelledby="h-side">
      <div class="side-head">
        <div class="side-line">
          <span class={`state of-${session.group}`}>
            <Glyph of={session.group} />
            {session.reachable ? capitalize(label) : `Was ${groupLabels[shapeOf(session)]}`}
          </span>
          <span class="quiet cut">
            {session.reachable && (
              <>
                for <Duration since={session.since} />
              </>
            )}
            {session.reachable && evidence !== "" && ` · ${evidence}`}
            {session.silence !== undefined && `${session.reachable ? " · " : ""}${session.silence}`}
          </span>
          <div class="end">
            <button
              class="btn bare sq"
              type="button"
              ref={closeButton}
              aria-label="Close"
              title="Close (Esc)"
              onClick={closeSession}
            >
              <Icon of="close" />
            </button>
          </div>
        </div>
        <div>
          <div class="side-line">
            <h2 id="h-side" class="cut">
              {project}
            </h2>
            <span class="branch">{branch}</span>
            {detail !== branch && <span class="quiet cut">{detail}</span>}
          </div>
          {session.title !== null && <p>“{cleanText(session.title)}”</p>}
          {session.port !== null && (
            <p>
              Port {cleanText(session.port.id)}: {cleanText(session.port.title)}, for{" "}
              <Duration since={session.port.since} />
            </p>
          )}
        </div>
        <Dots
          class="quiet wrap"
          parts={[
            agentName(session.provider),
            formatModel(session.model),
            session.terminal,
            session.permissionMode == null || session.permissionMode === "default"
              ? null
              : cleanText(session.permissionMode),
            `${formatCount(session.turnCount, "turn")} since ${formatTime(session.startedAt)}`,
            session.sessionId.slice(0, 8),
          ]}
        >
          <Host machine={machine} />
        </Dots>
        <Actions session={session} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to scroll it */}
      <section class="side-body" tabIndex={0} aria-label={`Details of ${project}`}>
        {asks.map((ask) => (
          <div class="part now-asked" key={ask.id}>
            <AskBody card={ask} hasPlaces={false} />
          </div>
        ))}
        {hasWorkNotes(session) && (
          <div class="part work-notes">
            <WorkNotes session={session} />
          </div>
        )}
        <Facts session={session} />
        <Timeline sessionKey={key} />
        <Tree session={session} />
        <LastTurn session={session} />
        <Events sessionKey={key} lastEventAt={session.lastEventAt} />
      </section>
      <NextPrompt session={session} />
    </aside>
  );
}

function Actions({ session }: { readonly session: SessionView }) {
  const key = viewKeyOf(session);
  const isOff = !isLive.value;
  const isSnoozed = session.silenceKind === "snoozed";
  const isMuted = session.silenceKind === "muted";
  return (
    <div class="side-line acts">
      {session.group !== "ended" && session.reachable && (
        <>
          <button class="btn main" type="button" disabled={isOff} onClick={() => focusSession(key)}>
            Go to terminal
          </button>
          <button
            class="btn"
            type="button"
            disabled={isOff}
            onClick={() => (isSnoozed ? endSnooze(key) : snoozeSession(key))}
          >
            {isSnoozed ? "End snooze" : "Snooze"}
          </button>
          <button class="btn" type="button" disabled={isOff} onClick={() => muteSession(key, !isMuted)}>
            {isMuted ? "Unmute" : "Mute"}
          </button>
          {(session.group === "needs_you" || session.group === "failed") && (
            <button class="btn" type="button" disabled={isOff} onClick={() => dismissSession(key)}>
              Dismiss
            </button>
          )}
        </>
      )}
      {session.attach !== null && (
        <button
          class="btn bare"
          type="button"
          title={session.attach}
          onClick={() => copyText(session.attach ?? "", "Copied. Run it in a terminal.")}
        >
          Copy attach command
        </button>
      )}
      {session.transcriptPath !== null && (
        <button class="btn bare" type="button" disabled={isOff} onClick={() => openTranscript(key)}>
          Open transcript
        </button>
      )}
      <button
        class="btn bare"
        type="button"
        onClick={() => copyText(session.sessionId, "The session's id is copied.")}
      >
        Copy id
      </button>
    </div>
  );
}

function Facts({ session }: { readonly session: SessionView }) {
  const { context, tokens, costUsd } = session;
  const percent = contextPercent(context);
  const total = tokens && sumTokens(tokens);
  const lane = lanes.value?.lanes.find(({ key }) => key === viewKeyOf(session));
  const waits = lane?.spans.filter(({ state }) => state === "waiting").length ?? 0;
  const cached = tokens?.cacheRead ?? 0;
  return (
    <div class="part">
      <dl class="facts">
        <div>
          <dt>Context</dt>
          <dd>
            {percent === null ? noValue : `${percent}%`}
            <small>
              {context?.window
                ? `${formatTokens(context.used)} of ${formatTokens(context.window)}`
                : "not reported"}
            </small>
          </dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>
            {total === null ? noValue : formatTokens(total)}
            <small>{total === null ? "not known yet" : `${formatTokens(cached)} from cache`}</small>
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>
            {costUsd == null ? noValue : formatCost(costUsd)}
            <small>{costUsd == null ? "price unknown" : "at list price"}</small>
          </dd>
        </div>
        <div>
          <dt>Waited for you</dt>
          <dd>
            {lane ? (lane.waitedMs > 0 ? formatAge(lane.waitedMs) : "0s") : noValue}
            <small>{lane ? `${formatCount(waits, "time")} today` : "not recorded"}</small>
          </dd>
        </div>
      </dl>
    </div>
  );
}

function Timeline({ sessionKey }: { readonly sessionKey: string }) {
  const loaded = lanes.value;
  const lane = loaded?.lanes.find(({ key }) => key === sessionKey);
  if (!loaded || !lane) return null;
  const range = chooseDayRange(lane.spans, { from: loaded.from, to: slowNow.value });
  return (
    <div class="part">
      <h3>
        <span>Today</span>
        <span class="quiet">
          {formatTime(range.from)}–{formatTime(range.to)}
        </span>
      </h3>
      <LaneChart lane={lane} range={range} />
    </div>
  );
}

const taskLabels = { completed: "done", in_progress: "in progress", pending: "not started" } as const;

function Tree({ session }: { readonly session: SessionView }) {
  const { children, tasks, asks } = session;
  const running = children.filter(({ state }) => state === "running").length;
  return (
    <>
      {children.length > 0 && (
        <div class="part">
          <h3>
            <span>Subagents</span>
            <span class="quiet">
              {running} working, {children.length - running} ended
            </span>
          </h3>
          <div class="tree">
            <ul>
              {children.map((child) => {
                const total = child.tokens && sumTokens(child.tokens);
                const hasAsk = asks.some(({ agentId }) => agentId === child.agentId);
                return (
                  <li key={child.agentId}>
                    <Glyph
                      of={hasAsk ? "needs_you" : child.state === "running" ? "working" : "ended"}
                      isSpoken
                    />
                    <span class="cut">
                      <b>{cleanText(child.name) || "Subagent"}</b> {cleanText(child.detail)}
                    </span>
                    <span class="quiet">
                      {total !== null && `${formatTokens(total)} · `}
                      {child.endedAt ? (
                        formatAge(child.endedAt - child.startedAt)
                      ) : (
                        <Age since={child.startedAt} />
                      )}
                    </span>
                  </li>
                );
              })}
            </ul>
          </div>
        </div>
      )}
      {tasks && (
        <div class="part">
          <h3>
            <span>Tasks</span>
            <span class="quiet">
              {tasks.done} of {tasks.total}
            </span>
          </h3>
          <svg class="progress" role="img" aria-label={`${tasks.done} of ${tasks.total} tasks are done`}>
            <rect class="track" width="100%" height="6" rx="3" />
            <rect
              class="used"
              width={`${(tasks.done / Math.max(1, tasks.total)) * 100}%`}
              height="6"
              rx="3"
            />
          </svg>
          <ul class="tasks">
            {tasks.list.map(({ subject, status }, index) => (
              <li key={index} class={status}>
                {status === "in_progress" ? (
                  <Glyph of="working" />
                ) : (
                  <Icon of={status === "completed" ? "check" : "box"} />
                )}
                <span class="cut" title={cleanText(subject)}>
                  {cleanText(subject) || `Task ${index + 1}`}
                </span>
                <span class="hid">{taskLabels[status]}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function LastTurn({ session: { lastPrompt, lastResponse } }: { readonly session: SessionView }) {
  if (!lastPrompt && !lastResponse) return null;
  return (
    <div class="part">
      <h3>
        <span>Last turn</span>
      </h3>
      {lastPrompt && <p class="turn you">{cleanLines(lastPrompt)}</p>}
      {lastResponse && <p class="turn">{cleanLines(lastResponse)}</p>}
    </div>
  );
}

function Events({ sessionKey, lastEventAt }: { readonly sessionKey: string; readonly lastEventAt: number }) {
  const page = useSignal<HistoryPage | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void lastEventAt;
    loadSessionHistory(sessionKey).then((loaded) => {
      if (isCurrent && loaded) page.value = loaded;
    });
    return () => {
      isCurrent = false;
    };
  }, [sessionKey, lastEventAt, page]);
  if (!page.value?.enabled || page.value.items.length === 0) return null;
  return (
    <div class="part">
      <h3>
        <span>Events</span>
        <span class="quiet">{page.value.total.toLocaleString("en")} in all</span>
      </h3>
      <ol class="feed">
        {page.value.items.map((item) => (
          <EventRow key={item.id} item={item} />
        ))}
      </ol>
    </div>
  );
}

function EventRow({ item }: { readonly item: HistoryItem }) {
  const { kind, how, at, waitedMs } = item;
  const isAsk = isAskKind(kind);
  const isOpen = isAsk && how === null;
  const { label, text } = describeMoment({ kind, text: item.text, how, isOpen });
  return (
    <li>
      <time>{formatWhen(at, slowNow.value)}</time>
      <Glyph of={kind === "failed" ? "failed" : isOpen ? "needs_you" : isAsk ? "past" : "ended"} />
      <span class="cut" title={cleanText(text)}>
        <b>{label}</b> {cleanText(text)}
      </span>
      <span class="d">
        {isAsk && <span class="cut">{describeEnding(item)}</span>}
        {waitedMs !== null && <span>{formatExactDuration(waitedMs)}</span>}
      </span>
    </li>
  );
}
