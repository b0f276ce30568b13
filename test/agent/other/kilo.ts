/** Drives Kilo's terminal, which is opencode's with another name and folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isOtherCliCached, modulesOf, otherClis } from "./clis.ts";
import { createConfig, opencodeDriver } from "./opencode.ts";
import type { CliDriver } from "./sandbox.ts";

const { kilo: cli } = otherClis;
const plugin = "@kilocode/plugin";
const version = cli.packages[0].split("@").at(-1);
const dependencies = { [plugin]: version };

function readPlugin(): string {
  const path = join(modulesOf(cli), plugin, "package.json");
  return isOtherCliCached(cli) ? JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), version }) : "";
}

/** Kilo's settings file. */
export const kiloConfig = (permission: object) => ({
  ".config/kilo/kilo.json": JSON.stringify(createConfig(permission)),
});

export const kiloDriver: CliDriver = {
  ...opencodeDriver,
  cli,
  env: {
    KILO_DISABLE_AUTOUPDATE: "1",
    KILO_DISABLE_MODELS_FETCH: "1",
    KILO_DISABLE_LSP_DOWNLOAD: "1",
    KILO_DISABLE_SESSION_INGEST: "1",
    KILO_TELEMETRY_LEVEL: "off",
  },
  files: {
    ...kiloConfig({ bash: "ask", edit: "ask" }),
    // With these and the folder below, Kilo does not try to install what it needs from the registry.
    ".config/kilo/package.json": JSON.stringify({ dependencies }),
    [`.config/kilo/node_modules/${plugin}/package.json`]: readPlugin(),
    ".config/kilo/package-lock.json": JSON.stringify({
      lockfileVersion: 3,
      packages: { "": { dependencies } },
    }),
  },
  copies: {
    ".config/kilo/node_modules": (path) =>
      !path.slice(modulesOf(cli).length).match(/^\/(?:@kilocode\/cli|\.bin)/),
  },
  isWorking: (screen) => /[■⬝]{4}\s+esc|esc interrupt/.test(screen),
};
