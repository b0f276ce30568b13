/** What an earlier beckon added to the files of agents that it no longer connects. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { formerAgents } from "../../src/agents/setup/former.ts";
import { readInstallRecord, writeInstallRecord } from "../../src/setup/install-record.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { binary } from "../repo.ts";

interface FormerFile {
  readonly agent: string;
  readonly before: string | null;
  /** As version 0.1.0 wrote it. */
  readonly installed: string;
}

const files: readonly FormerFile[] = JSON.parse(
  readFileSync(join(import.meta.dir, "../fixtures/former/hooks.json"), "utf8"),
);
const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

describe("beckon --uninstall removes what an earlier version added", () => {
  for (const { agent, before, installed } of files) {
    test(`for ${agent}, ${before === null ? "in a file of its own" : "beside the user's own hooks"}`, () => {
      const home = mkdtempSync(join(tmpdir(), "beckon-former-"));
      made.push(home);
      const former = formerAgents.find((row) => row.agent.id === agent);
      const path = former?.setup.settingsPath("user", { HOME: home }, "/") ?? "";
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, installed);
      const env = { HOME: home, PATH: "/usr/bin:/bin" };
      const paths = resolvePaths(env);
      const file = { agent, path, scope: "user", madeFolder: null } as const;
      const wroteSha256 = new Bun.CryptoHasher("sha256").update(installed).digest("hex");
      const written = { before: null, beforeSha256: null, wroteSha256: before === null ? wroteSha256 : null };
      writeInstallRecord(paths, {
        ...{ version: "0.1.0", binary: "/home/dev/.local/bin/beckon", copy: null, home: null, programs: {} },
        ...{ files: [{ ...file, ...written }], login: false, madeFolder: null },
      });
      expect(readInstallRecord(paths)?.files).toHaveLength(1);
      const run = Bun.spawnSync([binary, "--uninstall"], { env, cwd: home });
      expect(run.stderr.toString()).toBe("");
      if (before === null) expect(existsSync(path)).toBe(false);
      else expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(before));
    });
  }
});
