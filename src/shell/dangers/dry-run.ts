/** Commands that only say what they would do. When in doubt, they are taken for real. */

interface Way {
  readonly means: RegExp;
  /** Takes it back, wherever it stands. */
  readonly undoes: RegExp;
  /** Options that take the next word for their value, whatever it looks like. Missing: any may. */
  readonly values?: RegExp;
}

const undoes = /^--no-dry-run$|^--dry-run=(?!true$)/;
const plain: Way = { means: /^--dry-run(?:=true)?$/, undoes };
const cluster: Way = {
  means: /^--dry-run(?:=(?:client|server))?$/,
  undoes: /^--dry-run=(?!client$|server$)/,
};

/** Per program the beginning that knows it. Classic `yarn publish` does not: it would publish. */
const ways: Readonly<Record<string, readonly [RegExp, Way]>> = {
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
      means: /^(?:--dry-run|-[fduvq46]*n[fduvq46]*)$/,
      undoes: /^--no-dry/,
      values: /^(?:-\w*o|--push-option|--repo|--receive-pack|--exec|--recurse-submodules)$/,
    },
  ],
  "git clean": [
    /^clean$/,
    {
      means: /^(?:--dry-run|-[fdxXq]*n[fdxXq]*)$/,
      undoes: /^--no-dry/,
      values: /^(?:-\w*e|--exclude)$/,
    },
  ],
};

/** `all` begins with the subcommand. */
export function isDryRun(name: string, all: readonly string[]): boolean {
  if (name === "terraform" || name === "tofu") return all.find((arg) => !arg.startsWith("-")) === "plan";
  const [begins, way] = ways[name] ?? [];
  const words = name === "yarn" ? all.slice(0, 2).join(" ") : (all[0] ?? "");
  if (!begins?.test(words) || !way) return false;
  // What only the shell knows may take it back.
  if (all.some((arg) => /[$`*?{[]/.test(arg) || way.undoes.test(arg))) return false;
  const end = all.indexOf("--");
  const own = end < 0 ? all : all.slice(0, end);
  const takesNext = way.values ?? /^-[^=]+$/;
  return own.some(
    (arg, n) =>
      way.means.test(arg) &&
      !takesNext.test(own[n - 1] ?? "") &&
      !/^(?:false|0|null|no)$/i.test(own[n + 1] ?? ""),
  );
}
