/** Needs you: a card for each ask, with answers in place. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { nameApproval, nameDenial, notWhole } from "../../core/answers/words.ts";
import type { HistoryItem } from "../../core/interfaces/wire.ts";
import type { Answer, AskDetails, Question } from "../../core/session/ask-details.ts";
import { describeReason } from "../../core/session/texts.ts";
import { joinRows } from "../../core/text/fit.ts";
import { capitalize } from "../../core/text/words.ts";
import { formatExactDuration, formatSpokenDuration } from "../../core/view/figures.ts";
import { nameTool, splitCall } from "../../core/view/moment-words.ts";
import { describeRound } from "../../core/view/rounds.ts";
import type { AskView } from "../../core/view/session-view.ts";
import {
  answerAsk,
  arm,
  armedId,
  confirmableId,
  focusSession,
  refusals,
  sending,
  snoozeMinutes,
  snoozeSession,
} from "./actions.ts";
import { branchOf, cleanText, describeEnding, formatTime } from "./format.ts";
import { type Card, cards, isSettling, setPointerInside, unlocked } from "./inbox.ts";
import { allowLasting, type LastingChoice, listLasting } from "./lasting.ts";
import { type DiffLine, parseDiff, parseOtherChanges } from "./lines.ts";
import { Host } from "./machines.tsx";
import { labelSession, nameOnMachine } from "./names.ts";
import { openSession } from "./navigation.ts";
import { offersOf } from "./offers.ts";
import { PrecedentBox } from "./precedent.tsx";
import { recentAnswers, stats } from "./reports.ts";
import {
  agentName,
  detailed,
  heardAt,
  inGroup,
  isLive,
  lostAsks,
  type OpenAsk,
  openAsks,
  selectedId,
} from "./state.ts";
import { followCard, Together } from "./together.tsx";
import { Dots, Duration, Glyph, Icon } from "./ui.tsx";

export function Inbox() {
  const count = openAsks.value.length;
  const lost = lostAsks.value;
  const round = describeRound(openAsks.value.map(({ ask }) => ask)) || "longest waiting first";
  const more = lost.length === 0 ? round : `${lost.length} more not reachable`;
  const end = isLive.value ? more : `as of ${formatTime(heardAt.value)}`;
  return (
    <section
      class="inbox"
      id="needs-you"
      aria-labelledby="h-need"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to scroll it
      tabIndex={0}
      onPointerEnter={() => setPointerInside(true)}
      onPointerLeave={() => setPointerInside(false)}
    >
      <div class="inbox-head">
        <h2 id="h-need">Needs you</h2>
        {count > 0 && <span class="badge">{count}</span>}
        {count + lost.length > 0 && <span class="end">{end}</span>}
      </div>
      <Together />
      <div class={isSettling.value ? "asks settling" : "asks"}>
        {cards.value.map((card) => (
          <AskCard key={card.id} card={card} />
        ))}
        {cards.value.length === 0 && <Calm />}
        {lost.map((ask) => (
          <LostCard key={ask.id} ask={ask} />
        ))}
      </div>
      <p class="hid" role="status">
        {count === 0 ? "Nothing needs you" : count === 1 ? "1 needs you" : `${count} need you`}
      </p>
    </section>
  );
}

/** Nothing can be done with it from here, so it has no buttons. */
function LostCard({ ask: { key, session, ask } }: { readonly ask: OpenAsk }) {
  const { project, detail, machine } = labelSession(session);
  const since = session.unreachableSince ?? heardAt.value;
  return (
    <article class="ask panel far-card">
      <div class="ask-top">
        <Glyph of="set_aside" />
        <div class="ask-name">
          <h3>
            <button class="link" type="button" onClick={() => openSession(key)}>
              {project}
            </button>
          </h3>
          <span class="branch">{detail}</span>
        </div>
        <span class="ask-time">asked {formatTime(ask.openedAt)}</span>
        <Dots class="ask-sub cut" parts={[cleanText(describeReason(ask)), agentName(session.provider)]}>
          <Host machine={machine} />
        </Dots>
      </div>
      {ask.summary !== "" && <pre class="code">{cleanText(ask.summary)}</pre>}
      <p class="why">
        <Icon of="lost" />
        <span>
          {machine} is not reachable since {formatTime(since)}. Whether this still waits is not known. It can
          be answered in its terminal there.
        </span>
      </p>
    </article>
  );
}

function AskCard({ card }: { readonly card: Card }) {
  const { id, key, session, ask, outcome } = card;
  const isSelected = selectedId.value === id;
  const headingId = `h ${id}`.replaceAll(/[^\w-]/g, "-");
  const { project, detail, machine } = labelSession(session);
  const branch = branchOf(session.gitBranch);
  const child = session.children.find(({ agentId }) => agentId === ask.agentId);
  const asker =
    ask.agentId === null ? session.terminal : cleanText(child?.name ?? child?.type ?? "a subagent");
  const article = useRef<HTMLElement>(null);
  useEffect(() => (article.current ? followCard(id, article.current) : undefined), [id]);
  return (
    <article
      ref={article}
      class={outcome === null ? "ask panel" : "ask panel over"}
      data-id={id}
      tabIndex={-1}
      aria-labelledby={headingId}
      aria-current={isSelected ? "true" : undefined}
      onPointerDown={() => {
        selectedId.value = id;
      }}
    >
      <div class="ask-top">
        <Glyph of={outcome === null ? "needs_you" : "past"} />
        <div class="ask-name">
          <h3 id={headingId}>
            <button
              class="link"
              type="button"
              title={cleanText(session.title)}
              onClick={() => openSession(key)}
            >
              {project}
            </button>
          </h3>
          <span class="branch" title={branch === "" ? undefined : `Branch ${branch}`}>
            {detail}
          </span>
        </div>
        <span class="ask-time">
          <span class="hid">has waited </span>
          {outcome === null && <Duration since={ask.openedAt} />}
        </span>
        <Dots
          class="ask-sub cut"
          parts={[
            cleanText(describeReason(ask)),
            agentName(session.provider),
            // The machine says more than the name of a pane on it.
            machine === null || ask.agentId !== null ? asker : null,
            detail === branch ? null : branch,
          ]}
        >
          <Host machine={machine} />
        </Dots>
      </div>
      {outcome === null ? (
        <AskBody card={card} />
      ) : (
        <p class="done" role="status">
          <Icon of="check" />
          {outcome}
        </p>
      )}
    </article>
  );
}

/** What is asked, and the answers. Also in the details of a session. */
export function AskBody({
  card,
  hasPlaces = true,
}: {
  readonly card: OpenAsk;
  readonly hasPlaces?: boolean;
}) {
  const ask = detailed.value.get(card.key)?.asks.find(({ id }) => id === card.ask.id) ?? card.ask;
  const refusal = refusals.value.get(card.id);
  const current = { ...card, ask };
  return (
    <>
      {ask.asked ? (
        <Answerable card={current} asked={ask.asked} hasPlaces={hasPlaces} />
      ) : (
        <NotAnswerable card={current} ask={ask} hasPlaces={hasPlaces} />
      )}
      {refusal !== undefined && (
        <p class="why refused" role="alert">
          <Icon of="warn" />
          <span>{refusal}</span>
        </p>
      )}
    </>
  );
}

function NotAnswerable({
  card,
  ask,
  hasPlaces,
}: {
  readonly card: OpenAsk;
  readonly ask: AskView;
  readonly hasPlaces: boolean;
}) {
  return (
    <>
      {ask.summary !== "" && <pre class="code">{cleanText(ask.summary)}</pre>}
      {ask.why !== undefined && (
        <p class="why">
          <Icon of="info" />
          <span>Cannot be answered here: {cleanText(ask.why)}.</span>
        </p>
      )}
      {hasPlaces && (
        <div class="acts">
          <button
            class="btn main"
            type="button"
            data-do="go"
            disabled={!isLive.value}
            onClick={() => focusSession(card.key)}
          >
            Go to terminal
            <span class="key" aria-hidden="true">
              ⏎
            </span>
          </button>
          <div class="end">
            <SnoozeButton sessionKey={card.key} />
          </div>
        </div>
      )}
    </>
  );
}

function SnoozeButton({ sessionKey }: { readonly sessionKey: string }) {
  const label = `Snooze ${snoozeMinutes} min`;
  return (
    <button
      class="btn bare sq"
      type="button"
      data-do="snooze"
      title={label}
      aria-label={label}
      disabled={!isLive.value}
      onClick={() => snoozeSession(sessionKey)}
    >
      <Icon of="snooze" />
    </button>
  );
}

/** The last part of every card: snooze and the terminal. */
function Places({ sessionKey }: { readonly sessionKey: string }) {
  return (
    <div class="end">
      <SnoozeButton sessionKey={sessionKey} />
      <button
        class="btn bare"
        type="button"
        data-do="go"
        disabled={!isLive.value}
        onClick={() => focusSession(sessionKey)}
      >
        Go to terminal
        <span class="key" aria-hidden="true">
          ⏎
        </span>
      </button>
    </div>
  );
}

interface AnswerableProps {
  readonly card: OpenAsk;
  readonly asked: AskDetails;
  readonly hasPlaces: boolean;
}

function Answerable(props: AnswerableProps) {
  return props.asked.questions.length > 0 ? <Questions {...props} /> : <Request {...props} />;
}

/** More lines than this are shown only on demand. What is not shown cannot be allowed. */
const maxLinesAtFirst = 14;
const maxPlanLinesAtFirst = 8;

const isAnswerLocked = ({ id, ask }: OpenAsk): boolean =>
  !isLive.value || sending.value.has(id) || !ask.answerable || !unlocked.value.has(id);

function Request({ card, asked, hasPlaces }: AnswerableProps) {
  const isExpanded = useSignal(false);
  const isDenying = useSignal(false);
  const isChoosingRule = useSignal(false);
  const isPlan = asked.kind === "plan";
  const own = { ...asked, lines: asked.lines.slice(0, asked.otherChangesAt) };
  const [others, ...otherLines] = parseOtherChanges(asked);
  const diff = parseDiff(own);
  const lines = joinRows(own.lines);
  const total = diff?.length ?? lines.length;
  const atFirst = isPlan ? maxPlanLinesAtFirst : maxLinesAtFirst;
  const shown = isExpanded.value || total <= atFirst + 2 ? total : atFirst;
  const isLocked = isAnswerLocked(card);
  const isWholeShown = shown === total;
  const { allow } = offersOf(asked, isWholeShown);
  const { rules } = offersOf(asked, true);
  const isAllowLocked = isLocked || allow === null;
  const lasting = listLasting(card, asked);
  const send = (answer: Answer) => answerAsk(card, answer, isWholeShown);
  return (
    <>
      {asked.dangers.length > 0 && (
        <ul class="danger">
          {asked.dangers.map((danger) => (
            <li key={danger}>
              <Icon of="warn" />
              {danger}
            </li>
          ))}
        </ul>
      )}
      {!asked.isGenericHeading && !isPlan && !diff && <p class="q">{asked.heading}</p>}
      {diff ? (
        <Diff heading={asked.heading} lines={diff.slice(0, shown)} all={diff} />
      ) : (
        lines.length > 0 && (
          <pre class={isPlan ? "code plan" : "code"}>
            {isPlan ? (
              <PlanText lines={lines.slice(0, shown)} />
            ) : (
              <CommandText text={lines.slice(0, shown).join("\n")} />
            )}
          </pre>
        )
      )}
      {shown < total && (
        <button
          class="plan-more"
          type="button"
          data-do="all"
          onClick={() => {
            isExpanded.value = true;
          }}
        >
          Show all: {total - shown} more lines
        </button>
      )}
      {others && <Diff heading={others.text.slice(1, -1)} lines={otherLines} all={otherLines} />}
      {!asked.isWhole && <NotWhole />}
      {asked.precedent && <PrecedentBox precedent={asked.precedent} project={card.session.project} />}
      {isDenying.value ? (
        <DenyForm
          placeholder={isPlan ? "What should be different?" : "What to do instead, if you like"}
          label={nameDenial(asked)}
          isLocked={isLocked}
          onSend={(message) => send({ do: "deny", message })}
          onCancel={() => {
            isDenying.value = false;
          }}
        />
      ) : (
        <div class="acts">
          <AllowButton
            card={card}
            asked={asked}
            isLocked={isAllowLocked}
            isWholeShown={asked.isWhole && isWholeShown}
            needsConfirmation={allow?.needsConfirmation === true}
            onAllow={() => send({ do: "allow" })}
          />
          {(rules.length > 0 || lasting.length > 0) && (
            <button
              class="btn"
              type="button"
              aria-expanded={isChoosingRule.value}
              disabled={isAllowLocked}
              onClick={() => {
                isChoosingRule.value = !isChoosingRule.value;
              }}
            >
              Always…
            </button>
          )}
          <button
            class="btn"
            type="button"
            data-do="deny"
            disabled={isLocked}
            onClick={() => {
              isDenying.value = true;
            }}
          >
            {`${nameDenial(asked)}…`}
            <span class="key" aria-hidden="true">
              d
            </span>
          </button>
          {hasPlaces && <Places sessionKey={card.key} />}
        </div>
      )}
      {isChoosingRule.value && !isDenying.value && (
        <RuleChoices
          choices={rules}
          lasting={lasting}
          isLocked={isAllowLocked}
          onChoose={(choice) => send({ do: "always", choice })}
          onLasting={(choice) => void allowLasting(card, choice, () => send({ do: "allow" }))}
        />
      )}
    </>
  );
}

const NotWhole = () => (
  <p class="why">
    <Icon of="info" />
    <span>{`${capitalize(notWhole)}.`}</span>
  </p>
);

/** A word, with the option after it: "rm -rf" stays on one line. */
const unbroken = /(\S+ -\S+|\S*-\S*)/;
const maxUnbroken = 32;

/** Breaks between words only, and never at a hyphen. What is too long for a line does break. */
function CommandText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(unbroken).map((part, index) =>
        index % 2 === 1 && part.length <= maxUnbroken ? (
          <span key={index} class="word">
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}

/** The exact text of a plan. Its headings are bold. */
function PlanText({ lines }: { readonly lines: readonly string[] }) {
  return (
    <>
      {lines.map((line, index) => {
        const text = index === 0 ? line : `\n${line}`;
        return line.startsWith("#") ? <b key={index}>{text}</b> : text;
      })}
    </>
  );
}

interface AllowButtonProps {
  readonly card: OpenAsk;
  readonly asked: AskDetails;
  readonly isLocked: boolean;
  readonly isWholeShown: boolean;
  readonly needsConfirmation: boolean;
  readonly onAllow: () => void;
}

/** What is dangerous needs two presses; with the keyboard everything does (keys.ts arms it). */
function AllowButton(props: AllowButtonProps) {
  const { card, asked, isLocked, isWholeShown, needsConfirmation, onAllow } = props;
  const isMarked = asked.dangers.length > 0;
  const verb = nameApproval(asked.kind);
  const wasPressed = armedId.value === card.id;
  const canConfirm = confirmableId.value === card.id;
  const press = () => {
    if (!needsConfirmation || canConfirm) onAllow();
    else if (!wasPressed) arm(card.id);
  };
  const label = isMarked ? "Allow anyway" : asked.kind === "plan" ? "Approve plan" : "Allow";
  const classes = ["btn", isMarked ? "bad" : "main", wasPressed ? "armed" : ""].join(" ");
  const why = isWholeShown ? undefined : asked.isWhole ? "First show all of it" : "It is not shown in full";
  return (
    <button
      class={classes}
      type="button"
      data-do="allow"
      disabled={isLocked}
      aria-disabled={needsConfirmation && wasPressed && !canConfirm ? "true" : undefined}
      title={why}
      onClick={press}
    >
      {wasPressed ? `Press again to ${verb}` : label}
      {!wasPressed && (
        <span class="key" aria-hidden="true">
          a
        </span>
      )}
    </button>
  );
}

/** Part of the card, not a menu above it: the list of cards scrolls, and would cut what is outside of a card. */
function RuleChoices({
  choices,
  lasting,
  isLocked,
  onChoose,
  onLasting,
}: {
  readonly choices: readonly string[];
  readonly lasting: readonly LastingChoice[];
  readonly isLocked: boolean;
  readonly onChoose: (choice: number) => void;
  readonly onLasting: (choice: LastingChoice) => void;
}) {
  const list = useRef<HTMLFieldSetElement>(null);
  useEffect(() => list.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <fieldset class="rules" aria-label="Allow from now on" ref={list}>
      {lasting.map((choice) => (
        <button
          key={choice.title}
          class="opt rule"
          type="button"
          disabled={isLocked}
          onClick={() => onLasting(choice)}
        >
          {choice.title}
          <small>{choice.about}</small>
        </button>
      ))}
      {choices.map((choice, index) => (
        <button
          key={choice}
          class="opt rule"
          type="button"
          disabled={isLocked}
          onClick={() => onChoose(index)}
        >
          {choice}
        </button>
      ))}
    </fieldset>
  );
}

interface DenyFormProps {
  readonly placeholder: string;
  readonly label: string;
  readonly isLocked: boolean;
  readonly onSend: (message: string | null) => void;
  readonly onCancel: () => void;
}

function DenyForm({ placeholder, label, isLocked, onSend, onCancel }: DenyFormProps) {
  const text = useSignal("");
  const send = () => onSend(text.value.trim() === "" ? null : text.value);
  return (
    <div class="say">
      <input
        class="field"
        aria-label="Message to the agent"
        placeholder={placeholder}
        value={text.value}
        ref={(field) => field?.focus({ preventScroll: true })}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") send();
          if (event.key === "Escape") onCancel();
        }}
      />
      <button class="btn" type="button" disabled={isLocked} onClick={send}>
        {label}
      </button>
      <button class="btn bare" type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

const signs = { add: "+", delete: "−", same: " ", label: " " } as const;

function Diff({
  heading,
  lines,
  all,
}: {
  readonly heading: string;
  readonly lines: readonly DiffLine[];
  readonly all: readonly DiffLine[];
}) {
  const count = (kind: "add" | "delete") => all.filter((line) => line.kind === kind).length;
  return (
    <div class="diff">
      <div class="diff-file">
        <span class="whole">{heading}</span>
        <span class="end">
          +{count("add")} −{count("delete")}
        </span>
      </div>
      <ol>
        {lines.map(({ kind, text }, index) => (
          <li key={index} class={kind}>
            <s>{signs[kind]}</s>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** One question with single choice is answered by a click; several, or several choices, with a button. */
function Questions({ card, asked, hasPlaces }: AnswerableProps) {
  const chosen = useSignal<readonly (readonly string[])[]>(asked.questions.map(() => []));
  const texts = useSignal<readonly string[]>(asked.questions.map(() => ""));
  const isLocked = isAnswerLocked(card);
  const isReplyLocked = isLocked || !offersOf(asked, true).canReply;
  const [only] = asked.questions;
  const isImmediate = asked.questions.length === 1 && only?.isMultiple === false;
  const replies = asked.questions.map((_, index) => {
    const text = texts.value[index]?.trim() ?? "";
    return text === "" ? (chosen.value[index] ?? []) : [text];
  });
  const isComplete = replies.every((labels) => labels.length > 0);
  const choose = (index: number, label: string) => {
    if (isImmediate) return void answerAsk(card, { do: "reply", replies: [[label]] }, true);
    const isMultiple = asked.questions[index]?.isMultiple === true;
    const before = chosen.value[index] ?? [];
    const after = before.includes(label)
      ? before.filter((other) => other !== label)
      : isMultiple
        ? [...before, label]
        : [label];
    chosen.value = chosen.value.map((labels, other) => (other === index ? after : labels));
    texts.value = texts.value.map((text, other) => (other === index ? "" : text));
  };
  const write = (index: number, text: string) => {
    texts.value = texts.value.map((before, other) => (other === index ? text : before));
    if (text !== "") chosen.value = chosen.value.map((labels, other) => (other === index ? [] : labels));
  };
  const send = () => {
    if (isComplete) answerAsk(card, { do: "reply", replies }, true);
  };
  return (
    <>
      {asked.questions.map((question, index) => (
        <QuestionFields
          key={index}
          question={question}
          place={asked.questions.length > 1 ? `${index + 1} of ${asked.questions.length}` : null}
          chosen={chosen.value[index] ?? []}
          text={texts.value[index] ?? ""}
          isImmediate={isImmediate}
          isLocked={isReplyLocked}
          onChoose={(label) => choose(index, label)}
          onText={(text) => write(index, text)}
          onEnter={send}
        />
      ))}
      {!asked.isWhole && <NotWhole />}
      <div class="acts">
        {(!isImmediate || (texts.value[0] ?? "") !== "") && (
          <button
            class="btn main"
            type="button"
            data-do="allow"
            disabled={isReplyLocked || !isComplete}
            onClick={send}
          >
            {asked.questions.length > 1 ? "Send answers" : "Send answer"}
            <span class="key" aria-hidden="true">
              ⏎
            </span>
          </button>
        )}
        <button
          class="btn"
          type="button"
          data-do="deny"
          disabled={isLocked}
          onClick={() => answerAsk(card, { do: "deny", message: null }, true)}
        >
          {nameDenial(asked)}
          <span class="key" aria-hidden="true">
            d
          </span>
        </button>
        {hasPlaces && <Places sessionKey={card.key} />}
      </div>
    </>
  );
}

interface QuestionProps {
  readonly question: Question;
  readonly place: string | null;
  readonly chosen: readonly string[];
  readonly text: string;
  readonly isImmediate: boolean;
  readonly isLocked: boolean;
  readonly onChoose: (label: string) => void;
  readonly onText: (text: string) => void;
  readonly onEnter: () => void;
}

function QuestionFields({
  question,
  place,
  chosen,
  text,
  isImmediate,
  isLocked,
  onChoose,
  onText,
  onEnter,
}: QuestionProps) {
  return (
    <fieldset class="question" aria-label={question.question}>
      <p class="q">
        {place !== null && <span class="n">{place} </span>}
        {question.question}
        {question.isMultiple && <span class="n"> Choose any.</span>}
      </p>
      <div class="opts">
        {question.options.map(({ label, description }, index) => {
          const isChosen = chosen.includes(label);
          return (
            <button
              key={label}
              class="opt"
              type="button"
              disabled={isLocked}
              aria-pressed={isImmediate ? undefined : isChosen}
              onClick={() => onChoose(label)}
            >
              <i aria-hidden="true">{isImmediate || !isChosen ? index + 1 : <Icon of="check" />}</i>
              <b>{label}</b>
              <span title={description}>{description}</span>
            </button>
          );
        })}
        <input
          class="field own"
          aria-label="Your own answer"
          placeholder="Your own answer"
          disabled={isLocked}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") onEnter();
          }}
        />
      </div>
    </fieldset>
  );
}

/** "Bash", "Plan": what an ask was about, in a word. */
const nameAsked = ({ kind, text }: HistoryItem): string =>
  kind === "permission" ? nameTool(splitCall(text).tool) || "Permission" : capitalize(kind);

const maxCalmAnswers = 3;

function Calm() {
  const working = inGroup("working").length;
  const answers = recentAnswers.value.slice(0, maxCalmAnswers);
  const today = stats.value?.enabled ? stats.value.today : null;
  const [last] = answers;
  const since = last ? `Since ${formatTime(last.at + (last.waitedMs ?? 0))}. ` : "";
  const workers =
    working === 0
      ? "No session is working."
      : working === 1
        ? "1 session is working."
        : `${working} sessions are working.`;
  return (
    <div class="calm panel">
      <div class="calm-top">
        <h3>Nothing needs you</h3>
        <p class="quiet">
          {since}
          {workers}
        </p>
      </div>
      {answers.length > 0 && (
        <ul class="calm-list" aria-label="Answered last">
          {answers.map((item) => (
            <li key={item.id}>
              <span class="quiet">{formatTime(item.at)}</span>
              <div class="cut">
                {nameOnMachine(cleanText(item.project), item.key)}
                <small class="cut" title={cleanText(item.text)}>
                  {nameAsked(item)} {describeEnding(item)}
                </small>
              </div>
              <span class="quiet">{item.waitedMs === null ? "" : formatSpokenDuration(item.waitedMs)}</span>
            </li>
          ))}
        </ul>
      )}
      {today && today.asks > 0 && (
        <p class="calm-sum">
          Agents waited <b>{formatSpokenDuration(today.waitedMs)}</b> for you today
          {today.medianMs !== null && `; median answer ${formatExactDuration(today.medianMs)}`}
        </p>
      )}
    </div>
  );
}
