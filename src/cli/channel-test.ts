/** `beckon channel test NAME`: sends a real message and, where answers are on, waits for the tap on its button. */
import { type TestResult, testChannelDirectly } from "../channels/test-message.ts";
import { findClosest } from "../core/text/closest.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { quote } from "./args.ts";
import { fetchChannelReports, type KnownChannel, readChannels } from "./channel-facts.ts";
import { callApi } from "./client.ts";
import { printLines } from "./output.ts";

export async function testChannel(name: string): Promise<number> {
  const paths = resolvePaths();
  const { channels, secrets, problems } = readChannels(paths);
  const known = channels.find((one) => one.name === name);
  if (!known) throw unknownChannel(name, channels, problems);
  const { checked, settings } = known;
  if ("problems" in checked)
    throw new Error([...checked.problems, `To change its settings: beckon channel add ${name}`].join("\n"));
  const onSent = () => {
    if (settings.answers === "off") return;
    printLines([`Sent. Tap "It works" in ${checked.service.name} within ${tapWaitMs / 1_000} s.`]);
  };
  const result = readEndpoint(paths)
    ? await testThroughApp(paths, name, onSent)
    : await testChannelDirectly({
        name,
        service: checked.service,
        settings: checked.settings,
        secret: (field) => secrets.get(name, field),
        redact: secrets.redact,
        isAnswering: settings.answers !== "off",
        accounts: settings.accounts,
        waitMs: tapWaitMs,
        onSent,
      });
  printLines(formatResult(result, checked.service.name));
  return result.outcome === "sent" || result.outcome === "tapped" ? 0 : 1;
}

export function unknownChannel(
  name: string,
  channels: readonly KnownChannel[],
  problems: readonly string[],
  ifNone = `add it with: beckon channel add ${name}`,
): Error {
  const names = channels.map((known) => known.name);
  const closest = findClosest(name, names);
  const hint =
    closest !== null
      ? `did you mean ${closest}?`
      : names.length > 0
        ? `there are ${names.join(", ")}`
        : ifNone;
  return new Error([...problems, `there is no channel ${quote(name)}: ${hint}`].join("\n"));
}

export const tapWaitMs = 60_000;
const pollMs = 250;

/** The running beckon receives the answers, so it must be the one that sends. */
export async function testThroughApp(paths: Paths, name: string, onSent: () => void): Promise<TestResult> {
  const path = `/api/channels/${encodeURIComponent(name)}/test`;
  const response = await callApi(paths, path, { body: {}, timeoutMs: 40_000 });
  if (typeof response === "string") return { outcome: "failed", error: response };
  if (response.status === 404)
    return {
      outcome: "failed",
      error: "the running beckon does not use this channel yet. Try again in a second",
    };
  const { problem, isWaiting } = response.body;
  if (response.status !== 200 || typeof problem === "string")
    return { outcome: "failed", error: String(problem ?? response.body.error) };
  if (isWaiting !== true) return { outcome: "sent" };
  onSent();
  const end = performance.now() + tapWaitMs;
  for (;;) {
    const report = (await fetchChannelReports(paths))?.find((known) => known.name === name);
    if (report?.testedBy) return { outcome: "tapped", by: report.testedBy, accountId: "" };
    if (performance.now() > end)
      return { outcome: "not tapped", problem: report?.problem ?? null, refused: [] };
    await Bun.sleep(pollMs);
  }
}

export function formatResult(result: TestResult, service: string): string[] {
  switch (result.outcome) {
    case "failed":
      return [`✗ It could not be sent: ${result.error}`];
    case "sent":
      return [`✓ Sent. ${service} has taken the message; look whether it is there.`];
    case "tapped":
      return [`✓ The answer has arrived, from ${result.by}.`];
    case "not tapped":
      return [
        `✗ No tap has arrived${result.problem === null ? "" : `: ${result.problem}`}.`,
        ...result.refused.map((account) => `  ${account} tapped, but is not listed in "accounts".`),
      ];
  }
}
