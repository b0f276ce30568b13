/** What is inside, for programs: a CycloneDX 1.6 bill of materials. Pure. */
import type { Package } from "./notices.ts";

export interface SbomOptions {
  readonly version: string;
  readonly bunVersion: string;
  readonly packages: readonly Package[];
  /** Of the commit. */
  readonly date: Date;
}

export function formatSbom({ version, bunVersion, packages, date }: SbomOptions): string {
  const ref = `pkg:generic/beckon@${version}`;
  const bun = {
    type: "platform",
    "bom-ref": `pkg:github/oven-sh/bun@bun-v${bunVersion}`,
    name: "bun",
    version: bunVersion,
    licenses: [{ license: { id: "MIT" } }],
    purl: `pkg:github/oven-sh/bun@bun-v${bunVersion}`,
  };
  const libraries = packages.map(({ name, version: found, licence, folder }) => ({
    type: "library",
    // A package can be there twice, in different folders.
    "bom-ref": folder,
    name,
    version: found,
    licenses: [{ license: { id: licence } }],
    purl: `pkg:npm/${name.replace("@", "%40")}@${found}`,
  }));
  const components = [bun, ...libraries];
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: date.toISOString(),
      component: { type: "application", "bom-ref": ref, name: "beckon", version, purl: ref },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}
