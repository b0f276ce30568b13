import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Exec } from "../../../src/core/interfaces/index.ts";
import type { ExecResult } from "../../../src/core/terminals/plan.ts";
import type { Alert } from "../../../src/core/view/view.ts";
import {
  createRegistration,
  createToastId,
  createToasts,
  dataVariable,
  encodeBatch,
  escapeXml,
  findPowershell,
  formatToast,
  formatToastLink,
  isTag,
  parseResults,
  parseToastLink,
  registryKeys,
  selectToastButtons,
  type ToastJob,
  tagOf,
} from "../../../src/desktop/windows/toasts.ts";
import { waitUntil } from "../../wait-until.ts";
import { answerable } from "../notify-fixtures.ts";

const alert: Alert = {
  key: "claude:1 ask",
  session: "claude:1",
  kind: "blocked",
  urgency: "urgent",
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
const unescapeXml = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => {
    const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
    return characters[name] ?? "";
  });

describe("a toast", () => {
  test("shows the alert, and a click on it or on its button opens the same link", () => {
    const xml = formatToast(alert, id);
    expect(texts(xml)).toEqual(["shop needs you", "Bash: npm run deploy\nmain"]);
    expect(xml).toStartWith(`<toast activationType="protocol" launch="beckon:${id}" scenario="reminder">`);
    expect(xml).toContain(`activationType="protocol" arguments="beckon:${id}"`);
  });

  test("has a button for each answer, each with its own id", () => {
    const xml = formatToast(answerable(4), id, ["a".repeat(32), "b".repeat(32)]);
    const buttons = [
      ...xml.matchAll(/<action content="([^"]*)" activationType="protocol" arguments="beckon:(\w)/g),
    ];
    expect(buttons.map(([, label, first]) => [label, first])).toEqual([
      ["Allow", "a"],
      ["Deny", "b"],
      ["Go to terminal", "0"],
    ]);
  });

  test("does not offer Allow for a text that Windows would cut", () => {
    expect(selectToastButtons(answerable(5)).map(({ label }) => label)).toEqual(["Deny"]);
  });

  test("stays only if it is urgent, and has a sound only if the alert has one", () => {
    expect(formatToast(alert, id)).not.toContain("audio");
    const quiet = formatToast({ ...alert, kind: "idle", urgency: "low", sound: false }, id);
    expect(quiet).toContain('<audio silent="true"/>');
    expect(quiet).not.toContain("scenario");
  });

  test.each(hostile)("with the text %j has the same markup as any other", (text) => {
    const xml = formatToast({ ...alert, title: text, body: text }, id);
    expect(markup(xml)).toBe(markup(formatToast(alert, id)));
    for (const text of texts(xml)) expect(text).not.toMatch(/[<>"']/);
  });

  test("never lets a text become markup, and keeps every character that XML allows", () => {
    const anything = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(anything, (text) => {
        const escaped = escapeXml(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|apos);)/);
        expect(escaped.isWellFormed()).toBe(true);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML does not allow.
        const allowed = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
        if (text.isWellFormed()) expect(unescapeXml(escaped)).toBe(allowed);
      }),
    );
    expect(escapeXml("lone \ud83d surrogate")).toBe("lone  surrogate");
  });
});

describe("the PowerShell that shows toasts", () => {
  test("is the one of Windows itself, not the first one on the PATH", () => {
    const argv = findPowershell("C:\\Windows");
    expect(argv?.slice(0, -1)).toEqual([
      "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
      "-NoLogo",
      "-NoProfile",
      "-NonInteractive",
      "-EncodedCommand",
    ]);
    expect(findPowershell("D:\\WINNT\\")?.[0]).toStartWith("D:\\WINNT\\System32\\");
  });

  test.each([undefined, "", "Windows", "\\\\server\\share", '"C:\\Windows"', "/usr"])(
    "is not searched in %j",
    (systemRoot) => {
      expect(findPowershell(systemRoot)).toBeNull();
    },
  );

  test("runs a constant script that reads the texts as data from a variable", () => {
    const script = Buffer.from(findPowershell("C:\\Windows")?.at(-1) ?? "", "base64").toString("utf16le");
    expect(script).toContain(`FromBase64String($env:${dataVariable})`);
    expect(script).not.toMatch(/Invoke-Expression|\biex\b|&\s*\$|ExpandString|ScriptBlock/i);
    for (const text of hostile) {
      const jobs = [{ tag: tagOf(text), xml: formatToast({ ...alert, title: text }, id) }];
      const { data, count } = encodeBatch(jobs);
      expect(count).toBe(1);
      expect(data).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(JSON.parse(Buffer.from(data, "base64").toString("utf8"))).toEqual({ jobs });
    }
  });

  test("gets no more jobs at a time than fit into a variable, and at least one", () => {
    const xml = formatToast({ ...alert, body: "x".repeat(5_000) }, id);
    const jobs = Array.from({ length: 100 }, (_, index) => ({ tag: tagOf(String(index)), xml }));
    const { count, data } = encodeBatch(jobs);
    expect(count).toBeGreaterThan(1);
    expect(data.length).toBeLessThan(32_000);
    expect(encodeBatch([{ tag: tagOf("long"), xml: "x".repeat(60_000) }]).count).toBe(1);
  });

  test("reports for each job whether it worked", () => {
    expect(parseResults("ok\r\nfailed No toasts here\r\n", 3)).toEqual([
      null,
      "No toasts here",
      "PowerShell gave no answer",
    ]);
    expect(parseResults("some banner", 1)).toEqual(["PowerShell gave no answer"]);
  });
});

describe("tags and links", () => {
  test("the tag is the same for the same alert, and recognized", () => {
    expect(tagOf(alert.key)).toBe(tagOf(alert.key));
    expect(tagOf(alert.key)).not.toBe(tagOf("claude:2 ask"));
    expect(isTag(tagOf(alert.key))).toBe(true);
    for (const text of ["", "17", "../x", "g".repeat(16), `${tagOf("a")}\n`]) expect(isTag(text)).toBe(false);
  });

  test("the id in a link is random", () => {
    const ids = new Set(Array.from({ length: 100 }, createToastId));
    expect(ids.size).toBe(100);
    for (const id of ids) expect(parseToastLink(formatToastLink(id))).toBe(id);
  });

  test.each([
    "",
    "beckon:",
    `beckon:${id} `,
    `beckon:${id}\n`,
    `beckon://${id}`,
    `BECKON:${id}`,
    `beckon:${id}0`,
  ])("%j is not one of our links", (link) => {
    expect(parseToastLink(link)).toBeNull();
  });
});

describe("the registry values", () => {
  test("are all below the keys that uninstalling removes", () => {
    const icon = "C:\\Users\\dev\\AppData\\Local\\beckon\\helpers\\beckon.png";
    const values = createRegistration(["C:\\Program Files\\beckon\\beckon.exe"], icon);
    for (const { key } of values)
      expect(registryKeys.some((removed) => key === removed || key.startsWith(`${removed}\\`))).toBe(true);
    expect(values).toContainEqual({
      key: "Software\\Classes\\beckon\\shell\\open\\command",
      name: "",
      text: '"C:\\Program Files\\beckon\\beckonw.exe" click "%1"',
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
      text: icon,
    });
  });
});

/** A fake PowerShell that answers when the test says so. */
function createSlowPowershell() {
  const runs: { jobs: ToastJob[]; answer: (result: Partial<ExecResult>) => void }[] = [];
  const exec: Exec = (_argv, options) => {
    const { promise, resolve } = Promise.withResolvers<ExecResult>();
    const { jobs } = JSON.parse(Buffer.from(options?.env?.[dataVariable] ?? "", "base64").toString());
    runs.push({ jobs, answer: (result) => resolve({ code: 0, stdout: "", stderr: "", ...result }) });
    return promise;
  };
  return { runs, exec };
}
const tags = (run: { jobs: ToastJob[] } | undefined) => run?.jobs.map(({ tag }) => tag);

describe("the queue of toasts", () => {
  test("runs one PowerShell at a time, and the next one takes all that wait", async () => {
    const { runs, exec } = createSlowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const sent = ["a", "b", "c"].map((tag) => toasts.send({ tag, xml: "<toast/>" }));
    expect(runs.map(tags)).toEqual([["a"]]);
    runs[0]?.answer({ stdout: "ok\r\n" });
    expect(await sent[0]).toBeNull();
    expect(tags(runs[1])).toEqual(["b", "c"]);
    runs[1]?.answer({ stdout: "ok\r\nfailed because\r\n" });
    expect(await Promise.all(sent)).toEqual([null, null, "because"]);
    expect(runs).toHaveLength(2);
  });

  test("stopping removes the toasts on the screen, and shows no others", async () => {
    const { runs, exec } = createSlowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const ok = async (job: ToastJob) => {
      const sent = toasts.send(job);
      runs.at(-1)?.answer({ stdout: "ok" });
      await sent;
    };
    await ok({ tag: "seen", xml: "<toast/>" });
    await ok({ tag: "closed", xml: "<toast/>" });
    await ok({ tag: "closed", xml: null });
    void toasts.send({ tag: "sending", xml: "<toast/>" });
    void toasts.send({ tag: "waiting", xml: "<toast/>" });
    const stopped = toasts.stop();
    runs.at(-1)?.answer({ stdout: "ok" });
    await waitUntil(() => runs.length === 5, 10_000);
    expect(runs.at(-1)?.jobs).toEqual(["seen", "sending", "waiting"].map((tag) => ({ tag, xml: null })));
    runs.at(-1)?.answer({ stdout: "ok\nok\nok" });
    await stopped;
    expect(runs).toHaveLength(5);
  });

  test("stopping without a toast on the screen runs no PowerShell", async () => {
    const { runs, exec } = createSlowPowershell();
    await createToasts(["powershell.exe"], exec).stop();
    expect(runs).toHaveLength(0);
  });

  test("a PowerShell that hangs does not keep beckon from stopping", async () => {
    const { exec } = createSlowPowershell();
    const toasts = createToasts(["powershell.exe"], exec, { stopTimeoutMs: 50 });
    void toasts.send({ tag: "a", xml: "<toast/>" });
    await toasts.stop();
  }, 2_000);

  test("a toast that is closed before it was sent is not shown", async () => {
    const { runs, exec } = createSlowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const first = toasts.send({ tag: "a", xml: "<toast/>" });
    const shown = toasts.send({ tag: "b", xml: "<toast/>" });
    const closed = toasts.send({ tag: "b", xml: null });
    expect(await shown).toBeNull();
    runs[0]?.answer({ stdout: "ok" });
    await first;
    expect(runs[1]?.jobs).toEqual([{ tag: "b", xml: null }]);
    runs[1]?.answer({ stdout: "ok" });
    expect(await closed).toBeNull();
  });

  test.each([
    ["may not run at all", { code: null, stderr: "Access is denied" }, true],
    ["may not run the script", { code: 1, stderr: "Cannot invoke method in this language mode" }, true],
    ["runs and says nothing", { code: 0 }, false],
    ["runs, without toasts", { code: 0, stdout: "failed No toasts here" }, false],
  ])("a PowerShell that %s: %j is restricted: %p", async (_name, result, isRestricted) => {
    const { runs, exec } = createSlowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const sent = toasts.send({ tag: "a", xml: "<toast/>" });
    runs[0]?.answer(result);
    expect(await sent).toBeString();
    expect(toasts.isRestricted()).toBe(isRestricted);
  });

  test("a PowerShell that cannot be run is reported", async () => {
    const { runs, exec } = createSlowPowershell();
    const sent = createToasts(["powershell.exe"], exec).send({ tag: "a", xml: "<toast/>" });
    runs[0]?.answer({ code: null, stderr: "ENOENT\n" });
    expect(await sent).toBe("PowerShell cannot be run: ENOENT");
  });
});
