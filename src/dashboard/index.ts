/**
 * The dashboard: page/ is what runs in the browser, and this folder's other files make it ready to be served. The API serves
 * it (src/api/server.ts) and gives it its data; nothing else in beckon knows it.
 */
export { loadPage } from "./files.ts";
