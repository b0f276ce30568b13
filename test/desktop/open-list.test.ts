import { expect, test } from "bun:test";
import { planOpenList } from "../../src/desktop/open-list.ts";

const options = { env: {}, folder: "/state/helpers", command: ["/opt/be ckon"] };
const plan = (platform: NodeJS.Platform, installed: readonly string[] = []) =>
  planOpenList({
    ...options,
    platform,
    which: (program) => (installed.includes(program) ? `/usr/bin/${program}` : null),
  });

test("the list opens in a terminal that is installed", () => {
  expect(plan("linux", ["xterm", "konsole"])?.argv).toEqual([
    "/usr/bin/konsole",
    "-e",
    "/opt/be ckon",
    "status",
    "--watch",
  ]);
  expect(plan("linux")).toBeNull();
});

test("on macOS and Windows the system's own terminal opens it", () => {
  expect(plan("darwin")).toEqual({
    argv: ["open", "/state/helpers/list.command"],
    script: "#!/bin/sh\nexec '/opt/be ckon' 'status' '--watch'\n",
  });
  expect(plan("win32")?.argv).toEqual(["cmd.exe", "/c", "start", "", "/opt/be ckon", "status", "--watch"]);
});
