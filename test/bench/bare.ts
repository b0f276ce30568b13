/** bun bare.ts FILE   the least a receiver can do: parses each body, appends it to the file, and answers. */
import { openSync, writeSync } from "node:fs";

const fd = openSync(process.argv[2] ?? "", "a", 0o600);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  async fetch(request) {
    const text = await request.text();
    JSON.parse(text);
    writeSync(fd, `${text}\n`);
    return new Response('{"ok":true}', { headers: { "content-type": "application/json" } });
  },
});
process.stdout.write(`${server.port}\n`);
