/** Reads a list that beckon saved: another version may have written it, or the file is damaged. */
import type { Static, TSchema } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";

/** Rows that make no sense are dropped. */
export const readRows = <Schema extends TSchema>(
  schema: Schema,
  rows: readonly unknown[],
): Static<Schema>[] => rows.filter((row): row is Static<Schema> => Check(schema, row));
