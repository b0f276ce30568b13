/** The demo shows what a real agent sends: its payloads have the fields of recorded ones, no more and no less. */
import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import data from "../../../src/agents/claude/demo.json";
import { createClaudeDemoDay } from "../../../src/agents/claude/demo.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { readRecordings } from "../../replay/recording.ts";
import { recordedPayloads } from "./recorded-payloads.ts";

/** Types in place of values. The keys of `answers` are the questions; lists have the forms of their items once each. */
function describeForm(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const forms = new Map(value.map((item) => [JSON.stringify(describeForm(item)), describeForm(item)]));
    return [...forms.values()];
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const entries = Object.entries(value).map(([key, item]) => [
    name === "answers" ? "*" : key,
    describeForm(item, key),
  ]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** Suggestions depend on the command; their own forms are compared below. */
const formOf = ({ permission_suggestions, ...payload }: JsonRecord): string =>
  JSON.stringify(
    describeForm(permission_suggestions === undefined ? payload : { ...payload, permission_suggestions: [] }),
  );
const withoutTool = ({
  tool_input,
  tool_response,
  permission_suggestions,
  ...payload
}: JsonRecord): JsonRecord => payload;

const day = createClaudeDemoDay({ now: Date.now(), folder: "/tmp/demo" });
const steps = day.sessions.flatMap(({ createSteps }) => [0, 1].flatMap((round) => createSteps(round)));
const invented: readonly JsonRecord[] = [...day.past, ...steps].map(({ payload }) => payload);

/** Names with @ are recordings of older versions of the CLI. */
const isOlder = (name: string): boolean => name.includes("@");

function readRecorded(isWanted: (name: string) => boolean): readonly JsonRecord[] {
  return readRecordings()
    .filter(({ name }) => isWanted(name))
    .flatMap(({ rows }) => rows.flatMap(({ src, payload }) => (src === "hook" && payload ? [payload] : [])));
}

const recorded: readonly JsonRecord[] = [
  ...recordedPayloads.map(({ payload }) => payload),
  ...readRecorded((name) => !isOlder(name)),
];

const kindOf = ({ hook_event_name, tool_name }: JsonRecord): string =>
  [hook_event_name, tool_name].filter(Boolean).join(" ");
const recordedKinds = new Set(recorded.map(kindOf));
const recordedForms = new Set(recorded.map(formOf));
const formsWithoutTool = new Set(recorded.map((payload) => formOf(withoutTool(payload))));

const byKind = [...Map.groupBy(invented, kindOf)];

describe("the demo's payloads", () => {
  test.each(byKind.filter(([kind]) => recordedKinds.has(kind)))(
    "of %s have the form of a recorded one",
    (_, payloads) => {
      for (const form of new Set(payloads.map(formOf))) expect(recordedForms).toContain(form);
    },
  );

  test.each(byKind.filter(([kind]) => !recordedKinds.has(kind) && kind.includes(" ")))(
    "of %s, which is not recorded, differ only in the tool's own fields",
    (_, payloads) => {
      for (const form of new Set(payloads.map((payload) => formOf(withoutTool(payload)))))
        expect(formsWithoutTool).toContain(form);
    },
  );

  test("are of recorded events, but for tasks", () => {
    const unknown = byKind
      .map(([kind]) => kind)
      .filter((kind) => !recordedKinds.has(kind) && !kind.includes(" "));
    expect(unknown.sort()).toEqual(["TaskCompleted", "TaskCreated"]);
  });

  test("suggest rules in forms that were recorded", () => {
    const listSuggestions = (payloads: readonly JsonRecord[]) =>
      payloads
        .flatMap(({ permission_suggestions: list }) => (Array.isArray(list) ? list : []))
        .map((item) => JSON.stringify(describeForm(item)));
    // The newest version suggested no rules in the situations that were recorded.
    const known = new Set(listSuggestions([...recorded, ...readRecorded(isOlder)]));
    for (const form of new Set(listSuggestions(invented))) expect(known).toContain(form);
  });
});

test("its data has every text and figure that it shows", () => {
  const text = Type.String({ minLength: 1 });
  const texts = Type.Array(text, { minItems: 1 });
  const count = Type.Integer({ minimum: 1 });
  const strict = { additionalProperties: false };
  const names = ["name", "branch", "model", "title", "prompt", "response"] as const;
  const fields = Object.fromEntries(names.map((name) => [name, text]));
  const option = Type.Object({ label: text, description: text }, strict);
  const question = Type.Object(
    { question: text, header: text, multiSelect: Type.Boolean(), options: Type.Array(option) },
    strict,
  );
  const wait = Type.Object({ ago: count, seconds: count }, strict);
  const turn = Type.Object(
    { from: count, to: Type.Union([count, Type.Null()]), waits: Type.Array(wait) },
    strict,
  );
  const input = Type.Union([
    Type.Object({ command: text, description: Type.Literal("") }, strict),
    Type.Object({ file_path: text, old_string: text, new_string: text }, strict),
    Type.Object({ plan: text, planFilePath: text }, strict),
    Type.Object({ questions: Type.Array(question, { minItems: 1 }) }, strict),
  ]);
  const ask = Type.Object({ afterSeconds: count, waitSeconds: count, tool: text, input }, strict);
  const project = Type.Object(
    {
      ...fields,
      context: count,
      total: count,
      today: Type.Array(turn, { minItems: 1 }),
      tasks: Type.Optional(Type.Object({ done: count, subjects: texts }, strict)),
      subagents: Type.Optional(Type.Array(Type.Object({ agent_id: text, agent_type: text }, strict))),
      failure: Type.Optional(Type.Object({ error: text, last_assistant_message: text }, strict)),
      asks: Type.Optional(ask),
      runs: Type.Optional(texts),
    },
    strict,
  );
  const schema = Type.Object({ projects: Type.Record(text, project), commands: texts }, strict);
  expect([...Value.Errors(schema, data)]).toEqual([]);
  const { projects } = data;
  expect(Object.values(projects).filter(({ context, total }) => context > total)).toEqual([]);
});
