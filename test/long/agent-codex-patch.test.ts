/** Patches with the real Codex: what beckon shows and marks is what Codex writes. */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import { codexAnswering } from "../../src/agents/codex/answering.ts";
import { approvalMethods } from "../../src/agents/codex/server.ts";
import { listPatchedFiles, parsePatch } from "../../src/agents/patch.ts";
import { resolvePath } from "../../src/core/text/paths.ts";
import { home } from "../agent/namespace.ts";
import { otherClis, testWithOtherCli } from "../agent/other/clis.ts";
import { codexDriver, patchingModel, startWithServer } from "../agent/other/codex.ts";
import { patchedFolder, readWithCodex } from "../agent/other/codex-patches.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { answerInBeckon } from "../agent/other/story.ts";

const hidden = (begin: string) =>
  [
    ...[begin, `*** Add File: ${home}/.profile`, "+echo pwned"],
    ...[
      "  *** Add File: docs.md",
      "+*** Begin Patch",
      "+*** Add File: notes.txt",
      "+hello",
      "+*** End Patch",
    ],
    ...["*** End Patch", ""],
  ].join("\n");

for (const cli of [otherClis.codex, otherClis.olderCodex]) {
  const { testScenario } = createOtherCliTests({ ...codexDriver, cli });
  const [version] = cli.packages;
  testScenario(
    `${version}: a patch whose first line ends with \\r is shown as it is applied`,
    async (sandbox) => {
      await startWithServer(sandbox, `--model ${patchingModel}`);
      await sandbox.openDialog("permission", callTool("apply_patch", hidden("*** Begin Patch\r")));
      const shown = await answerInBeckon(sandbox, "allow", "--yes");
      expect(shown).toContain(`⟨write⟩ ${home}/.profile\n`);
      expect(shown).toContain("+echo pwned");
      expect(shown).toContain(`⟨write⟩ ${home}/proj/docs.md\n`);
      expect(shown).toContain(`⚠ changes the settings of your account or system (${home}/.profile)`);
      // What was shown is what was written.
      expect(sandbox.hasFile(".profile")).toBe(true);
      expect(await sandbox.listFiles()).toEqual(["docs.md"]);
    },
  );
}

const existing = { "a.txt": "one\ntwo\nthree\n", "sub/b.txt": "one\ntwo\nthree\n" };

/** A part that is mostly the first, sometimes one of the others. */
const mostly = (first: string, ...others: readonly string[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(first) }, fc.constantFrom(...others));
const join = (...parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(""));
const before = mostly("", " ", "\t", "\u0085", "\u00a0", "\ufeff");
const after = mostly("", " ", "\t ", "\r", "\u0085", "\u2003", "\u2028", "\u3000", "\u200b", "\v", "\f");
const line = (text: fc.Arbitrary<string>) => join(before, text, after, fc.constant("\n"));
const prefixed = (prefix: string, text: fc.Arbitrary<string>) => text.map((rest) => `${prefix}${rest}`);
const added = fc.constantFrom(
  ...["n.txt", "sub/n.txt", "./n2.txt", "../up.txt", `${home}/.profile`, "a b.txt", "sub/../n3.txt"],
  ...["~/t.txt", "x\ry", "x\ty", "n\u00a0.txt", "p%41?q#r"],
);
const present = fc.constantFrom("a.txt", "sub/b.txt", `${patchedFolder}/a.txt`, "./sub/b.txt");
const content = fc.array(
  join(
    fc.constant("+"),
    fc.constantFrom("hello", "", "*** Begin Patch", "*** Add File: x.txt", " *** End Patch", "*** End Patch"),
    after,
    fc.constant("\n"),
  ),
  { maxLength: 3 },
);
const section = fc.oneof(
  join(
    line(prefixed("*** Add File: ", added)),
    content.map((lines) => lines.join("")),
  ),
  line(prefixed("*** Delete File: ", present)),
  join(
    line(prefixed("*** Update File: ", present)),
    fc.oneof(fc.constant(""), line(prefixed("*** Move to: ", added))),
    fc.constantFrom("@@\n", "", "@@ one\n"),
    fc.constantFrom("-two\n+2\n", "+only\n"),
    mostly(
      "",
      " *** Add File: x.txt\n",
      "*** End of File\n",
      "\n",
      "  *** Delete File: a.txt\n",
      "*** Move to: q\n",
    ),
  ),
);
const patch = fc
  .tuple(
    mostly("", "<<'EOF'\n", "<<EOF\n", '<<"EOF"\n', "\n", "text\n"),
    line(fc.constant("*** Begin Patch")),
    mostly("", "\n", "*** Environment ID: local\n", "*** Environment ID: other\n", "text\n"),
    fc.array(section, { minLength: 1, maxLength: 3 }).map((sections) => sections.join("")),
    join(before, fc.constant("*** End Patch"), after),
    mostly("\n", "", "\n\n", "\ntext"),
  )
  .map(([start, ...rest]) => [start, ...rest, ...(start.startsWith("<<") ? ["EOF\n"] : [])].join(""));

interface SentChange {
  readonly path: string;
  readonly kind: { readonly type: string; readonly move_path?: string | null };
}

describe.each([otherClis.codex, otherClis.olderCodex])("$packages.0", (cli) => {
  const runs = 250;
  testWithOtherCli(cli)(
    `reads ${runs} patches of every form as beckon does`,
    async () => {
      const patches = [hidden("*** Begin Patch\r"), hidden("*** Begin Patch "), ...fc.sample(patch, runs)];
      const read = await readWithCodex(cli, existing, patches);
      const resolve = (path: string) => resolvePath(patchedFolder, path);
      let accepted = 0;
      for (const [index, text] of patches.entries()) {
        const changes = read[index] as readonly SentChange[] | null;
        if (changes === null) continue;
        accepted++;
        const files = changes.flatMap(({ path, kind }) => (kind.move_path ? [path, kind.move_path] : [path]));
        const sections = parsePatch(text)?.flatMap(({ path, moveTo }) =>
          moveTo === null ? [resolve(path)] : [resolve(path), resolve(moveTo)],
        );
        expect([text, sections?.sort()]).toEqual([text, [...files].sort()]);
        expect(listPatchedFiles(text).map(resolve)).toEqual(expect.arrayContaining(files));
        const request = { method: approvalMethods.patch, folder: patchedFolder, changes, patch: text };
        const details = codexAnswering.describe(request, { cwd: patchedFolder });
        expect([text, details?.isWhole]).toEqual([text, true]);
        if (files.includes(`${home}/.profile`)) expect(details?.dangers.join()).toContain(".profile");
      }
      console.log(`${cli.packages[0]} accepts ${accepted} of ${patches.length} patches`);
      expect(accepted).toBeGreaterThan(patches.length / 5);
    },
    300_000,
  );
});
