/** What an agent offers to allow for good, in one line. Pure. */
import { maxColumns } from "../core/text/fit.ts";
import { findRightToLeft, makeLineVisible } from "../core/text/visible.ts";

/**
 * Menus and messages show an offer in one line, so a longer one would be cut. Right-to-left letters would reverse parts of it:
 * `cp א ב` is shown as `cp ב א`.
 */
export const isReadableOffer = (text: string): boolean =>
  text.length <= maxColumns && findRightToLeft(text) === null;

/** Words or patterns of a rule. One that contains the separator, or nothing, is quoted: `"npm test" x` is not `npm test x`. */
export const joinParts = (parts: readonly string[], separator: string): string =>
  parts
    .map((part) =>
      makeLineVisible(
        part === "" || part.includes(separator.trim() || separator) ? JSON.stringify(part) : part,
      ),
    )
    .join(separator);
