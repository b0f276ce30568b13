/** Why a machine behind a real ssh is not linked, as `beckon machine list` and `beckon doctor` say it, and what is tried again. */
import { expect } from "bun:test";
import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type Host, labNeeds } from "./lab.ts";
import { openLaptop } from "./laptop.ts";

const soonMs = 20_000;

/** A beckon from before there were machines. */
const olderBeckon = `#!/bin/sh
case $1 in
  --version) echo "beckon 0.0.9" ;;
  *) echo "beckon: unknown command \\"$1\\". See beckon --help." >&2; exit 2 ;;
esac
`;

async function putOlderBeckon({ folder, run }: Host): Promise<void> {
  await run(["mkdir", "-p", ".local/bin"]);
  const path = join(folder, ".local/bin/beckon");
  writeFileSync(path, olderBeckon);
  chmodSync(path, 0o755);
}

testWith(...labNeeds)(
  "list and doctor say why each machine is not linked, and which command helps",
  async () => {
    await using laptop = await openLaptop();
    const { lab, run, fetchReport } = laptop;
    const refusing = await lab.openHost("refusing");
    const renewed = await lab.openHost("renewed");
    await lab.openHost("empty");
    const old = await lab.openHost("old");
    const gone = await lab.openHost("gone");
    refusing.allowLogin(false);
    await renewed.changeHostKey();
    await putOlderBeckon(old);
    await gone.stopSshd();
    laptop.link("refusing", "renewed", "empty", "old", "gone");
    await laptop.start();
    const expected = {
      refusing: [
        "auth-failed",
        "ssh may not log in there without a password",
        "Then: beckon machine test refusing",
      ],
      renewed: ["host-key", "its host key has changed", "To compare it: ssh renewed."],
      empty: ["not-installed", "beckon is not installed there", "Run: beckon machine add empty"],
      old: ["too-old", "the beckon there is too old", "Run: beckon machine update old"],
      gone: ["down", "Connection refused", "To try now: beckon machine test gone"],
    };
    for (const [name, [kind, problem = "", fix = ""]] of Object.entries(expected)) {
      await waitUntil(async () => (await fetchReport(name))?.problem != null, soonMs, name);
      const found = await fetchReport(name);
      expect([name, found?.state, found?.problemKind]).toEqual([name, "not linked", kind as never]);
      expect(found?.problem).toContain(problem);
      expect(found?.fix).toContain(fix);
      expect(found?.since).toBeNumber();
    }
    const list = (await run("machine", "list")).stdout;
    const findings = JSON.parse((await run("doctor", "--json")).stdout).findings as {
      link: string;
      state: string;
      text: string;
      fix: string;
    }[];
    for (const [name, [, problem = "", fix = ""]] of Object.entries(expected)) {
      expect(list).toMatch(new RegExp(`^${name} .*not linked since [\\d:]+: .*${problem}`, "m"));
      expect(list).toContain(fix);
      const finding = findings.find(({ link, text }) => link === "machines" && text.startsWith(`${name}: `));
      expect(finding).toMatchObject({ state: "fail" });
      expect(finding?.text).toContain(problem);
      expect(finding?.fix).toContain(fix);
    }
  },
  60_000,
);

testWith(...labNeeds)(
  "a refused login is not tried again until a test succeeds, and then the app links it",
  async () => {
    await using laptop = await openLaptop();
    const { lab, run, fetchReport } = laptop;
    const box = await lab.openHost("box", { ".local/bin/beckon": binary });
    box.allowLogin(false);
    laptop.link("box");
    await laptop.start();
    await waitUntil(async () => (await fetchReport("box"))?.problemKind === "auth-failed", soonMs);
    const failed = await run("machine", "test", "box");
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain("box could not be linked: ssh may not log in there without a password.");
    box.allowLogin(true);
    await letTimePass(2_500, "the first two pauses of a link that is tried again");
    expect((await fetchReport("box"))?.problemKind).toBe("auth-failed");
    expect((await run("machine", "test", "box")).stdout).toContain("A test event from there arrived here.");
    await waitUntil(() => laptop.isLinked("box"), soonMs);
  },
  60_000,
);

testWith(...labNeeds)(
  "a machine that gets its beckon later is linked by itself",
  async () => {
    await using laptop = await openLaptop();
    const { lab, fetchReport } = laptop;
    const box = await lab.openHost("box");
    laptop.link("box");
    await laptop.start();
    await waitUntil(async () => (await fetchReport("box"))?.problemKind === "not-installed", soonMs);
    await box.run(["mkdir", "-p", ".local/bin"]);
    cpSync(binary, join(box.folder, ".local/bin/beckon"));
    await waitUntil(() => laptop.isLinked("box"), soonMs);
  },
  60_000,
);
