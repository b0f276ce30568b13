import { expect, test } from "bun:test";
import { describeProgram } from "../../src/cli/doctor-desktop.ts";
import { macAppOf } from "../../src/desktop/login/mac-app.ts";

const app = macAppOf("/Users/dev");
const alone = "/Users/dev/.local/bin/beckon";

test.each([
  ["the app", app.program, true, "The program alone: beckon doctor --desktop"],
  ["the program beside the app", alone, true, `To test that one: ${app.program} doctor --desktop`],
  ["the program without an app", alone, false, "beckon --install --login builds it"],
])(
  "on macOS the test of the desktop says that it is %s, and how to test the other",
  (_, running, exists, text) => {
    expect(describeProgram(app, running, () => exists).text).toContain(text);
  },
);
