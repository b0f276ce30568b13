/**
 * What makes a release out of a commit. Nothing here is part of the program.
 *
 * bun src/release/index.ts                   dist/release, with everything that is published
 * bun src/release/index.ts --target NAME     only for some targets; the files of package managers need all of them
 * bun src/release/index.ts --out FOLDER      to another folder
 * bun src/release/index.ts --quick           compresses less: for tests
 *
 * The same commit gives the same bytes, with the same Bun, gzip, xz, dpkg-deb and rpmbuild.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { author, description, version } from "../../package.json";
import { removeConsole } from "../system/windowless.ts";
import { releaseUrlOf, repositoryName, repositoryUrl } from "../update/address.ts";
import type { ReleaseFile } from "../update/manifest.ts";
import { type ArchivedFile, encodeTar, encodeZip } from "./archive.ts";
import { compile, writePage } from "./compile.ts";
import { type Compression, gzip, quickest, smallest, xz } from "./compress.ts";
import { collectDocuments, type Documents, listContents } from "./contents.ts";
import { buildDeb, buildRpm, debNameOf, hasLinuxPackages, rpmNameOf } from "./linux-packages.ts";
import { fillManagerFiles } from "./manager-files.ts";
import { describeFile, formatManifest, formatSums } from "./manifest.ts";
import { cutNotes } from "./notes.ts";
import { listPackages } from "./notices.ts";
import { listPlatformPackage, listWrapperPackage, packageNameOf, packedNameOf } from "./npm-packages.ts";
import { formatSbom } from "./sbom.ts";
import { type BuildTarget, findTarget, programNameOf, targets } from "./targets.ts";
import { fillTemplate, type TemplateValues } from "./template.ts";

const repo = resolve(import.meta.dir, "../..");

interface Release {
  readonly folder: string;
  readonly documents: Documents;
  readonly values: TemplateValues;
  /** The time of the commit: every file in every archive has it. */
  readonly seconds: number;
  readonly compression: Compression;
}

function readGit(...args: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...args], { cwd: repo });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
  return stdout.toString().trim();
}

/** The programs that a target's archive has. */
function readPrograms(target: BuildTarget, path: string): readonly ArchivedFile[] {
  const program = { path: programNameOf(target), bytes: readFileSync(path), isExecutable: true };
  if (target.system !== "windows") return [program];
  const windowless = Buffer.from(program.bytes);
  removeConsole(windowless);
  return [program, { path: "beckonw.exe", bytes: windowless, isExecutable: true }];
}

/** Builds everything of one target. Returns what belongs into the list of the release's files. */
async function buildTarget(target: BuildTarget, release: Release): Promise<readonly ReleaseFile[]> {
  const { folder, documents, seconds, compression } = release;
  const program = join(folder, "programs", target.name, programNameOf(target));
  await compile({ outfile: program, target });
  const programs = readPrograms(target, program);
  const name = `beckon-${target.name}`;
  const contents = listContents(name, programs, documents);
  const files: [string, Promise<Buffer> | Buffer][] = [];
  if (target.system === "windows")
    files.push([`${name}.zip`, encodeZip(contents, seconds, compression.gzip)]);
  else {
    const tar = encodeTar(contents, seconds);
    files.push([`${name}.tar.gz`, gzip(tar, compression)], [`${name}.tar.xz`, xz(tar, compression)]);
  }
  if (hasLinuxPackages(target)) {
    const bytes = readFileSync(program);
    files.push([debNameOf(target), buildDeb({ ...release, target, program: bytes })]);
    files.push([rpmNameOf(target), buildRpm({ ...release, target, program: bytes })]);
  }
  const packed = encodeTar(listPlatformPackage(target, programs, documents), seconds);
  const npmName = `npm/${packedNameOf(packageNameOf(target))}`;
  const [built] = await Promise.all([
    Promise.all(files.map(async ([file, bytes]) => writeReleased(folder, file, await bytes))),
    gzip(packed, compression).then((bytes) => write(folder, npmName, bytes)),
  ]);
  const size = Bun.file(program).size;
  console.log(
    [name, formatMb(size), ...built.map((file) => `${file.name} ${formatMb(file.size)}`)].join("  "),
  );
  return built;
}

const formatMb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function write(folder: string, name: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

/** Writes a file that is published beside the others. */
function writeReleased(folder: string, name: string, content: string | Buffer): ReleaseFile {
  write(folder, name, content);
  return describeFile(name, Buffer.from(content));
}

const scriptNames = ["install.sh", "install.ps1"] as const;

async function buildRelease(
  chosen: readonly BuildTarget[],
  folder: string,
  compression: Compression,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? readGit("log", "-1", "--format=%ct"));
  const date = new Date(seconds * 1000);
  const values = {
    version,
    description,
    publisher: author,
    repository: repositoryName,
    homepage: repositoryUrl,
    releaseUrl: releaseUrlOf(version),
    date: date.toISOString().slice(0, 10),
  };
  const release: Release = { folder, documents: collectDocuments(date), values, seconds, compression };
  await writePage();
  const files: ReleaseFile[] = [];
  for (const target of chosen) files.push(...(await buildTarget(target, release)));
  for (const name of scriptNames) {
    const script = readFileSync(join(import.meta.dir, name), "utf8");
    files.push(writeReleased(folder, name, fillTemplate(script, values)));
  }
  const sbom = formatSbom({ version, bunVersion: Bun.version, packages: listPackages(), date });
  files.push(writeReleased(folder, "beckon.cdx.json", sbom));
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const commit = readGit("rev-parse", "HEAD");
  write(folder, "manifest.json", formatManifest({ version, bun: Bun.version, commit, files }));
  write(folder, "SHA256SUMS", formatSums(files));
  write(folder, "RELEASE_NOTES.md", cutNotes(readFileSync(join(repo, "CHANGELOG.md"), "utf8"), version));
  const wrapper = encodeTar(listWrapperPackage(targets, release.documents), seconds);
  write(folder, `npm/${packedNameOf("beckon")}`, await gzip(wrapper, compression));
  if (chosen.length === targets.length)
    for (const [name, text] of fillManagerFiles(values, files)) write(folder, `packages/${name}`, text);
  else console.log("Not written, because they name every target: the files of package managers.");
  if (readGit("status", "--porcelain") !== "")
    console.log(`Not the commit ${commit}: there are changes in the checkout.`);
}

const { values: given } = parseArgs({
  options: {
    target: { type: "string", multiple: true },
    out: { type: "string" },
    quick: { type: "boolean" },
  },
});

try {
  const chosen: readonly BuildTarget[] = given.target?.map(findTarget) ?? targets;
  const folder = resolve(given.out ?? join(repo, "dist/release"));
  await buildRelease(chosen, folder, given.quick ? quickest : smallest);
} catch (error) {
  const reasons = error instanceof AggregateError ? error.errors : [error];
  for (const reason of reasons) console.error(`release failed: ${reason}`);
  process.exit(1);
}
