/** As much of pe-library and resedit as is used. */
interface ResourceEntry {
  readonly id: string | number;
  readonly lang: string | number;
}
interface StringLanguage {
  readonly lang: number;
  readonly codepage: number;
}
interface VersionInfo {
  setFileVersion(major: number, minor: number, micro: number, revision: number, lang: number): void;
  setProductVersion(major: number, minor: number, micro: number, revision: number, lang: number): void;
  getAllLanguagesForStringValues(): StringLanguage[];
  removeAllStringValues(language: StringLanguage): void;
  setStringValues(language: StringLanguage, values: Readonly<Record<string, string>>): void;
  outputToResourceEntries(entries: ResourceEntry[]): void;
}
export interface NtExecutable {
  generate(): ArrayBuffer;
}
export declare const NtExecutable: {
  from(program: Uint8Array, options?: { readonly ignoreCert?: boolean }): NtExecutable;
};
export interface NtExecutableResource {
  readonly entries: ResourceEntry[];
  outputResource(program: NtExecutable): void;
}
export declare const NtExecutableResource: { from(program: NtExecutable): NtExecutableResource };
export declare const Data: {
  readonly IconFile: {
    from(file: Uint8Array): { readonly icons: readonly { readonly data: unknown }[] };
  };
};
export declare const Resource: {
  readonly VersionInfo: { fromEntries(entries: readonly ResourceEntry[]): VersionInfo[] };
  readonly IconGroupEntry: {
    fromEntries(entries: readonly ResourceEntry[]): ResourceEntry[];
    replaceIconsForResource(
      entries: ResourceEntry[],
      id: ResourceEntry["id"],
      lang: ResourceEntry["lang"],
      icons: readonly unknown[],
    ): void;
  };
};
