/** A line for the person at the terminal: nothing in it steers the terminal, and their own folder is `~`. */

import { withTilde } from "../core/text/home.ts";
import { homeOf } from "../system/home.ts";
import { clean } from "./text.ts";

export const ownHome = (): string => homeOf(process.env);

export function forTerminal(line: string): string {
  return clean(withTilde(line, ownHome()));
}
