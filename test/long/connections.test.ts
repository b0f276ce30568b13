import { expect, test } from "bun:test";
import { connect } from "node:net";
import { createFixture } from "../torture/fixture.ts";

const maxIdleMs = 60_000;

test("connections that send nothing, half a head or half a body are closed after a while", async () => {
  const fixture = await createFixture();
  try {
    const app = await fixture.start();
    const head = `POST /api/hook HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nContent-Type: application/json\r\n${fixture.read("auth-header").trim()}\r\nContent-Length: 1000\r\n\r\n`;
    const texts = ["", "POST /api/h", head.slice(0, -4), `${head}{"ses`];
    const started = performance.now();
    const seconds = await Promise.all(
      texts.map(
        (text) =>
          new Promise<number>((resolve) => {
            const socket = connect(app.port, "127.0.0.1", () => socket.write(text));
            socket.on("data", () => {});
            socket.on("error", () => {});
            socket.on("close", () => resolve((performance.now() - started) / 1_000));
            setTimeout(() => resolve(Number.POSITIVE_INFINITY), maxIdleMs);
          }),
      ),
    );
    console.log(`connections: closed after ${seconds.map((s) => s.toFixed(1)).join(", ")} s`);
    for (const s of seconds) expect(s).toBeLessThan(maxIdleMs / 1_000);
  } finally {
    await fixture.destroy();
  }
}, 120_000);
