import { describe, expect, test } from "bun:test";
import { cliVersion } from "./agent/cli.ts";
import { describeSetup, findMissing, findObstacles, type Machine, packageGroups } from "./setup.ts";

const everything = [
  "test/core/a.test.ts",
  "test/desktop/a.test.ts",
  "test/dashboard/a.test.ts",
  "test/machines/a.test.ts",
  "test/release/a.test.ts",
  "test/long/release-arm64.test.ts",
  "test/wine/a.test.ts",
  "test/agent/a.test.ts",
];
const bareDebian: Machine = {
  isLinux: true,
  isRoot: true,
  has: (command) => command === "apt-get",
  hasCli: () => false,
  hasOtherCli: () => false,
  hasWindowsRuntime: false,
};
const text = (files: readonly string[], machine: Machine, isAllowed = true) =>
  describeSetup(findMissing(files, machine), findObstacles(isAllowed, machine)).join("\n");

describe("before it installs anything, a test run", () => {
  test("names every package, the CLI and their purpose", () => {
    const printed = text(everything, bareDebian);
    for (const { purpose, packages } of packageGroups) {
      expect(printed).toContain(purpose);
      for (const name of Object.values(packages)) expect(printed).toContain(name);
    }
    expect(printed).toMatch(/^This run first installs/);
    expect(printed).toContain("Claude Code from the npm registry");
    expect(printed).toContain(`${cliVersion} (350 MB)`);
    expect(printed).toContain("Bun's runtime for Windows");
    expect(printed).not.toContain("Not installed");
  });

  test("names each package once", () => {
    const names = findMissing(everything, bareDebian).packages.flatMap((group) => group.names);
    expect(names).toEqual([...new Set(names)]);
  });

  test("prints nothing if nothing is missing", () => {
    const machine = {
      ...bareDebian,
      has: () => true,
      hasCli: () => true,
      hasOtherCli: () => true,
      hasWindowsRuntime: true,
    };
    expect(text(everything, machine)).toBe("");
  });

  test("names the other agents' CLIs whose tests are selected", () => {
    const [opencode] = findMissing(["test/agent/opencode.test.ts"], bareDebian).otherClis;
    expect(opencode?.id).toBe("opencode");
    expect(text(["test/agent/opencode.test.ts"], bareDebian)).toMatch(/Other agents .*\n {4}opencode-ai@/);
    expect(findMissing(["test/agent/scenarios.test.ts"], bareDebian).otherClis).toEqual([]);
  });

  test("asks only for what the selected tests need", () => {
    const { packages, cliVersions, windowsRuntime } = findMissing(["test/core/a.test.ts"], bareDebian);
    expect(packages.flatMap((group) => group.names)).not.toContain("gnome-shell");
    expect({ cliVersions, windowsRuntime }).toEqual({ cliVersions: [], windowsRuntime: false });
  });

  test.each([
    ["without root", { ...bareDebian, isRoot: false }, true, "Not installed, because you are not root."],
    ["with --no-install", bareDebian, false, "Not installed, because --no-install was given."],
  ])("%s says what is skipped", (_when, machine, isAllowed, reason) => {
    const printed = text(everything, machine, isAllowed);
    expect(printed).toContain(`${reason} Tests that need it are skipped:\n  Debian packages`);
    expect(printed.slice(printed.indexOf(reason))).toContain(cliVersion);
  });

  test("still fetches the CLI on a system without apt-get", () => {
    const printed = text(everything, { ...bareDebian, has: () => false });
    expect(printed).toMatch(/^This run first installs .*\n {2}Claude Code/);
    expect(printed).toContain("Not installed, because this system has no apt-get.");
  });
});
