/** manifest.json: what a release consists of, for programs. */
import { Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { parseJson } from "../core/json.ts";

export interface ReleaseFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly version: string;
  /** The version of Bun that is inside. */
  readonly bun: string;
  readonly commit: string;
  readonly files: readonly ReleaseFile[];
}

/** Four times as large as the largest archive. */
const maxArchiveBytes = 500_000_000;
const maxFiles = 1_000;

/** A later release may have more fields. */
const schema = Type.Object({
  version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+(?:[-+][0-9A-Za-z.+-]{1,40})?$" }),
  files: Type.Array(
    Type.Object({
      name: Type.String({ pattern: "^[\\w.+-]{1,100}$" }),
      size: Type.Integer({ minimum: 1, maximum: maxArchiveBytes }),
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
    { maxItems: maxFiles },
  ),
});

/** null if it is not a manifest. */
export function parseManifest(text: string): Pick<Manifest, "version" | "files"> | null {
  const value = parseJson(text);
  return Check(schema, value) ? value : null;
}
