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
