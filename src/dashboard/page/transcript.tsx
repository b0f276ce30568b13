/** The transcript of a session around one moment, beside the story. */
import { useEffect, useRef } from "preact/hooks";
import type { TranscriptLine } from "../../core/interfaces/wire.ts";
import { describeAsk, nameTool } from "../../core/view/moment-words.ts";
import type { Beat } from "../../core/view/story.ts";
import { focusSession, openTranscript } from "./actions.ts";
import { cleanLines, cleanText, formatDay, formatTime, formatTimeWithSeconds } from "./format.ts";
import { Host } from "./machines.tsx";
import { moveMoment } from "./moments.ts";
import { machineOf } from "./names.ts";
import { Outcome } from "./outcome.tsx";
import { placeMoment } from "./place-moment.ts";
import { agentName, isLive, sessions, slowNow } from "./state.ts";
import { closeMoment, type OpenedMoment, openedMoment, showEarlierLines, transcript } from "./story.ts";
import { Glyph, Icon } from "./ui.tsx";

export function Script() {
  const moment = openedMoment.value;
  return moment && <Panel moment={moment} />;
}

function Panel({ moment }: { readonly moment: OpenedMoment }) {
  const { thread, at, id } = moment;
  const name = cleanText(thread.project ?? thread.key);
  const day = formatDay(at, slowNow.value);
  const page = transcript.value;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    void [id, page];
    list.current?.querySelector(".moment")?.scrollIntoView({ block: "center" });
  }, [id, page]);
  const session = sessions.value.get(thread.key);
  return (
    <aside class="script panel" aria-labelledby="h-script">
      <div class="script-head">
        <div class="side-line">
          <h2 id="h-script" class="cut" title={name}>
            {name}
          </h2>
          <div class="end">
            <button
              class="btn bare sq"
              type="button"
              aria-label="Previous moment"
              title="Previous moment (k)"
              onClick={() => moveMoment(-1)}
            >
              <Icon of="up" />
            </button>
            <button
              class="btn bare sq"
              type="button"
              aria-label="Next moment"
              title="Next moment (j)"
              onClick={() => moveMoment(1)}
            >
              <Icon of="down" />
            </button>
            <button
              class="btn bare sq"
              type="button"
              aria-label="Close"
              title="Close (Esc)"
              onClick={closeMoment}
            >
              <Icon of="close" />
            </button>
          </div>
        </div>
        <p class="quiet">
          Transcript at <b>{formatTimeWithSeconds(at)}</b>
          {day !== "Today" && `, ${day}`} · {agentName(thread.provider)}{" "}
          <Host machine={machineOf(thread.key)} />
        </p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to scroll it */}
      <ol class="lines" tabIndex={0} aria-label="Transcript" ref={list}>
        {page === null ? (
          <li class="gap quiet">Loading…</li>
        ) : (
          <>
            {page.hasEarlier && (
              <li class="gap">
                <button class="btn sm" type="button" onClick={showEarlierLines}>
                  Show earlier lines
                </button>
              </li>
            )}
            {page.why !== undefined && <li class="gap quiet">{cleanText(page.why)}</li>}
            {placeMoment(page.lines, moment).map((line, index) =>
              line === null ? (
                <MomentLine key="moment" moment={moment} />
              ) : (
                <Line key={index} line={line} agent={agentName(thread.provider)} />
              ),
            )}
            {!page.hasLater && page.lines.length > 0 && <li class="gap quiet">End of the transcript.</li>}
          </>
        )}
      </ol>
      <div class="script-foot">
        {session?.reachable && session.group !== "ended" && (
          <button class="btn" type="button" disabled={!isLive.value} onClick={() => focusSession(thread.key)}>
            Go to terminal
          </button>
        )}
        {session?.transcriptPath != null && (
          <button
            class="btn bare"
            type="button"
            disabled={!isLive.value}
            onClick={() => openTranscript(thread.key)}
          >
            Open file
          </button>
        )}
        <span class="quiet end">Secrets are masked</span>
      </div>
    </aside>
  );
}

function Line({ line, agent }: { readonly line: TranscriptLine; readonly agent: string }) {
  const { who, text, at, tool } = line;
  if (who === "step")
    return (
      <li class="line step">
        <b class="cut">{nameTool(tool ?? "")}</b>
        <code class="cut" title={cleanText(text)}>
          {cleanText(text)}
        </code>
        <span>{at === null ? "" : formatTime(at)}</span>
      </li>
    );
  return (
    <li class={`line of-${who}`}>
      <div class="line-who">
        <b>{who === "you" ? "You" : agent}</b>
        <time>{at === null ? "" : formatTime(at)}</time>
      </div>
      <p class="lines-p">{cleanLines(text)}</p>
    </li>
  );
}

const leads: Readonly<Partial<Record<Beat["kind"], string>>> = {
  prompt: "You",
  response: "Response",
  failure: "Failed",
  note: "",
  work: "Worked",
};

function MomentLine({ moment: { beat, at, thread } }: { readonly moment: OpenedMoment }) {
  const asked =
    beat?.kind === "ask"
      ? describeAsk({ kind: beat.ask, text: beat.text, how: beat.how, isOpen: beat.how === null })
      : null;
  const lead = asked?.lead ?? (beat ? (leads[beat.kind] ?? "") : "This moment");
  const text = asked?.subject ?? (beat && "text" in beat ? beat.text : "");
  return (
    <li class="line moment" aria-current="true">
      <div class="line-who">
        <b>
          <Glyph of={beat?.kind === "ask" && beat.how === null ? "needs_you" : "past"} />
          {lead.replace(/:$/, "")}
        </b>
        <time>{formatTimeWithSeconds(at)}</time>
      </div>
      {text !== "" &&
        (asked?.isCode ? (
          <pre class="code">{cleanLines(text)}</pre>
        ) : (
          <p class="lines-p">{cleanLines(text)}</p>
        ))}
      {beat?.kind === "ask" && <Outcome beat={beat} thread={thread} />}
    </li>
  );
}
