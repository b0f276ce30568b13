/** Hooks that are there more than once: an event that comes twice counts once, but costs twice. */

import { type Finding, listed, plural, type Tell } from "../../agents/finding.ts";
import type { OwnHook } from "../../settings-file/hooks.ts";

interface Registered {
  readonly path: string;
  readonly own: readonly OwnHook[];
}

export function duplicates(files: readonly Registered[], plugin: string | null, tell: Tell): Finding[] {
  const own = files.filter((file) => file.own.length > 0);
  const again = "The events count once, but cost twice. Run: beckon --install";
  const findings = own.flatMap(({ path, own: hooks }) => {
    const seen = new Set<string>();
    const twice = hooks.filter(({ event, matcher }) => {
      const place = `${event} ${matcher ?? ""}`;
      return seen.has(place) || !seen.add(place);
    });
    const events = [...new Set(twice.map(({ event }) => event))];
    return events.length === 0 ? [] : [tell("warn", "twice", `twice in ${path}: ${listed(events)}`, again)];
  });
  const [first, ...others] = own;
  if (first && others.length > 0) {
    const paths = listed(own.map(({ path }) => path));
    const commands = new Set(own.flatMap((file) => file.own.map(({ command }) => command)));
    findings.push(
      commands.size === 1
        ? tell("info", "scopes", `registered in ${paths}: the same command, so Claude Code runs it once`)
        : tell(
            "warn",
            "scopes",
            `registered in ${plural(own.length, "file")} with different commands: ${paths}`,
            "The events count once, but cost twice. Keep one of them: beckon --uninstall, then beckon --install",
          ),
    );
  }
  if (first && plugin !== null) {
    findings.push(
      tell(
        "warn",
        "plugin-too",
        `both the plugin ${plugin} and ${first.path} call beckon`,
        "The events count once, but cost twice. Keep one: /plugin in Claude Code switches it off, or: beckon --uninstall",
      ),
    );
  }
  return findings;
}
