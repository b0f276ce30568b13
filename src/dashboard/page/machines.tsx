/** Other machines: what the list of sessions says of each, and how it is narrowed to one. Without them, none of it is on the page. */
import { computed, signal } from "@preact/signals";
import { formatGroupCount, type Group, groups } from "../../core/view/group-names.ts";
import { sortViews } from "../../core/view/order.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { retryMachine } from "./actions.ts";
import { cleanText, formatTime } from "./format.ts";
import { readSaved, save } from "./saved.ts";
import { facts, isLive, isPastShown, sessions, shownSessions, slowNow } from "./state.ts";
import type { PageMachine } from "./types.ts";
import { Glyph, Icon, Pick } from "./ui.tsx";

/** null for this machine. */
type MachineName = string | null;

const known = computed<ReadonlyMap<string, PageMachine>>(
  () => new Map(facts.value?.machines?.map((machine) => [machine.name, machine])),
);

/** Also those of which only sessions are known so far. */
const names = computed<readonly string[]>(() => {
  const ofSessions = [...shownSessions.value.values()].flatMap(({ machine }) => machine ?? []);
  // Which machines were linked at a moment of the past is not kept.
  const linked = isPastShown.value ? [] : known.value.keys();
  return [...new Set([...linked, ...ofSessions])].sort((a, b) => a.localeCompare(b));
});

export const hasMachines = computed(() => names.value.length > 0);

const groupingName = "grouping";

/** Sessions stand under their state; otherwise under their machine. */
const isByState = signal(readSaved(groupingName) === "state");

export const isByMachine = computed(() => hasMachines.value && !isByState.value);

function groupBy(grouping: "state" | "machine"): void {
  isByState.value = grouping === "state";
  save(groupingName, grouping);
}

const any = "";
const thisMachine = ".";
/** The machine that the list is narrowed to: its name, `thisMachine` or `any`. No machine is called either. */
const chosen = signal(any);

export const isNarrowed = computed(() => hasMachines.value && chosen.value !== any);

export function showAllMachines(): void {
  chosen.value = any;
}

export const isOnChosen = ({ machine }: SessionView): boolean =>
  !isNarrowed.value || (machine ?? thisMachine) === chosen.value;

/** How the list is grouped, and which machine it shows. */
export function MachineChoice() {
  if (!hasMachines.value) return null;
  return (
    <>
      <fieldset class="seg" aria-label="Group by">
        <button type="button" aria-pressed={!isByMachine.value} onClick={() => groupBy("state")}>
          By state
        </button>
        <button type="button" aria-pressed={isByMachine.value} onClick={() => groupBy("machine")}>
          By machine
        </button>
      </fieldset>
      <Pick
        label="Machine"
        value={chosen.value}
        any="All machines"
        options={[[thisMachine, "This machine"], ...names.value.map((name) => [name, name] as const)]}
        onChange={(value) => {
          chosen.value = value;
        }}
      />
    </>
  );
}

export interface MachineSessions {
  readonly name: MachineName;
  readonly list: readonly SessionView[];
}

/** This machine first, then those where something needs the user, then the rest, by name. Ended sessions are left out. */
export function listByMachine(shown: readonly SessionView[]): readonly MachineSessions[] {
  const live = Map.groupBy(
    sortViews(shown.filter(({ group }) => group !== "ended")),
    ({ machine }) => machine,
  );
  const waits = (name: MachineName) => live.get(name)?.some(({ group }) => group === "needs_you") === true;
  const others = names.value.filter(waits).concat(names.value.filter((name) => !waits(name)));
  return [null, ...others].map((name) => ({ name, list: live.get(name) ?? [] }));
}

/** The machines that cannot be reached, for a list in which machines have no place of their own. */
export const listLost = (): readonly MachineName[] =>
  names.value.filter(
    (name) => known.value.get(name)?.state === "not linked" && (!isNarrowed.value || chosen.value === name),
  );

const icons = {
  ssh: "server",
  command: "server",
  fleet: "server",
  wsl: "laptop",
  container: "cube",
  pod: "cube",
} as const;

const iconOf = (name: string) => icons[known.value.get(name)?.way ?? "ssh"];

/** The machine of a session, beside its name. */
export function Host({ machine }: { readonly machine: MachineName }) {
  return machine === null ? null : (
    <span class="host" title={`On ${machine}`}>
      <Icon of={iconOf(machine)} />
      <span class="hid">on </span>
      <span class="cut">{machine}</span>
    </span>
  );
}

const wayLabels = {
  ssh: "ssh",
  fleet: "fleet",
  container: "container",
  pod: "pod",
  wsl: "WSL",
  command: "",
} as const;

/** "ssh", "container shop-dev" */
function describeWay({ name, way, target }: PageMachine): string {
  return target === null || target === name ? wayLabels[way] : `${wayLabels[way]} ${cleanText(target)}`;
}

/** When it was last heard of: its sessions know that too, after a restart of beckon. */
function lostSinceOf({ name, since }: PageMachine): number | null {
  const times = [...sessions.value.values()].flatMap(({ machine, unreachableSince }) =>
    machine === name ? (unreachableSince ?? []) : [],
  );
  return times.length > 0 ? Math.min(...times) : since;
}

function State({ machine }: { readonly machine: PageMachine }) {
  const { state, since } = machine;
  // What is known of machines is old as well, or of another time.
  if (!isLive.value || isPastShown.value) return null;
  if (state === "linked") return <>linked{since === null ? "" : ` since ${formatMoment(since)}`}</>;
  if (state === "linking") return <>linking…</>;
  const lostSince = lostSinceOf(machine);
  return (
    <span class="lost">
      <Icon of="lost" />
      <b>Not reachable</b>
      {lostSince === null ? "" : ` since ${formatMoment(lostSince)}`}
      <button class="link u" type="button" onClick={() => retryMachine(machine.name)}>
        Try now
      </button>
    </span>
  );
}

const dayMs = 24 * 60 * 60 * 1_000;

/** With the date if a time alone could be of another day. */
const formatMoment = (at: number): string =>
  slowNow.value - at < dayMs
    ? formatTime(at)
    : `${new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${formatTime(at)}`;

/** The head of a machine: how it is reached, its sessions by state, and since when it is linked, or why it is not. */
export function MachineHead({ name, list }: MachineSessions) {
  const machine = name === null ? undefined : known.value.get(name);
  const isLost = isPastShown.value
    ? list.some(({ reachable }) => !reachable)
    : machine?.state === "not linked";
  const counts = groups.flatMap((group): [Group, number][] => {
    const count = list.filter((session) => shapeOf(session) === group).length;
    return count === 0 ? [] : [[group, count]];
  });
  return (
    <tr class={isLost ? "grp mach far-head" : "grp mach"}>
      <th colSpan={7} scope="rowgroup">
        <div>
          <Icon of={name === null ? "laptop" : iconOf(name)} />
          <span class="cut">{name ?? "This machine"}</span>
          {machine && <span class="n cut">{describeWay(machine)}</span>}
          <span class="cnt">
            {counts.map(([group, count]) => (
              <span key={group} title={formatGroupCount(group, count, isPastShown.value)}>
                <Glyph of={group} isSpoken isLost={isLost} />
                {count}
              </span>
            ))}
          </span>
          {machine && (
            <span class="mach-end">
              <State machine={machine} />
            </span>
          )}
        </div>
        {isLost && !isPastShown.value && machine?.problem != null && <p>{cleanText(machine.problem)}</p>}
      </th>
    </tr>
  );
}

/** A session that asked when its machine was lost keeps the shape that it had. */
export const shapeOf = ({ reachable, group, asks }: SessionView): Group =>
  !reachable && group === "set_aside" && asks.some(({ kind }) => kind !== "idle") ? "needs_you" : group;
