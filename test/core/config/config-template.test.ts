/** The config.json that a user without one gets. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { defaultConfig, parseConfig, settings } from "../../../src/core/config/config.ts";
import { createConfigTemplate } from "../../../src/core/config/config-template.ts";

const text = createConfigTemplate("1.2.3");
const lines = text.split("\n");
const nameOf = (key: string) => key.slice(key.indexOf(".") + 1);
const setting = (name: string) => `"//${name}": `;

test("has every setting with its description, and the version that wrote it", () => {
  for (const { key, title, description } of settings) {
    expect(text).toContain(`"// about ${nameOf(key)}": "${title}. ${description}`);
    expect(lines.filter((line) => line.includes(setting(nameOf(key))))).toHaveLength(1);
  }
  expect(text).toContain("defaults of beckon 1.2.3, or examples");
});

test("sets nothing, so that a later change of a default holds", () => {
  expect(parseConfig(JSON.parse(text))).toEqual({ config: defaultConfig, problems: [] });
  const flat = Object.entries(JSON.parse(text)).flatMap(([name, value]) =>
    name.startsWith("//") ? [] : Object.keys(value as object),
  );
  expect(flat.filter((name) => !name.startsWith("//"))).toEqual([]);
});

test("stays valid whichever // are removed, and then sets what it showed", () => {
  const all = settings.map(({ key }) => nameOf(key));
  fc.assert(
    fc.property(fc.subarray(all), (chosen) => {
      const edited = chosen.reduce((file, name) => file.replace(setting(name), `"${name}": `), text);
      const { config, problems } = parseConfig(JSON.parse(edited));
      expect(problems).toEqual([]);
      const hours = chosen.includes("quietHours") ? { from: "22:00", to: "08:00" } : null;
      expect(config).toMatchObject({
        alerts: defaultConfig.alerts,
        keep: defaultConfig.keep,
        quietHours: hours,
      });
    }),
    { numRuns: 50 },
  );
});
