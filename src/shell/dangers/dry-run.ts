/** Commands that only print what they would do. When in doubt, they count as real. */

interface DryRunForm {
  readonly enables: RegExp;
  /** An argument that cancels the dry run, wherever it stands. */
  readonly cancels: RegExp;
  /** Options whose value is the next word. If absent, any option may have one. */
  readonly values?: RegExp;
}

const cancels = /^--no-dry-run$|^--dry-run=(?!true$)/;
const plain: DryRunForm = { enables: /^--dry-run(?:=true)?$/, cancels };
const cluster: DryRunForm = {
  enables: /^--dry-run(?:=(?:client|server))?$/,
  cancels: /^--dry-run=(?!client$|server$)/,
};

/** The subcommands of each program that know a dry run. Classic `yarn publish` does not: it would publish. */
const forms: Readonly<Record<string, readonly [RegExp, DryRunForm]>> = {
  npm: [/^(?:un)?publish$/, plain],
  pnpm: [/^publish$/, plain],
  bun: [/^publish$/, plain],
  yarn: [/^npm publish$/, plain],
  cargo: [/^publish$/, plain],
  poetry: [/^publish$/, plain],
  uv: [/^publish$/, plain],
  kubectl: [/^/, cluster],
  oc: [/^/, cluster],
  helm: [/^/, cluster],
  "git push": [
    /^push$/,
    {
      enables: /^(?:--dry-run|-[fduvq46]*n[fduvq46]*)$/,
      cancels: /^--no-dry/,
      values: /^(?:-\w*o|--push-option|--repo|--receive-pack|--exec|--recurse-submodules)$/,
    },
  ],
  "git clean": [
    /^clean$/,
    {
      enables: /^(?:--dry-run|-[fdxXq]*n[fdxXq]*)$/,
      cancels: /^--no-dry/,
      values: /^(?:-\w*e|--exclude)$/,
    },
  ],
};

/** `all` starts with the subcommand. */
export function isDryRun(name: string, all: readonly string[]): boolean {
  if (name === "terraform" || name === "tofu") return all.find((arg) => !arg.startsWith("-")) === "plan";
  const [begins, form] = forms[name] ?? [];
  const words = name === "yarn" ? all.slice(0, 2).join(" ") : (all[0] ?? "");
  if (!begins?.test(words) || !form) return false;
  // A value that only the shell knows may cancel it.
  if (all.some((arg) => /[$`*?{[]/.test(arg) || form.cancels.test(arg))) return false;
  const end = all.indexOf("--");
  const own = end < 0 ? all : all.slice(0, end);
  const takesNext = form.values ?? /^-[^=]+$/;
  return own.some(
    (arg, n) =>
      form.enables.test(arg) &&
      !takesNext.test(own[n - 1] ?? "") &&
      !/^(?:false|0|null|no)$/i.test(own[n + 1] ?? ""),
  );
}
