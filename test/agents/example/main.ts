/** beckon with one agent more: src/main.ts with another table. */
import { agents } from "../../../src/agents/index.ts";
import { example } from "./index.ts";

const table = [...agents, example];
if (process.argv[2] === "hook") {
  const { hook } = await import("../../../src/hook/index.ts");
  await hook(process.argv.slice(3), table);
} else {
  const { main } = await import("../../../src/cli/index.ts");
  process.exitCode = await main(process.argv.slice(2), table);
}
