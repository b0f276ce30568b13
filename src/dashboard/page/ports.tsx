/** The ports of all projects: what state they are in, who works on them, and what they took. Hidden if there are none. */
import { useSignal } from "@preact/signals";
import type { PortStats, PortView } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { formatAge, formatCost, formatTokens } from "../../core/view/figures.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { cleanText, noValue } from "./format.ts";
import { labelSession } from "./names.ts";
import { openSession } from "./navigation.ts";
import { ports, stats } from "./reports.ts";
import { sessions } from "./state.ts";
import { Age } from "./ui.tsx";

const rowsShown = 8;

export function Ports() {
  const isAll = useSignal(false);
  const known = ports.value;
  if (known.length === 0) return null;
  const shown = isAll.value ? known : known.slice(0, rowsShown);
  const running = known.filter(({ status }) => status === "running").length;
  const days = stats.value?.days.length ?? 0;
  return (
    <section class="panel" id="ports" aria-labelledby="h-ports">
      <div class="panel-head">
        <h2 id="h-ports">Ports</h2>
        <span class="n">{running === 0 ? "none running" : `${running} running`}</span>
        {days > 0 && <span class="end n">last {days} days</span>}
      </div>
      <div class="ports">
        <table class="pt">
          <thead>
            <tr>
              <th class="po">Port</th>
              <th class="st">State</th>
              <th class="who">Worked on by</th>
              <th class="num m">Worked</th>
              <th class="num m wa">Waited</th>
              <th class="num m to">Tokens</th>
              <th class="num m">Cost</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((port) => (
              <Row key={`${port.project} ${port.id}`} port={port} />
            ))}
          </tbody>
        </table>
        {known.length > shown.length && (
          <button
            class="link more"
            type="button"
            onClick={() => {
              isAll.value = true;
            }}
          >
            Show all {known.length}
          </button>
        )}
      </div>
    </section>
  );
}

function Row({ port }: { readonly port: PortView }) {
  const { id, title, project, status } = port;
  const figures = stats.value?.ports?.find((row) => row.project === project && row.port === id) ?? null;
  const workers = [...sessions.value.values()].filter(
    (session) => session.group !== "ended" && session.port?.id === id && session.port.project === project,
  );
  const folder = cleanText(project.split(/[\\/]/).filter(Boolean).at(-1) ?? project);
  return (
    <tr class={status}>
      <th scope="row" class="po">
        <div class="l1 cut" title={`${cleanText(id)} in ${cleanText(project)}`}>
          <b>{cleanText(id)}</b> <span class="branch">{folder}</span>
        </div>
        <div class="l2 cut" title={cleanText(title)}>
          {cleanText(title)}
        </div>
      </th>
      <td class="st">
        <State port={port} />
      </td>
      <td class="who">
        <Workers port={port} workers={workers} />
      </td>
      <Figures figures={figures} />
    </tr>
  );
}

const stateLabels: Readonly<Record<PortView["status"], string>> = {
  running: "Running",
  open: "Open",
  ended: "Ended",
};

function State({ port: { status, openDependencies, endedAt } }: { readonly port: PortView }) {
  const waitsFor = openDependencies.map(cleanText).join(", ");
  return (
    <>
      <div class="l1">{stateLabels[status]}</div>
      {endedAt !== null ? (
        <div class="l2 cut">
          <Age since={endedAt} /> ago
        </div>
      ) : (
        waitsFor !== "" && (
          <div class="l2 cut" title={`Depends on ${waitsFor}, not ended yet`}>
            needs {waitsFor}
          </div>
        )
      )}
    </>
  );
}

function Workers({
  port: { status, isForEverybody, note },
  workers,
}: {
  readonly port: PortView;
  readonly workers: readonly SessionView[];
}) {
  const [first, ...others] = workers;
  if (!first) {
    const text = status === "ended" ? cleanText(note) : status === "open" ? "" : "no session now";
    return (
      <div class="l2 cut" title={text || undefined}>
        {text || noValue}
      </div>
    );
  }
  const { project, detail } = labelSession(first);
  const names = workers.map(labelSession).map((label) => `${label.project} ${label.detail}`.trim());
  const more = others.length === 0 ? "" : `and ${others.length} more`;
  return (
    <>
      <div class="l1 cut" title={names.join("\n")}>
        <button class="link" type="button" onClick={() => openSession(viewKeyOf(first))}>
          {project}
        </button>{" "}
        <span class="branch">{detail}</span>
      </div>
      <div class="l2 cut">{more || (isForEverybody ? "every session here" : "")}</div>
    </>
  );
}

const unknownCost = "The price of some of the tokens is unknown";

function Figures({ figures }: { readonly figures: PortStats | null }) {
  if (figures === null)
    return (
      <>
        <td class="num m">{noValue}</td>
        <td class="num m wa">{noValue}</td>
        <td class="num m to">{noValue}</td>
        <td class="num m">{noValue}</td>
      </>
    );
  const { workedMs, waitedMs, tokens, costUsd, isCostPartial } = figures;
  return (
    <>
      <td class="num m">{formatAge(workedMs)}</td>
      <td class="num m wa">{waitedMs === 0 ? noValue : formatAge(waitedMs)}</td>
      <td class="num m to">{tokens === 0 ? noValue : formatTokens(tokens)}</td>
      <td class="num m" title={costUsd === null || isCostPartial ? unknownCost : undefined}>
        {costUsd === null || tokens === 0 ? noValue : formatCost(costUsd, isCostPartial)}
      </td>
    </>
  );
}
