import { describe, expect, test } from "bun:test";
import { findPackageOwner } from "../../src/setup/package-owner.ts";

const nobody = async () => ({ code: 1, stdout: "", stderr: "" });
const find = (program: string) => findPackageOwner(program, "/home/dev", nobody);

describe("a program that a package manager owns", () => {
  test.each([
    ["/opt/homebrew/Cellar/beckon/0.2.0/bin/beckon", "brew upgrade beckon", "/opt/homebrew/bin/beckon"],
    [
      "/home/linuxbrew/.linuxbrew/Cellar/beckon/0.2.0/bin/beckon",
      "brew upgrade beckon",
      "/home/linuxbrew/.linuxbrew/bin/beckon",
    ],
    [
      "/nix/store/abc-beckon-0.2.0/bin/beckon",
      "nix profile upgrade beckon",
      "/nix/store/abc-beckon-0.2.0/bin/beckon",
    ],
    [
      "C:\\Users\\Ann Lee\\scoop\\apps\\beckon\\0.2.0\\beckon.exe",
      "scoop update beckon",
      "C:\\Users\\Ann Lee\\scoop\\apps\\beckon\\current\\beckon.exe",
    ],
    [
      "C:\\Users\\a\\AppData\\Local\\Microsoft\\WinGet\\Packages\\beckon.beckon_Microsoft.Winget.Source\\beckon-windows-x64\\beckon.exe",
      "winget upgrade beckon.beckon",
      "C:\\Users\\a\\AppData\\Local\\Microsoft\\WinGet\\Packages\\beckon.beckon_Microsoft.Winget.Source\\beckon-windows-x64\\beckon.exe",
    ],
    [
      "/usr/lib/node_modules/beckon/node_modules/beckon-linux-x64/bin/beckon",
      "npm install --global beckon@latest",
      "/usr/lib/node_modules/beckon/node_modules/beckon-linux-x64/bin/beckon",
    ],
  ])("%s", async (program, update, binary) => {
    expect(await find(program)).toMatchObject({ update, binary });
  });

  test.each([
    "/home/dev/Downloads/beckon",
    "/home/dev/.local/bin/beckon",
    "/home/dev/.npm/_npx/1234/node_modules/beckon-linux-x64/bin/beckon",
    "/usr/bin/beckon",
    "C:\\Users\\a\\AppData\\Local\\Programs\\beckon\\beckon.exe",
  ])("is not %s", async (program) => {
    expect(await find(program)).toBeNull();
  });
});
