import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Alert } from "../../../src/core/view/view.ts";
import {
  batch,
  dataVariable,
  escapeXml,
  idIn,
  isTag,
  linkOf,
  newId,
  outcomes,
  powershell,
  registration,
  registryKeys,
  tagOf,
  toastButtons,
  toastXml,
} from "../../../src/desktop/windows/toast.ts";
import { answerable } from "../notify-world.ts";

const alert: Alert = {
  key: "claude:1 ask",
  session: "claude:1",
  kind: "blocked",
  urgency: "critical",
  sound: true,
  title: "shop needs you",
  body: "Bash: npm run deploy\nmain",
  since: 0,
};
const id = "0123456789abcdef0123456789abcdef";

const hostile = [
  `"/><action content="Allow" activationType="protocol" arguments="calc:"/>`,
  "</text></binding></visual><audio src='file:///c:/x'/>",
  "]]><!ENTITY x SYSTEM 'file:///c:/windows/win.ini'>&x;",
  "'; Start-Process calc; '",
  "$(Start-Process calc) `n $env:TEMP @'\n'@",
  "\u0000\u0001\u001b[2J\ud800 \uffff \u202e",
];

const texts = (xml: string): string[] =>
  [...xml.matchAll(/<text>(.*?)<\/text>/gs)].map(([, text = ""]) => text);
const markup = (xml: string): string => xml.replace(/<text>.*?<\/text>/gs, "<text/>");
const readable = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => {
    const signs: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
    return signs[name] ?? "";
  });

describe("a toast", () => {
  test("says what the alert says, and a click on it or its button opens the same link", () => {
    const xml = toastXml(alert, id);
    expect(texts(xml)).toEqual(["shop needs you", "Bash: npm run deploy\nmain"]);
    expect(xml).toStartWith(`<toast activationType="protocol" launch="beckon:${id}" scenario="reminder">`);
    expect(xml).toContain(`activationType="protocol" arguments="beckon:${id}"`);
  });

  test("has a button for each answer, each with an id of its own", () => {
    const xml = toastXml(answerable(4), id, ["a".repeat(32), "b".repeat(32)]);
    const buttons = [
      ...xml.matchAll(/<action content="([^"]*)" activationType="protocol" arguments="beckon:(\w)/g),
    ];
    expect(buttons.map(([, label, first]) => [label, first])).toEqual([
      ["Allow", "a"],
      ["Deny", "b"],
      ["Go to terminal", "0"],
    ]);
  });

  test("nobody can allow what Windows would cut", () => {
    expect(toastButtons(answerable(5)).map(({ label }) => label)).toEqual(["Deny"]);
  });

  test("stays only while somebody is blocked, and sounds only where it should", () => {
    expect(toastXml(alert, id)).not.toContain("audio");
    const quiet = toastXml({ ...alert, kind: "idle", urgency: "low", sound: false }, id);
    expect(quiet).toContain('<audio silent="true"/>');
    expect(quiet).not.toContain("scenario");
  });

  test.each(hostile)("whose text is %j is the same toast with another text", (text) => {
    const xml = toastXml({ ...alert, title: text, body: text }, id);
    expect(markup(xml)).toBe(markup(toastXml(alert, id)));
    for (const shown of texts(xml)) expect(shown).not.toMatch(/[<>"']/);
  });

  test("no text can become markup, and what XML can hold comes through", () => {
    const anything = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(anything, (text) => {
        const escaped = escapeXml(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|apos);)/);
        expect(escaped.isWellFormed()).toBe(true);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out.
        const allowed = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
        if (text.isWellFormed()) expect(readable(escaped)).toBe(allowed);
      }),
    );
    expect(escapeXml("half \ud83d a pair")).toBe("half  a pair");
  });
});

describe("what shows it", () => {
  test("is the PowerShell of Windows itself, whatever the PATH says", () => {
    const argv = powershell("C:\\Windows");
    expect(argv?.slice(0, -1)).toEqual([
      "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
      "-NoLogo",
      "-NoProfile",
      "-NonInteractive",
      "-EncodedCommand",
    ]);
    expect(powershell("D:\\WINNT\\")?.[0]).toStartWith("D:\\WINNT\\System32\\");
  });

  test.each([undefined, "", "Windows", "\\\\server\\share", '"C:\\Windows"', "/usr"])(
    "is not looked for in %j",
    (systemRoot) => {
      expect(powershell(systemRoot)).toBeNull();
    },
  );

  test("is told the same words always: texts come in a variable, as data", () => {
    const script = Buffer.from(powershell("C:\\Windows")?.at(-1) ?? "", "base64").toString("utf16le");
    expect(script).toContain(`FromBase64String($env:${dataVariable})`);
    expect(script).not.toMatch(/Invoke-Expression|\biex\b|&\s*\$|ExpandString|ScriptBlock/i);
    for (const text of hostile) {
      const jobs = [{ tag: tagOf(text), xml: toastXml({ ...alert, title: text }, id) }];
      const { data, count } = batch(jobs);
      expect(count).toBe(1);
      expect(data).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(JSON.parse(Buffer.from(data, "base64").toString("utf8"))).toEqual({ jobs });
    }
  });

  test("takes no more at a time than a variable holds, and always something", () => {
    const xml = toastXml({ ...alert, body: "x".repeat(5_000) }, id);
    const jobs = Array.from({ length: 100 }, (_, index) => ({ tag: tagOf(String(index)), xml }));
    const { count, data } = batch(jobs);
    expect(count).toBeGreaterThan(1);
    expect(data.length).toBeLessThan(32_000);
    expect(batch([{ tag: tagOf("long"), xml: "x".repeat(60_000) }]).count).toBe(1);
  });

  test("tells of each whether it was shown", () => {
    expect(outcomes("ok\r\nfailed No toasts here\r\n", 3)).toEqual([
      null,
      "No toasts here",
      "PowerShell gave no answer",
    ]);
    expect(outcomes("some banner", 1)).toEqual(["PowerShell gave no answer"]);
  });
});

describe("a toast's names", () => {
  test("are the same for the same alert, and are known again", () => {
    expect(tagOf(alert.key)).toBe(tagOf(alert.key));
    expect(tagOf(alert.key)).not.toBe(tagOf("claude:2 ask"));
    expect(isTag(tagOf(alert.key))).toBe(true);
    for (const text of ["", "17", "../x", "g".repeat(16), `${tagOf("a")}\n`]) expect(isTag(text)).toBe(false);
  });

  test("its link says nothing, and is new each time", () => {
    const ids = new Set(Array.from({ length: 100 }, newId));
    expect(ids.size).toBe(100);
    for (const each of ids) expect(idIn(linkOf(each))).toBe(each);
  });

  test.each([
    "",
    "beckon:",
    `beckon:${id} `,
    `beckon:${id}\n`,
    `beckon://${id}`,
    `BECKON:${id}`,
    `beckon:${id}0`,
  ])("%j is no link of ours", (link) => {
    expect(idIn(link)).toBeNull();
  });
});

describe("what is written into the registry", () => {
  test("is the person's own, and all of it below keys that can be taken out again", () => {
    const picture = "C:\\Users\\dev\\AppData\\Local\\beckon\\helpers\\beckon.png";
    const values = registration(["C:\\Program Files\\beckon\\beckon.exe"], "C:\\Windows", picture);
    for (const { key } of values)
      expect(registryKeys.some((own) => key === own || key.startsWith(`${own}\\`))).toBe(true);
    expect(values).toContainEqual({
      key: "Software\\Classes\\beckon\\shell\\open\\command",
      name: "",
      text: '"C:\\Windows\\System32\\conhost.exe" --headless "C:\\Program Files\\beckon\\beckon.exe" click "%1"',
    });
    expect(values).toContainEqual({ key: "Software\\Classes\\beckon", name: "URL Protocol", text: "" });
    expect(values).toContainEqual({
      key: "Software\\Classes\\AppUserModelId\\beckon",
      name: "DisplayName",
      text: "beckon",
    });
    expect(values).toContainEqual({
      key: "Software\\Classes\\AppUserModelId\\beckon",
      name: "IconUri",
      text: picture,
    });
  });
});
