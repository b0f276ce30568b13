/**
 * Rules: what is allowed without asking, and what could be, tried on the user's own history. A script of its own, with its styles: most
 * visits do not open it.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { BackTest, RuleSuggestion, RulesReport, RuleUse } from "../../core/interfaces/wire.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import { dayMs } from "../../core/timing.ts";
import { formatExactDuration, formatSpokenDuration } from "../../core/view/figures.ts";
import type { callApi } from "./api.ts";
import { addStyle, definePanel } from "./define-panel.tsx";
import { cleanText, formatDay, formatDayInside, formatTime, noValue, startOfDay } from "./format.ts";
import style from "./rules.css" with { type: "text" };
import { Icon } from "./ui.tsx";

/** What it needs of the page. */
export interface RulesHost {
  readonly callApi: typeof callApi;
  readonly agentName: (id: string) => string;
}

addStyle(style);

const report = signal<RulesReport | null>(null);
const now = signal(Date.now());
/** Texts of suggestions that the user does not want now. */
const declined = signal<ReadonlySet<string>>(new Set());
const openedText = signal<string | null>(null);
const isAdding = signal(false);
const problem = signal<string | null>(null);
/** What the rule that is being written would have done. */
const tested = signal<{ readonly key: string; readonly test: BackTest } | null>(null);

const refreshMs = 15_000;
const unusedMs = 30 * dayMs;

async function refresh({ callApi }: RulesHost): Promise<void> {
  if (document.visibilityState !== "visible") return;
  const { status, body } = await callApi("/api/rules");
  now.value = Date.now();
  if (status === 200) report.value = body as unknown as RulesReport;
}

async function change(host: RulesHost, path: string, body: object): Promise<boolean> {
  const { status, body: answer } = await host.callApi(path, body);
  const why = status === 0 ? "beckon does not answer" : String(answer.error ?? "that did not work");
  problem.value = status === 200 ? null : `${capitalize(why)}.`;
  await refresh(host);
  return status === 200;
}

function Rules({ host }: { readonly host: RulesHost }) {
  useEffect(() => {
    const load = () => void refresh(host);
    const timer = setInterval(load, refreshMs);
    document.addEventListener("visibilitychange", load);
    load();
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", load);
    };
  }, [host]);
  const current = report.value;
  if (!current) return <p class="off">Reading your history…</p>;
  return (
    <>
      <Suggestions host={host} report={current} />
      <RuleList host={host} report={current} />
    </>
  );
}

/** "14:31" today, "Yesterday", "Mon 9 Nov". */
const formatMoment = (at: number): string =>
  at >= startOfDay(now.value) ? formatTime(at) : formatDay(at, now.value);

const nameProject = (folder: string): string => cleanText(folder.split("/").at(-1) ?? folder);

function Suggestions({
  host,
  report: { suggestions, asks, since },
}: {
  readonly host: RulesHost;
  readonly report: RulesReport;
}) {
  const wanted = suggestions.filter(({ text, project }) => !declined.value.has(`${project} ${text}`));
  const [first] = wanted;
  const opened = wanted.find(({ text, project }) => openedText.value === `${project} ${text}`) ?? first;
  const from = since === null ? "" : ` since ${formatDayInside(since, now.value)}`;
  return (
    <section class="panel" aria-labelledby="h-sug">
      <div class="panel-head">
        <h2 id="h-sug">Suggested</h2>
        {opened && <span class="quiet">you gave the same answer every time</span>}
        <div class="end">
          <span class="quiet">
            tried on {formatCount(asks, "ask")}
            {from}
          </span>
        </div>
      </div>
      {opened ? (
        <>
          <Suggestion host={host} suggestion={opened} />
          <MoreSuggestions suggestions={wanted.filter((one) => one !== opened)} />
        </>
      ) : (
        <p class="off">A rule is suggested after three like answers, none of them a denial.</p>
      )}
    </section>
  );
}

function Suggestion({ host, suggestion }: { readonly host: RulesHost; readonly suggestion: RuleSuggestion }) {
  const { text, project, agent, test } = suggestion;
  return (
    <div class="sug">
      <div class="sug-top">
        <div class="sug-rule">
          <code>{cleanText(text)}</code>
          <span class="quiet" title={cleanText(project)}>
            in {nameProject(project)}, {cleanText(host.agentName(agent))}
          </span>
        </div>
        <div class="acts">
          <button
            class="btn main"
            type="button"
            onClick={() => void change(host, "/api/rules/add", { text, project, agent, from: "suggestion" })}
          >
            Make it a rule
          </button>
          <button
            class="btn bare"
            type="button"
            onClick={() => {
              declined.value = new Set(declined.value).add(`${project} ${text}`);
            }}
          >
            Not now
          </button>
        </div>
      </div>
      <TestResult test={test} />
    </div>
  );
}

function TestResult({ test }: { readonly test: BackTest }) {
  const { answered, asks, allowedByYou, deniedByYou, savedMs, medianMs, longest, would, stillAsks } = test;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Would have answered</dt>
          <dd>
            {answered}
            <small>of {formatCount(asks, "ask")}</small>
          </dd>
        </div>
        <div>
          <dt>As you did</dt>
          <dd class={deniedByYou > 0 ? "bad" : ""}>
            {allowedByYou} of {answered}
            <small>{deniedByYou === 0 ? "none that you denied" : `${deniedByYou} that you denied`}</small>
          </dd>
        </div>
        <div>
          <dt>Waiting saved</dt>
          <dd>
            {formatExactDuration(savedMs)}
            <small>median {formatSpokenDuration(medianMs)} each</small>
          </dd>
        </div>
        <div>
          <dt>Longest wait</dt>
          <dd>
            {longest === null ? noValue : formatExactDuration(longest.ms)}
            <small>{longest === null ? "" : formatMoment(longest.at)}</small>
          </dd>
        </div>
      </dl>
      <div class="would">
        <Examples
          title="It would have allowed"
          none="Nothing so far"
          examples={would.map((one) => ({ ...one, why: "" }))}
        />
        <Examples title="It would still ask you" none="Nothing like it was asked" examples={stillAsks} />
      </div>
    </>
  );
}

interface ExamplesProps {
  readonly title: string;
  readonly none: string;
  readonly examples: BackTest["stillAsks"];
}

function Examples({ title, none, examples }: ExamplesProps) {
  return (
    <div>
      <h3>{title}</h3>
      {examples.length === 0 && <p class="quiet">{none}</p>}
      <ol>
        {examples.map(({ text, count, why }) => (
          <li key={text}>
            <code class="cut" title={cleanText(text)}>
              {cleanText(text)}
            </code>
            <span>{why === "" ? `${count}×` : `${count}×, ${why}`}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function MoreSuggestions({ suggestions }: { readonly suggestions: readonly RuleSuggestion[] }) {
  if (suggestions.length === 0) return null;
  return (
    <ul class="sug-more">
      {suggestions.map(({ text, project, test }) => (
        <li key={`${project} ${text}`}>
          <Icon of="check" />
          <code class="cut">{cleanText(text)}</code>
          <span class="quiet">in {nameProject(project)}</span>
          <span class="end">would have answered {test.answered}, all as you did</span>
          <button
            class="btn sm"
            type="button"
            aria-label={`Show ${cleanText(text)} in ${nameProject(project)}`}
            onClick={() => {
              openedText.value = `${project} ${text}`;
            }}
          >
            Show
          </button>
        </li>
      ))}
    </ul>
  );
}

interface Row {
  readonly name: string | null;
  readonly text: string;
  readonly project: string;
  readonly use: RuleUse | null;
  readonly madeFrom: string;
  readonly madeAt: number | null;
}

function RuleList({ host, report: current }: { readonly host: RulesHost; readonly report: RulesReport }) {
  const rows: Row[] = [
    ...current.rules.map((rule) => ({
      ...rule,
      madeFrom: `${rule.madeFrom === "suggestion" ? "a suggestion" : "you"}, ${formatDayInside(rule.madeAt, now.value).replace(/^\w{3} /, "")}`,
    })),
    ...current.settings.map((rule) => ({ ...rule, name: null, madeFrom: "settings", madeAt: null })),
  ].sort((a, b) => (b.use?.count ?? 0) - (a.use?.count ?? 0));
  const uses = rows.reduce((sum, { use }) => sum + (use?.count ?? 0), 0);
  const most = Math.max(1, ...rows.map(({ use }) => use?.count ?? 0));
  return (
    <section class="panel" aria-labelledby="h-rules">
      <div class="panel-head">
        <h2 id="h-rules">
          Rules <span class="n">{rows.length}</span>
        </h2>
        {uses > 0 && <span class="quiet">answered {formatCount(uses, "ask")} at once in 30 days</span>}
        <div class="end">
          <button
            class="btn sm"
            type="button"
            aria-expanded={isAdding.value}
            onClick={() => {
              isAdding.value = !isAdding.value;
            }}
          >
            + Rule
          </button>
        </div>
      </div>
      {problem.value !== null && (
        <p class="off" role="alert">
          {problem.value}
        </p>
      )}
      {current.problems.map((text) => (
        <p key={text} class="off">
          {cleanText(text)}
        </p>
      ))}
      {isAdding.value && <NewRule host={host} />}
      <Trusts host={host} report={current} />
      {rows.length === 0 ? (
        <p class="off">There are no rules: everything is asked.</p>
      ) : (
        <table class="tbl rules-t">
          <colgroup>
            <col />
            <col class="rc-w" />
            <col class="rc-b" />
            <col class="rc-n" />
            <col class="rc-l" />
            <col class="rc-f" />
            <col class="rc-a" />
          </colgroup>
          <thead>
            <tr>
              <th>Rule</th>
              <th>Where</th>
              <th>
                <span class="hid">Share</span>
              </th>
              <th class="num">Uses, 30 d</th>
              <th>Last</th>
              <th>Made from</th>
              <th>
                <span class="hid">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <RuleRow key={`${row.name} ${row.project} ${row.text}`} host={host} row={row} most={most} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function RuleRow({
  host,
  row,
  most,
}: {
  readonly host: RulesHost;
  readonly row: Row;
  readonly most: number;
}) {
  const { name, text, project, use, madeFrom, madeAt } = row;
  const lastAt = use?.lastAt ?? madeAt;
  const isOld = lastAt !== null && now.value - lastAt > unusedMs;
  return (
    <tr>
      <th scope="row">
        <code>{cleanText(text)}</code>
        {isOld && <small>Not used for {formatCount(Math.floor((now.value - lastAt) / dayMs), "day")}</small>}
      </th>
      <td class="cut" title={cleanText(project)}>
        {nameProject(project)}
      </td>
      <td class="u-bar">
        <svg aria-hidden="true">
          <rect width={`${Math.max(0.5, ((use?.count ?? 0) / most) * 100)}%`} height="6" rx="2" />
        </svg>
      </td>
      <td class="num">{use?.count ?? 0}</td>
      <td class="quiet cut">{use === null ? "Never" : formatMoment(use.lastAt)}</td>
      <td class="quiet cut">{madeFrom}</td>
      <td>
        {name === null ? (
          <a class="btn sm bare" href="#settings-answering">
            Change
          </a>
        ) : (
          <button
            class="btn sm bare"
            type="button"
            aria-label={`Remove ${cleanText(text)} in ${nameProject(project)}`}
            onClick={() => void change(host, "/api/rules/remove", { name })}
          >
            Remove
          </button>
        )}
      </td>
    </tr>
  );
}

function Trusts({ host, report: { trusts } }: { readonly host: RulesHost; readonly report: RulesReport }) {
  return (
    <>
      {trusts.map(({ session, project, until, uses }) => (
        <div key={session} class="trust">
          <Icon of="clock" />
          <p>
            <b>Trusted until {formatTime(until)}</b>
            {cleanText(project ?? session)}, this session. Everything but what is marked as dangerous.
          </p>
          <span class="quiet">
            {formatSpokenDuration(Math.max(0, until - now.value))} left, {formatCount(uses, "use")}
          </span>
          <button
            class="btn sm"
            type="button"
            onClick={() =>
              void change(host, `/api/sessions/${encodeURIComponent(session)}/trust`, { end: true })
            }
          >
            End now
          </button>
        </div>
      ))}
    </>
  );
}

/** A rule that the user writes: it is tested before it can be made. */
function NewRule({ host }: { readonly host: RulesHost }) {
  const projects = [...new Set((report.value?.suggestions ?? []).map(({ project }) => project))];
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const body = { text: String(data.get("text")).trim(), project: String(data.get("project")).trim() };
    const key = JSON.stringify(body);
    if (tested.value?.key === key) {
      if (!(await change(host, "/api/rules/add", body))) return;
      isAdding.value = false;
      tested.value = null;
      return;
    }
    const { status, body: answer } = await host.callApi("/api/rules/test", body);
    problem.value =
      status === 200 ? null : `${capitalize(String(answer.error ?? "beckon does not answer"))}.`;
    if (status === 200) tested.value = { key, test: answer.test as BackTest };
  };
  return (
    <>
      <form class="rule-new" onSubmit={(event) => void submit(event)}>
        <input
          class="field"
          name="text"
          required
          aria-label="Rule"
          placeholder="Bash(npm test *)"
          onInput={() => {
            tested.value = null;
          }}
        />
        <input
          class="field"
          name="project"
          required
          aria-label="Project folder"
          placeholder="/home/me/shop-web"
          value={projects[0] ?? ""}
          onInput={() => {
            tested.value = null;
          }}
        />
        <button class="btn main" type="submit">
          {tested.value ? "Make it a rule" : "Test"}
        </button>
      </form>
      {tested.value && (
        <div class="sug">
          <TestResult test={tested.value.test} />
        </div>
      )}
    </>
  );
}

definePanel("beckon-rules", Rules);
