/**
 * Connects channels to the app. Nothing of src/channels is loaded before the settings list a channel, so this costs a user without
 * one nothing.
 */
import type { PromptSender } from "../channels/active-channel.ts";
import type { ChannelReport } from "../channels/channel-list.ts";
import type { ChannelSink, ChannelSinkOptions } from "../channels/sink.ts";
import type { ChannelTest } from "../channels/test-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import { readFileStamp } from "../storage/files.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";
import type { Env } from "../system/folders.ts";
import { schedule, scheduleTogether, waitAtMost } from "../system/schedule.ts";

export interface ChannelsOptions
  extends Omit<ChannelSinkOptions, "saved" | "createSaver" | "readSecrets" | "schedule" | "prompts"> {
  readonly paths: Pick<Paths, "channelState" | "channelSecrets">;
  /** Without what a project's settings may have set. */
  readonly env: Env;
  /** Why no channel is used, for the user; null if channels are used. */
  readonly disabledReason: string | null;
}

export interface Channels extends Sink {
  report(): readonly ReportedChannel[];
  /** One line for each channel that fails. */
  problems(): readonly string[];
  /** From now on, replies can be prompts. The agents' watchers, which take them, are made after the channels. */
  connectPrompts(prompts: PromptSender): void;
  /** Sends a test message. Resolves with null if there is no such channel. */
  test(name: string): Promise<StartedTest | null>;
  stop(): Promise<void>;
}

export interface ReportedChannel extends ChannelReport {
  /** Who tapped the button of the last test message; null if nobody has. */
  readonly testedBy: string | null;
}

export interface StartedTest {
  /** Why it could not be sent; null if it was. */
  readonly problem: string | null;
  /** Its button was not tapped yet. */
  readonly isWaiting: boolean;
}

const secretsPollMs = 2_000;
/** The API closes a connection that is silent for 10 s. */
const maxTestMs = 8_000;

export function createChannels(options: ChannelsOptions): Channels {
  const { paths, env, config, onProblem } = options;
  let sink: ChannelSink | null = null;
  let loading: Promise<void> = Promise.resolve();
  let secretsStamp = "";
  let secretsProblem: string | null = null;
  let savedProblem: string | null = null;
  let cancelPoll = () => {};
  let isStopped = false;
  let prompts: PromptSender | null = null;
  /** By channel, for the last test of each. */
  const testedBy = new Map<string, string>();

  const hasChannels = () => Object.keys(config().channels).length > 0;
  const isDisabled = () => options.disabledReason !== null;

  async function update(): Promise<void> {
    if (isStopped || isDisabled() || (sink === null && !hasChannels())) return;
    sink ??= await load();
    secretsStamp = readFileStamp(paths.channelSecrets);
    await sink.reload();
    cancelPoll();
    if (hasChannels()) pollSecrets();
  }

  async function load(): Promise<ChannelSink> {
    const [{ createChannelSink }, { readChannelSecrets }] = await Promise.all([
      import("../channels/sink.ts"),
      import("../channels/secrets.ts"),
    ]);
    const saved = loadJsonState(paths.channelState);
    savedProblem = saved.problem;
    if (savedProblem !== null) onProblem(savedProblem);
    return createChannelSink({
      ...options,
      prompts: () => prompts,
      readSecrets() {
        const secrets = readChannelSecrets(paths, env);
        if (secrets.problem !== null && secrets.problem !== secretsProblem) onProblem(secrets.problem);
        secretsProblem = secrets.problem;
        return secrets;
      },
      saved: saved.value,
      // What must be known after a kill (what is being sent, and was sent) is flushed. After a loss of power the sessions are gone too.
      createSaver: (value) =>
        createSaver(() => saveJsonState(paths.channelState, value(), { isSynced: false }), {
          onError: onProblem,
        }),
    });
  }

  /** `beckon channel add` may replace only a token. */
  function pollSecrets(): void {
    cancelPoll = scheduleTogether(() => {
      pollSecrets();
      if (readFileStamp(paths.channelSecrets) !== secretsStamp) updateLater();
    }, secretsPollMs);
  }

  function updateLater(): void {
    loading = loading.then(update).catch((error) => onProblem(`channels could not be loaded: ${error}`));
  }

  updateLater();
  return {
    name: "channels",
    onSettingsChanged: updateLater,
    onRefresh: () => sink?.onRefresh?.(),
    onChange: (change) => sink?.onChange?.(change),
    onTransition: (transition) => sink?.onTransition?.(transition),
    report: () =>
      (sink?.report() ?? []).map((report) => ({ ...report, testedBy: testedBy.get(report.name) ?? null })),
    problems() {
      if (options.disabledReason !== null) return hasChannels() ? [options.disabledReason] : [];
      const failing = (sink?.report() ?? []).flatMap(({ name, problem }) =>
        problem === null ? [] : [`channel ${name}: ${problem}. Run: beckon channel test ${name}`],
      );
      return [secretsProblem, savedProblem, ...failing].filter((problem) => problem !== null);
    },
    connectPrompts(sender) {
      prompts = sender;
    },
    async test(name) {
      await loading;
      testedBy.delete(name);
      const test = sink?.test(name);
      if (!test) return null;
      const late: ChannelTest = {
        problem: `the service did not answer within ${maxTestMs / 1_000} s`,
        tapped: null,
      };
      const started = await waitAtMost(maxTestMs, test, schedule);
      if (started === null) return null;
      const { problem, tapped } = started ?? late;
      void tapped?.then((by) => testedBy.set(name, by));
      return { problem, isWaiting: tapped !== null };
    },
    async stop() {
      isStopped = true;
      cancelPoll();
      await loading;
      await sink?.stop();
    },
  };
}
