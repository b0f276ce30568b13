/** The user's own machine with its beckon, and a lab of other machines that its ssh knows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { MachineSettings } from "../../src/core/config/machines.ts";
import type { MachineReport } from "../../src/machines/index.ts";
import { createAppFixture } from "../app-fixture.ts";
import { binary } from "../repo.ts";
import { openLab } from "./lab.ts";

export async function openLaptop() {
  const cleanUp = new AsyncDisposableStack();
  const lab = cleanUp.adopt(await openLab(), (opened) => opened.close());
  const app = cleanUp.adopt(createAppFixture(), (opened) => opened.destroy());
  const PATH = `${lab.bin}:${process.env.PATH}`;

  async function fetchReport(name: string): Promise<MachineReport | undefined> {
    const { machines } = (await (await app.request("/api/machines")).json()) as { machines: MachineReport[] };
    return machines.find((machine) => machine.name === name);
  }

  function setMachines(machines: Record<string, MachineSettings>): void {
    mkdirSync(dirname(app.paths.config), { recursive: true });
    writeFileSync(app.paths.config, JSON.stringify({ machines }));
  }

  return {
    lab,
    app,
    fetchReport,
    isLinked: async (name: string) => (await fetchReport(name))?.state === "linked",
    start: () => app.startProcess({ PATH }),
    /** Writes machines into the settings, each reached with ssh by its name. */
    link: (...names: string[]) => setMachines(Object.fromEntries(names.map((name) => [name, { ssh: name }]))),
    setMachines,
    spawn: (command: string[]) => app.spawn(command, { PATH }),
    /** Runs beckon without a terminal. */
    async run(...args: string[]) {
      const child = app.spawn([binary, ...args], { PATH });
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { stdout, stderr, code: await child.exited };
    },
    /** Runs beckon in a terminal, and types the answer when it asks. */
    async runInTerminal(answer: string, ...args: string[]) {
      let screen = "";
      const child = Bun.spawn([binary, ...args], {
        env: { ...app.env, PATH, TERM: "xterm", NO_COLOR: "1" },
        terminal: {
          cols: 120,
          rows: 50,
          data(terminal, bytes) {
            const before = screen;
            screen += Buffer.from(bytes).toString();
            if (!before.includes("[Y/n]") && screen.includes("[Y/n]")) terminal.write(`${answer}\r`);
          },
        },
      });
      return { code: await child.exited, screen };
    },
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}
