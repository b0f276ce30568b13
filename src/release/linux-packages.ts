/** The .deb and the .rpm, built by dpkg-deb and rpmbuild from the same tree of files. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../../package.json";
import type { ArchivedFile } from "./archive.ts";
import { type Compression, gzip } from "./compress.ts";
import type { Documents } from "./contents.ts";
import { readTemplate } from "./manager-files.ts";
import type { BuildTarget } from "./targets.ts";
import { fillTemplate, type TemplateValues } from "./template.ts";

const debArchitecture = { x64: "amd64", arm64: "arm64" } as const;
const rpmArchitecture = { x64: "x86_64", arm64: "aarch64" } as const;

/** Both need glibc. */
export const hasLinuxPackages = ({ libc }: BuildTarget): boolean => libc === "glibc";
export const debNameOf = ({ cpu }: BuildTarget): string => `beckon_${version}_${debArchitecture[cpu]}.deb`;
export const rpmNameOf = ({ cpu }: BuildTarget): string => `beckon-${version}-1.${rpmArchitecture[cpu]}.rpm`;

export interface LinuxPackageOptions {
  readonly target: BuildTarget;
  readonly program: Buffer;
  readonly documents: Documents;
  readonly values: TemplateValues;
  /** When everything in the package was changed. */
  readonly seconds: number;
  readonly compression: Compression;
}

async function listInstalled(
  options: LinuxPackageOptions,
  notices: string,
): Promise<readonly ArchivedFile[]> {
  const { program, documents, compression } = options;
  return [
    { path: "usr/bin/beckon", bytes: program, isExecutable: true },
    { path: "usr/share/man/man1/beckon.1.gz", bytes: await gzip(documents.manual, compression) },
    { path: "usr/share/bash-completion/completions/beckon", bytes: documents.bash },
    { path: "usr/share/zsh/vendor-completions/_beckon", bytes: documents.zsh },
    { path: "usr/share/fish/vendor_completions.d/beckon.fish", bytes: documents.fish },
    { path: notices, bytes: Buffer.concat([documents.licence, Buffer.from("\n"), documents.notices]) },
  ];
}

/** Writes the files, calls `use` with the folder, and removes it. */
async function withTree<Result>(
  files: readonly ArchivedFile[],
  seconds: number,
  use: (tree: string, folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-package-"));
  const tree = join(folder, "tree");
  try {
    for (const { path, bytes, isExecutable } of files) {
      const full = join(tree, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, bytes);
      chmodSync(full, isExecutable ? 0o755 : 0o644);
      utimesSync(full, seconds, seconds);
    }
    return await use(tree, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(command: readonly string[], seconds: number): Promise<void> {
  if (Bun.which(command[0] ?? "") === null)
    throw new Error(`${command[0]} is missing. On Debian and Ubuntu: apt-get install dpkg rpm`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(seconds) };
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}:\n${stdout}${stderr}`);
}

export async function buildDeb(options: LinuxPackageOptions): Promise<Buffer> {
  const { target, values, seconds, compression } = options;
  const files = await listInstalled(options, "usr/share/doc/beckon/copyright");
  const bytes = files.reduce((total, file) => total + file.bytes.length, 0);
  const control = fillTemplate(readTemplate("deb/control"), {
    ...values,
    architecture: debArchitecture[target.cpu],
    installedKb: String(Math.ceil(bytes / 1024)),
  });
  const all = [...files, { path: "DEBIAN/control", bytes: Buffer.from(control) }];
  return withTree(all, seconds, async (tree, folder) => {
    const output = join(folder, "beckon.deb");
    await run(["dpkg-deb", "--root-owner-group", ...compression.deb, "--build", tree, output], seconds);
    return readFileSync(output);
  });
}

export async function buildRpm(options: LinuxPackageOptions): Promise<Buffer> {
  const { target, values, seconds, compression } = options;
  const files = await listInstalled(options, "usr/share/licenses/beckon/LICENSE");
  return withTree(files, seconds, async (tree, folder) => {
    const spec = join(folder, "beckon.spec");
    const paths = files.map(({ path }) => `/${path}`).join("\n");
    writeFileSync(
      spec,
      fillTemplate(readTemplate("rpm/beckon.spec"), { ...values, folder: tree, files: paths }),
    );
    const settings = {
      _topdir: join(folder, "rpm"),
      _rpmdir: folder,
      _rpmfilename: "beckon.rpm",
      _buildhost: "localhost",
      _binary_payload: compression.rpm,
      use_source_date_epoch_as_buildtime: "1",
      clamp_mtime_to_source_date_epoch: "1",
    };
    const defines = Object.entries(settings).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
    const architecture = `${rpmArchitecture[target.cpu]}-linux`;
    await run(["rpmbuild", "-bb", "--target", architecture, ...defines, spec], seconds);
    return readFileSync(join(folder, "beckon.rpm"));
  });
}
