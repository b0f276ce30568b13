/** `beckon channel add NAME`: asks for the settings of a channel, tests it, and writes it down. */

import { listVariables } from "../agents/index.ts";
import { DeliveryError, type Service, type ServiceSetting } from "../channels/channel.ts";
import { type CheckedChannel, checkChannel, findSharedVariables, services } from "../channels/index.ts";
import {
  type ChannelSecrets,
  nameSecretVariable,
  readChannelSecrets,
  writeChannelSecrets,
} from "../channels/secrets.ts";
import { formatAccount, type TestResult, testChannelDirectly } from "../channels/test-message.ts";
import { isChannelName, wrongName } from "../core/config/channels.ts";
import { parseConfig } from "../core/config/config.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { findClosest } from "../core/text/closest.ts";
import { formatCount } from "../core/text/words.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { readSmallFile } from "../storage/files.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { dropUntrustedSecrets } from "../system/app-environment.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { writeEntry } from "../user-files/config-entries.ts";
import type { Json } from "../user-files/json-text.ts";
import { quote, usageError } from "./args.ts";
import { fetchChannelReports } from "./channel-facts.ts";
import { formatResult, tapWaitMs, testThroughApp } from "./channel-test.ts";
import { formatColumns, hasColour, homeFolder, print, printLines, terminalColumns } from "./output.ts";
import { askYesNo, createPrompter, type Prompter } from "./prompt.ts";

type Fields = Record<string, Json>;

interface Wizard {
  readonly prompter: Prompter;
  readonly name: string;
  readonly service: Service;
  /** The channel as it is in config.json, if it has the same service; otherwise empty. */
  readonly known: JsonRecord;
  readonly saved: ChannelSecrets;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the user entered; null if it shall be removed. */
  readonly secrets: Record<string, string | null>;
  fields: Fields;
  /** The service could take answers with these settings. */
  canAnswer: boolean;
}

export async function addChannel(name: string): Promise<number> {
  if (!isChannelName(name)) throw usageError(`${quote(name)} ${wrongName}`);
  const paths = resolvePaths();
  const raw = readRawConfig(paths);
  const env = dropUntrustedSecrets(process.env, listVariables());
  const saved = readChannelSecrets(paths, env);
  if (saved.problem !== null) throw new Error(saved.problem);
  const prompter = createPrompter("stopped: nothing was written");
  try {
    const before = asRecord(asRecord(raw.channels)[name]);
    const isKnown = Object.keys(before).length > 0;
    if (isKnown) printLines([`The channel ${name} exists already. Your answers replace its settings.`]);
    const service = await chooseService(prompter, before.type);
    refuseSharedVariables(name, service, paths);
    const known = before.type === service.type ? before : {};
    const wizard: Wizard = {
      prompter,
      name,
      service,
      known,
      saved,
      env,
      secrets: {},
      fields: {},
      canAnswer: false,
    };
    const isInUse = (await fetchChannelReports(paths))?.some((report) => report.name === name) === true;
    for (;;) {
      await askEverything(wizard);
      const problems = findProblems(wizard);
      if (problems.length === 0 && isInUse && isAnswering(wizard) && !isPairing(wizard)) {
        if (await saveAndTest(wizard, paths)) return 0;
        continue;
      }
      printLines(problems);
      const next = problems.length > 0 ? await askNext(prompter) : await test(wizard);
      if (next === "again") continue;
      if (next === "stop") {
        printLines(["Nothing was written."]);
        return 1;
      }
      await save(wizard, paths);
      return 0;
    }
  } finally {
    prompter.close();
  }
}

/** Throws if the file cannot be read or is not valid JSON: then it cannot be changed either. */
function readRawConfig(paths: Paths): JsonRecord {
  const [unreadable] = readConfigFile(paths.config).problems.filter(
    (problem) => !problem.startsWith("config.json:"),
  );
  if (unreadable !== undefined) throw new Error(unreadable);
  try {
    const text = readSmallFile(paths.config, limits.maxSmallFileBytes);
    return text.trim() === "" ? {} : asRecord(JSON.parse(text));
  } catch {
    return {};
  }
}

async function save(wizard: Wizard, paths: Paths): Promise<void> {
  const { name, service, secrets, fields } = wizard;
  const hasSecrets = Object.keys(secrets).length > 0;
  // The secrets first: the running beckon opens the channel as soon as config.json changes.
  if (hasSecrets) writeChannelSecrets(paths, name, secrets);
  await writeEntry(paths.config, homeFolder(), "channels", name, fields);
  printLines([
    `Saved in ${paths.config}${hasSecrets ? `, its secrets in ${paths.channelSecrets}` : ""}.`,
    readEndpoint(paths) ? "beckon uses it from now on." : "Start beckon to use it: beckon start",
    ...(wizard.canAnswer && !isAnswering(wizard)
      ? [
          `Answers are off: ${service.name} alerts you, and you answer at the desk.`,
          `To answer from there too, choose full and then safe: beckon channel add ${name}`,
        ]
      : []),
    `Test it again at any time: beckon channel test ${name}`,
  ]);
}

/** How soon the running beckon has read both files again. */
const reloadMs = 4_000;

/** The running beckon receives the answers of this channel already, and some services give them to one receiver only. */
async function saveAndTest(wizard: Wizard, paths: Paths): Promise<boolean> {
  const { name, service, prompter } = wizard;
  await save(wizard, paths);
  printLines(["A test message follows in a moment."]);
  await Bun.sleep(reloadMs);
  const result = await testThroughApp(paths, name, () => printTapHint(service));
  printLines(formatResult(result, service.name));
  const isDone = result.outcome === "sent" || result.outcome === "tapped";
  return isDone || !(await askYesNo(prompter, "Change your answers?", true));
}

function refuseSharedVariables(name: string, { type }: Service, paths: Paths): void {
  const { channels } = readConfigFile(paths.config).config;
  const shared = findSharedVariables({ ...channels, [name]: { type } }).find((one) =>
    one.names.includes(name),
  );
  if (!shared) return;
  const others = shared.names.filter((other) => other !== name).join(", ");
  throw new Error(
    `${shared.variable} would be a secret of both ${name} and ${others}. Choose another name for the channel`,
  );
}

async function chooseService(prompter: Prompter, current: unknown): Promise<Service> {
  printLines(formatColumns(services.map(({ name, summary }, n) => [`  ${n + 1}`, name, summary])));
  const initial = services.find((service) => service.type === current);
  for (;;) {
    const answer = await prompter.ask(`Which service?${initial ? ` [${initial.name}]` : ""}`);
    const text = answer.toLowerCase();
    const chosen =
      answer === ""
        ? initial
        : (services[Number(answer) - 1] ??
          services.find(({ type, name }) => [type, name.toLowerCase()].includes(text)));
    if (chosen) return chosen;
    const closest = findClosest(
      text,
      services.map(({ type }) => type),
    );
    printLines([
      closest === null ? `Enter a number from 1 to ${services.length}.` : `Did you mean ${closest}?`,
    ]);
  }
}

async function askEverything(wizard: Wizard): Promise<void> {
  const { service, known, fields: earlier } = wizard;
  wizard.fields = { ...dropNulls(known), ...earlier, type: service.type };
  // Whether answers can be taken depends on what is made here.
  for (const setting of service.settings) if (setting.isMade) makeSetting(wizard, setting);
  for (const setting of service.settings) if (!setting.isForAnswers) await askOne(wizard, setting);
  await showPhoneSteps(wizard);
  await askDetail(wizard);
  await askAnswers(wizard);
  for (const setting of service.settings.filter(({ isForAnswers }) => isForAnswers)) {
    if (!isAnswering(wizard)) delete wizard.fields[setting.name];
    else await askOne(wizard, setting);
  }
  const wait = formatWait(Number(wizard.fields.afterSeconds ?? 120));
  await choose(wizard, "when", "When?", [
    ["away", `at once if you are not at the desk, otherwise ${wait}`],
    ["always", `${wait}, whether you are at the desk or not`],
  ]);
}

function makeSetting({ fields }: Wizard, { name, suggest }: ServiceSetting): void {
  if (suggest) fields[name] ??= suggest();
}

async function askOne(wizard: Wizard, setting: ServiceSetting): Promise<void> {
  const isAsked = setting.isAsked?.(withDefaults(wizard), secretOf(wizard)) ?? setting.question !== "";
  if (!isAsked) {
    if (setting.isAsked) delete wizard.fields[setting.name];
  } else if (setting.isSecret) await askSecret(wizard, setting);
  else await askSetting(wizard, setting);
}

/** Terminals of at least this width show the code whole. */
const minCodeColumns = 60;

async function showPhoneSteps(wizard: Wizard): Promise<void> {
  const phone = wizard.service.describePhone?.(withDefaults(wizard));
  if (!phone) return;
  const { formatQrCode } = await import("./qr-code.ts");
  const code = terminalColumns() < minCodeColumns ? [] : formatQrCode(phone.link, hasColour());
  printLines(["", ...phone.steps]);
  print(code.map((line) => `${line}\n`).join(""));
  printLines([`  ${phone.link}`, ""]);
  await wizard.prompter.ask("Press Enter when the phone has it.");
}

function formatWait(seconds: number): string {
  if (seconds === 0) return "at once";
  const isMinutes = seconds >= 60 && seconds % 60 === 0;
  const count = isMinutes ? seconds / 60 : seconds;
  return `after ${formatCount(count, isMinutes ? "minute" : "second")} without an answer`;
}

/** A null is the same as no value. */
const dropNulls = (fields: JsonRecord): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Fields;

async function askSetting({ prompter, fields }: Wizard, setting: ServiceSetting): Promise<void> {
  const { name, question } = setting;
  const isOptional = setting.default === null;
  const current = fields[name] ?? (isOptional ? null : (setting.default ?? setting.suggest?.() ?? null));
  const hint = isOptional ? (setting.suggest ? "none; or new for a random one" : "none") : "";
  const shown = current === null ? hint : String(current);
  for (;;) {
    const answer = await prompter.ask(`${question}${shown === "" ? "" : ` [${shown}]`}`);
    const value = readAnswer(answer, current, setting, fields);
    const expected = value === null && isOptional ? null : setting.check(value, fields);
    if (expected !== null) {
      printLines([`It must be ${expected}.`]);
      continue;
    }
    if (value === null || value === setting.default) delete fields[name];
    else fields[name] = value as Json;
    return;
  }
}

function readAnswer(
  answer: string,
  current: unknown,
  { default: initial, suggest, check }: ServiceSetting,
  fields: Fields,
): unknown {
  if (answer === "") return current;
  if (answer === "none" && initial === null) return null;
  if (answer === "new" && suggest) return suggest();
  // A number or a list, if the setting is one.
  if (check(answer, fields) !== null && /^[\d[{]/.test(answer)) {
    try {
      return JSON.parse(answer);
    } catch {}
  }
  return answer;
}

async function askSecret(
  { prompter, name, saved, secrets, env, fields }: Wizard,
  setting: ServiceSetting,
): Promise<void> {
  const variable = nameSecretVariable(name, setting.name);
  if (env[variable]) return printLines([`${setting.question} (from ${variable})`]);
  const isOptional = setting.default === null;
  const hasEntered = secrets[setting.name] !== undefined;
  const current = hasEntered ? secrets[setting.name] : saved.get(name, setting.name);
  const keep = `keep the ${hasEntered ? "one you entered" : "saved one"}${isOptional ? "; none removes it" : ""}`;
  const hint = current ? ` [${keep}]` : isOptional ? " [none]" : "";
  for (;;) {
    const answer = await prompter.ask(`${setting.question}${hint}`, { isHidden: true });
    if (answer === "" && (current || isOptional)) return;
    if (answer === "none" && isOptional) {
      if (current) secrets[setting.name] = null;
      return;
    }
    const expected = setting.check(answer, fields);
    if (expected === null) {
      secrets[setting.name] = answer;
      return;
    }
    printLines([`It must be ${expected}.`]);
  }
}

/** Asks for one of several values, and leaves the field out if it is the first one, the default. */
async function choose(
  { prompter, fields }: Wizard,
  field: string,
  question: string,
  choices: readonly (readonly [value: string, meaning: string])[],
  initial = String(fields[field] ?? choices[0]?.[0]),
): Promise<string> {
  printLines(formatColumns(choices.map(([value, meaning]) => [`  ${value}`, meaning])));
  for (;;) {
    const answer = (await prompter.ask(`${question} [${initial}]`)) || initial;
    if (choices.some(([value]) => value === answer)) {
      fields[field] = answer;
      return answer;
    }
    printLines([`Enter one of ${choices.map(([value]) => value).join(", ")}.`]);
  }
}

async function askDetail(wizard: Wizard): Promise<void> {
  await choose(
    wizard,
    "detail",
    "How much of a session may leave this machine?",
    [
      ["minimal", '"checkout-api needs you"'],
      ["summary", "project, tool and time"],
      ["full", "also what would run, or what is asked. Needed for answers"],
    ],
    String(wizard.fields.detail ?? "summary"),
  );
}

async function askAnswers(wizard: Wizard): Promise<void> {
  const { service, fields } = wizard;
  const isNeeded = needsAccount(wizard);
  if (isNeeded) await askAccounts(wizard, "Which account gets the alerts?");
  wizard.canAnswer = service.canAnswer(withDefaults(wizard), secretOf(wizard));
  if (fields.detail !== "full" || !wizard.canAnswer) delete fields.answers;
  else
    await choose(wizard, "answers", "Which requests may be answered from there?", [
      ["off", "none"],
      ["safe", "what is shown in full and not marked as dangerous"],
      ["all", "dangerous ones too, with a second tap"],
    ]);
  if (isNeeded) return;
  if (service.hasAccounts && isAnswering(wizard)) await askAccounts(wizard, "Which accounts may answer?");
  else delete fields.accounts;
}

const needsAccount = (wizard: Wizard): boolean =>
  wizard.service.needsAccount?.(withDefaults(wizard), secretOf(wizard)) === true;

const isAnswering = ({ fields }: Wizard): boolean => fields.answers === "safe" || fields.answers === "all";

async function askAccounts(wizard: Wizard, question: string): Promise<void> {
  const { service, fields, prompter } = wizard;
  const known = Array.isArray(fields.accounts) ? fields.accounts.join(", ") : "";
  const tapper = isAnswering(wizard) ? "the one that taps the button of the test" : "none";
  const hint = service.findSender ? "the one that writes to the bot" : tapper;
  for (;;) {
    const answer = await prompter.ask(`${question} Ids, with commas between them [${known || hint}]`);
    const ids = (answer || known)
      .split(",")
      .map((id) => id.trim())
      .filter((id) => id !== "");
    const wrong = ids.find((id) => (service.checkAccount?.(id) ?? null) !== null);
    if (wrong !== undefined) {
      printLines([`${quote(wrong)} must be ${service.checkAccount?.(wrong)}.`]);
      continue;
    }
    const accounts = ids.length > 0 ? ids : await findSender(wizard);
    if (accounts.length > 0) fields.accounts = [...accounts];
    else delete fields.accounts;
    return;
  }
}

const senderWaitMs = 120_000;

/** Empty if the service cannot find it out, or the user says that it was somebody else. */
async function findSender(wizard: Wizard): Promise<readonly string[]> {
  const { service, prompter } = wizard;
  if (!service.findSender) return [];
  printLines([
    `Write any message to the bot in ${service.name} now, within ${senderWaitMs / 60_000} minutes.`,
  ]);
  try {
    const signal = AbortSignal.timeout(senderWaitMs);
    const sender = await service.findSender({
      settings: withDefaults(wizard),
      secret: secretOf(wizard),
      signal,
    });
    const name = formatAccount(sender);
    return (await askYesNo(prompter, `${name} wrote to it. Is that you?`, false)) ? [sender.accountId] : [];
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    printLines([`✗ No message was found: ${redactWith(wizard)(error.message)}`]);
    return [];
  }
}

/** The account that taps the button of the test is the one that may answer. */
const isPairing = (wizard: Wizard): boolean =>
  isAnswering(wizard) && wizard.service.hasAccounts && wizard.fields.accounts === undefined;

const printTapHint = ({ name }: Service): void =>
  printLines([`Sent. Tap "It works" in ${name} within ${tapWaitMs / 1_000} s.`]);

const secretOf =
  ({ secrets, saved, name }: Wizard) =>
  (field: string): string | null => {
    const entered = secrets[field];
    return entered === undefined ? saved.get(name, field) : entered;
  };

const redactWith =
  ({ secrets, saved }: Wizard) =>
  (text: string): string =>
    Object.values(secrets).reduce<string>(
      (left, value) => (value === null ? left : left.replaceAll(value, "•••")),
      saved.redact(text),
    );

function withDefaults({ service, fields }: Wizard): Readonly<Record<string, unknown>> {
  const defaults = service.settings.flatMap(({ name, isSecret, default: value }) =>
    isSecret || value === undefined ? [] : [[name, value]],
  );
  return { ...Object.fromEntries(defaults), ...fields };
}

type Next = "save" | "again" | "stop";

/** While no account is listed yet, the settings are checked as if answers were off. */
function check(wizard: Wizard): CheckedChannel {
  const { name, fields } = wizard;
  const answers = isPairing(wizard) ? { answers: "off" } : {};
  const settings = parseConfig({ channels: { [name]: { ...fields, ...answers } } }).config.channels[name];
  return settings
    ? checkChannel(name, settings, secretOf(wizard))
    : { problems: ["These settings are not valid."] };
}

/** What is known to fail without a test message. */
function findProblems(wizard: Wizard): readonly string[] {
  const checked = check(wizard);
  if ("problems" in checked) return checked.problems;
  const { service, fields } = wizard;
  return needsAccount(wizard) && fields.accounts === undefined
    ? [`No account is set that ${service.name} could send alerts to.`]
    : [];
}

async function test(wizard: Wizard): Promise<Next> {
  const { name, service, fields } = wizard;
  const checked = check(wizard);
  if ("problems" in checked) throw new Error(checked.problems.join("; "));
  printLines(["A test message is sent now."]);
  const result = await testChannelDirectly({
    name,
    service,
    settings: checked.settings,
    secret: secretOf(wizard),
    redact: redactWith(wizard),
    isAnswering: isAnswering(wizard),
    accounts: isPairing(wizard) ? null : ((fields.accounts ?? []) as string[]),
    waitMs: tapWaitMs,
    onSent: () => printTapHint(service),
  });
  printLines(formatResult(result, service.name));
  return confirm(wizard, result);
}

async function confirm(wizard: Wizard, result: TestResult): Promise<Next> {
  const { prompter, fields } = wizard;
  if (result.outcome === "sent")
    return (await askYesNo(prompter, "Has it arrived?", true)) ? "save" : askNext(prompter);
  if (result.outcome !== "tapped") return askNext(prompter);
  if (!isPairing(wizard)) return "save";
  if (!(await askYesNo(prompter, `May ${result.by} answer from now on?`, false))) return askNext(prompter);
  fields.accounts = [result.accountId];
  return "save";
}

async function askNext(prompter: Prompter): Promise<Next> {
  for (;;) {
    const answer = await prompter.ask(
      "What now: again (change your answers), save (as it is), or stop? [again]",
    );
    if (answer === "") return "again";
    if (answer === "again" || answer === "save" || answer === "stop") return answer;
  }
}
