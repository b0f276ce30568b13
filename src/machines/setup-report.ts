/** What `beckon doctor --json` of another machine says, checked: its text is shown to the user. */
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { parseJson } from "../core/json.ts";
import { limits } from "../core/limits.ts";

const text = Type.String({ maxLength: limits.maxTextLength });
const Finding = Type.Object({
  id: text,
  link: text,
  state: Type.Union((["ok", "warn", "fail", "info"] as const).map((state) => Type.Literal(state))),
  text,
  fix: Type.Union([text, Type.Null()]),
});
const Report = Type.Object({ findings: Type.Array(Finding, { maxItems: 200 }) });

export type RemoteFinding = Static<typeof Finding>;

/** null if it is not a report. A shell there may print something of its own first. */
export function readDoctorReport(stdout: string): readonly RemoteFinding[] | null {
  const report = parseJson(stdout.slice(stdout.indexOf("{\n")));
  return Check(Report, report) ? report.findings : null;
}
