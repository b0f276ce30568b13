/** History: what happened, in an SQLite database. */
export { createEmptyHistory } from "./empty.ts";
