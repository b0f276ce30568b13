/** Opens a service's real client for a test, with the defaults of its settings. */
import type { Service } from "../../src/channels/channel.ts";
import type { Schedule } from "../../src/core/ports.ts";
import { type OpenedChannel, openOn } from "./fixture.ts";
import type { FakeService } from "./servers/fake-service.ts";

export interface OpenOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly schedule?: Schedule;
  /** What the channel saved before a restart. */
  readonly saved?: OpenedChannel["saved"];
}

export async function openService(
  service: Service,
  server: FakeService,
  { settings = server.settings, secrets = server.secrets, schedule, saved }: OpenOptions = {},
): Promise<OpenedChannel> {
  const defaults = service.settings.flatMap((setting) =>
    setting.default === undefined ? [] : [[setting.name, setting.default]],
  );
  const options = {
    settings: { ...Object.fromEntries(defaults), ...settings },
    secret: (name: string) => secrets[name] ?? null,
    schedule,
    requestTimeoutMs: 500,
  };
  return openOn(await service.load(), server, options, saved);
}
