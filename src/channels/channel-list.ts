/** The channels that the settings list: opened, and closed or opened again when their settings or secrets change. */
import type { ChannelSettings } from "../core/config/channels.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import { waitAtMost } from "../system/schedule.ts";
import { type ActiveChannel, type ActiveChannelOptions, openActiveChannel } from "./active-channel.ts";
import { type CheckedChannel, checkAllChannels, listSecretFields } from "./index.ts";
import type { ChannelSecrets } from "./secrets.ts";

export interface ChannelListOptions
  extends Omit<
    ActiveChannelOptions,
    "name" | "settings" | "service" | "serviceSettings" | "secrets" | "saver" | "onReportChanged"
  > {
  /** Read again at every reload. */
  readonly readSecrets: () => ChannelSecrets;
  /** What `createSaver`'s value was before the last stop. */
  readonly saved: JsonRecord;
  readonly createSaver: (value: () => JsonRecord) => ActiveChannelOptions["saver"];
  readonly onOpened: (channel: ActiveChannel) => void;
  /** What `report` returns may have changed. */
  readonly onChange?: () => void;
}

export interface ChannelReport {
  readonly name: string;
  readonly type: string;
  /** Of the service, for users. */
  readonly service: string;
  /** Why nothing is sent or received now; null if all is well. */
  readonly problem: string | null;
  readonly isAnswering: boolean;
  /** Wall time of the last message that arrived; null if none did since the start. */
  readonly lastSentAt: number | null;
}

export interface ChannelList {
  /** The same list until a channel is opened or closed. */
  all(): readonly ActiveChannel[];
  get(name: string): ActiveChannel | null;
  /** Opens and closes channels until they are those that the settings list now. */
  reload(): Promise<void>;
  report(): readonly ChannelReport[];
  stop(): Promise<void>;
}

const stopMs = 500;
/** A request that takes longer is given up when the settings change: whether its message arrived is not known then. */
const closeMs = 5_000;

interface OpenedChannel {
  readonly active: ActiveChannel;
  /** Equal for equal settings and secrets. */
  readonly fingerprint: string;
}

export function createChannelList(options: ChannelListOptions): ChannelList {
  const { config, schedule } = options;
  let secrets = options.readSecrets();
  const opened = new Map<string, OpenedChannel>();
  let channels: readonly ActiveChannel[] = [];
  /** Why a channel is not open, by its name. */
  const mistakes = new Map<string, string>();
  /** The state of channels that are not open, by their names. */
  const savedStates: Record<string, unknown> = { ...asRecord(options.saved.channels) };
  let isStopped = false;

  const saver = options.createSaver(() => ({
    version: 1,
    channels: {
      // Those that are not open yet, or have a mistake in their settings now, keep what they sent.
      ...Object.fromEntries(
        Object.entries(savedStates).filter(([name]) => config().channels[name] !== undefined),
      ),
      ...Object.fromEntries(channels.map((channel) => [channel.name, channel.describeState()])),
    },
  }));

  async function open(name: string, settings: ChannelSettings, checked: CheckedChannel): Promise<void> {
    if ("problems" in checked) {
      mistakes.set(name, checked.problems.join("; "));
      for (const problem of checked.problems) options.onProblem(`channel ${name}: ${problem}`);
      return;
    }
    const active = await openActiveChannel({
      ...options,
      name,
      settings,
      service: checked.service,
      serviceSettings: checked.settings,
      saved: asRecord(savedStates[name]),
      secrets: () => secrets,
      saver,
      onReportChanged: () => options.onChange?.(),
    });
    delete savedStates[name];
    opened.set(name, { active, fingerprint: fingerprintOf(name, settings) });
    updateChannels();
    options.onOpened(active);
  }

  async function close({ active }: OpenedChannel): Promise<void> {
    savedStates[active.name] = active.describeState();
    opened.delete(active.name);
    updateChannels();
    const stopped = active.stop().catch((error) => options.onProblem(`channel ${active.name}: ${error}`));
    await waitAtMost(closeMs, stopped, schedule);
    // With the message that was being sent.
    savedStates[active.name] = active.describeState();
  }

  function updateChannels(): void {
    channels = [...opened.values()].map(({ active }) => active);
  }

  async function reload(): Promise<void> {
    secrets = options.readSecrets();
    mistakes.clear();
    const { channels: wanted } = config();
    const checked = checkAllChannels(wanted, secrets);
    const closing: Promise<void>[] = [];
    for (const channel of [...opened.values()]) {
      const { name } = channel.active;
      const settings = wanted[name];
      const result = checked.get(name);
      const isValid = result !== undefined && "service" in result;
      const isSame = settings !== undefined && fingerprintOf(name, settings) === channel.fingerprint;
      if (!isValid || !isSame) closing.push(close(channel));
    }
    await Promise.all(closing);
    for (const [name, result] of checked) {
      const settings = wanted[name];
      if (opened.has(name) || isStopped || !settings) continue;
      await open(name, settings, result).catch((error) => {
        const problem = `it could not be opened: ${secrets.redact(readErrorMessage(error))}`;
        mistakes.set(name, problem);
        options.onProblem(`channel ${name}: ${problem}`);
      });
    }
    saver.schedule();
    options.onChange?.();
  }

  function fingerprintOf(name: string, settings: ChannelSettings): string {
    const known = listSecretFields(settings.type).map((field) => secrets.get(name, field));
    return JSON.stringify([settings, known]);
  }

  return {
    all: () => channels,
    get: (name) => opened.get(name)?.active ?? null,
    reload,
    report: () =>
      Object.entries(config().channels).flatMap(([name, { type }]): ChannelReport[] => {
        const active = opened.get(name)?.active;
        const mistake = mistakes.get(name);
        if (!active && mistake === undefined) return [];
        return [
          {
            name,
            type,
            service: active?.service.name ?? "",
            problem: active ? active.problem() : (mistake ?? null),
            isAnswering: active?.isAnswering ?? false,
            lastSentAt: active?.lastSentAt() ?? null,
          },
        ];
      }),
    async stop() {
      isStopped = true;
      saver.schedule();
      saver.flush();
      await waitAtMost(stopMs, Promise.allSettled(channels.map((channel) => channel.stop())), schedule);
      saver.flush();
    },
  };
}
