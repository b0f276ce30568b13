import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { testWith } from "../needs.ts";
import { desktopNeeds, startDesktop } from "./desktop-harness.ts";

testWith(...desktopNeeds)("two users of a machine can take pictures at the same time", async () => {
  // A user who sets it wants all pictures in one folder.
  delete process.env.BECKON_SHOTS;
  const first = await startDesktop();
  const second = await startDesktop();
  try {
    const pictures = [await first.screenshot("same-name"), await second.screenshot("same-name")];
    expect(new Set(pictures.map(dirname)).size).toBe(2);
    expect(pictures.every(existsSync)).toBe(true);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
});
