import { expect, test } from "bun:test";
import { findService, services } from "../../src/channels/index.ts";
import { testService } from "./contract.ts";
import { serverStarters } from "./servers/index.ts";

for (const service of services) {
  const start = serverStarters[service.type];
  if (start) testService({ service, start });
}

test("every service of the table is tested here", () => {
  expect(services.map(({ type }) => type).sort()).toEqual(Object.keys(serverStarters).sort());
  expect(findService("carrier-pigeon")).toBeNull();
});

test.each([
  ["telegram", "server", ""],
  ["discord", "server", ""],
  ["discord", "webhook", "/api/webhooks/1/abc"],
  ["slack", "apiUrl", ""],
  ["slack", "webhookUrl", "/services/T1"],
  ["pushover", "server", ""],
])("%s takes no %s that would get its secret without TLS", (type, name, path) => {
  const setting = findService(type)?.settings.find((one) => one.name === name);
  const check = (address: string) => setting?.check(`${address}${path}`, {});
  expect([check("https://chat.example"), check("http://127.0.0.1:8081")]).toEqual([null, null]);
  expect(check("http://chat.example")).toContain("https://");
});
