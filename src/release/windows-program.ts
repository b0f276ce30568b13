/**
 * What makes Bun's program for Windows beckon's: name, version, publisher and icon. Bun ignores `compile.windows` when it compiles on
 * another system (1.4.4, measured), so its runtime is edited first and then compiled into.
 */
import { drawAppIcon } from "../../assets/drawing/app-icon.ts";
import { encodeIco } from "../../assets/drawing/formats.ts";
import { Data, NtExecutable, NtExecutableResource, Resource } from "./resource-editor.js";

const language = 1033;
const codepage = 1200;
const iconSizes = [16, 24, 32, 48, 256] as const;

export interface ProgramDetails {
  readonly version: string;
  readonly description: string;
  readonly publisher: string;
}

/** Bun's runtime with beckon's version resource and icon. */
export function describeProgram(
  runtime: Buffer,
  { version, description, publisher }: ProgramDetails,
): Buffer {
  // Bun signs it, and no signature survives a change.
  const program = NtExecutable.from(runtime, { ignoreCert: true });
  const resources = NtExecutableResource.from(program);
  const [info] = Resource.VersionInfo.fromEntries(resources.entries);
  const [icon] = Resource.IconGroupEntry.fromEntries(resources.entries);
  if (!info || !icon) throw new Error("Bun's runtime for Windows has no version or no icon to replace");
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  info.setFileVersion(major, minor, patch, 0, language);
  info.setProductVersion(major, minor, patch, 0, language);
  for (const one of info.getAllLanguagesForStringValues()) info.removeAllStringValues(one);
  info.setStringValues(
    { lang: language, codepage },
    {
      CompanyName: publisher,
      FileDescription: description,
      FileVersion: version,
      InternalName: "beckon",
      LegalCopyright: "MIT licence",
      OriginalFilename: "beckon.exe",
      ProductName: "beckon",
      ProductVersion: version,
    },
  );
  info.outputToResourceEntries(resources.entries);
  const { icons } = Data.IconFile.from(encodeIco(iconSizes.map(drawAppIcon)));
  Resource.IconGroupEntry.replaceIconsForResource(
    resources.entries,
    icon.id,
    icon.lang,
    icons.map(({ data }) => data),
  );
  resources.outputResource(program);
  return Buffer.from(program.generate());
}
