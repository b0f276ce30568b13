/** A fleet of apps, each with a home of its own, on a real redis-server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changeFleets, type FleetRecord, readFleets } from "../../../src/machines/fleet/fleet-file.ts";
import {
  askToJoin,
  createFleet,
  inviteMachine,
  listWaiting,
  readWelcome,
  welcome,
} from "../../../src/machines/fleet/membership.ts";
import type { FleetReport } from "../../../src/machines/fleet/report.ts";
import type { MachineReport } from "../../../src/machines/index.ts";
import { type AppFixture, createAppFixture } from "../../app-fixture.ts";
import { mainSource } from "../../repo.ts";
import { waitUntil } from "../../wait-until.ts";
import { hubAddress, type Networks } from "./networks.ts";
import { noCertificates, startRedis } from "./redis-server.ts";

export interface FleetMember extends AppFixture {
  readonly called: string;
}

const fleetName = "home";

interface Cable {
  /** Where the server is at its end. */
  readonly address: string;
  cut(): void | Promise<void>;
  mend(): void | Promise<void>;
  stop(): void;
}

/** Passes everything on to the server. While it is cut, nothing gets through, and nobody is told. */
function layCable(serverPort: number): Cable {
  interface End {
    other: Bun.Socket<End> | null;
    waiting: Uint8Array[];
  }
  let isCut = false;
  const open = new Set<Bun.Socket<End>>();
  const pass = (socket: Bun.Socket<End>, bytes: Uint8Array): void => {
    if (isCut) return;
    if (socket.data.other) socket.data.other.write(bytes);
    else socket.data.waiting.push(new Uint8Array(bytes));
  };
  const end = (socket: Bun.Socket<End>): void => {
    open.delete(socket);
    if (!isCut) socket.data.other?.end();
  };
  const listener = Bun.listen<End>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(socket) {
        socket.data = { other: null, waiting: [] };
        open.add(socket);
        if (isCut) return;
        const other = await Bun.connect<End>({
          hostname: "127.0.0.1",
          port: serverPort,
          data: { other: socket, waiting: [] },
          socket: { data: pass, close: end, error: end },
        }).catch(() => null);
        if (!other) {
          socket.end();
          return;
        }
        open.add(other);
        for (const bytes of socket.data.waiting.splice(0)) other.write(bytes);
        socket.data.other = other;
      },
      data: pass,
      close: end,
      error: end,
    },
  });
  return {
    address: `127.0.0.1:${listener.port}`,
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
      for (const socket of open) socket.terminate();
      open.clear();
    },
    stop: () => listener.stop(true),
  };
}

interface LabOptions {
  readonly kind?: FleetRecord["kind"];
  readonly share?: FleetRecord["share"];
  readonly answers?: boolean;
  readonly redis?: readonly string[];
  /** Each machine is in a network of its own. Needs root. */
  readonly networks?: Networks | null;
}

export async function createFleetLab<Name extends string>(names: readonly Name[], options: LabOptions = {}) {
  const { kind = "personal", share = "full", answers = true } = options;
  const { networks = null } = options;
  const server = await startRedis(
    options.redis,
    networks ? { enter: networks.enterHub, address: hubAddress } : undefined,
  );
  const redis = server.open();
  const settings = { ...noCertificates, url: server.url, password: null, kind, share, answers };
  const members = new Map<Name, FleetMember>();
  const hooks: Bun.Subprocess[] = [];
  let first: { readonly name: Name; record: FleetRecord } | null = null;

  const cables = new Map<Name, Cable>();

  /** Each machine has a cable of its own to the server. */
  function save(name: Name, record: FleetRecord): void {
    const cable = cables.get(name) ?? layCable(server.port);
    cables.set(name, cable);
    const url = `redis://${cable.address}/0`;
    changeFleets(get(name).paths, (fleets) => ({ ...fleets, [fleetName]: { ...record, url } }));
  }

  function get(name: Name): FleetMember {
    const member = members.get(name);
    if (!member) throw new Error(`no machine ${name}`);
    return member;
  }

  async function createMember(name: Name): Promise<AppFixture> {
    if (!networks) return createAppFixture();
    const network = await networks.add();
    const folder = mkdtempSync(join(tmpdir(), "beckon-door-"));
    const door = join(folder, "door");
    const member = createAppFixture({ enter: network.enter, door });
    await network.open(door, member.paths.endpoint);
    const stop = () => rmSync(folder, { recursive: true, force: true });
    cables.set(name, { ...network, address: `${hubAddress}:${server.port}`, stop });
    return member;
  }

  /** Makes a machine, and lets it into the fleet. */
  async function add(name: Name, person = "kim"): Promise<FleetMember> {
    members.set(name, { ...(await createMember(name)), called: name });
    if (!first) {
      first = { name, record: await createFleet(redis, { name, person }, settings) };
      save(name, first.record);
      return get(name);
    }
    const known = readFleets(get(first.name).paths).fleets[fleetName] ?? first.record;
    const invitation = await inviteMachine(redis, known, fleetName, Date.now());
    const joining = await askToJoin(redis, invitation, { name, person }, Date.now());
    const [waiting] = await listWaiting(redis, known, Date.now());
    if (!waiting) throw new Error("nobody waits");
    save(first.name, await welcome(redis, known, waiting));
    const joined = await readWelcome(redis, invitation, joining, settings);
    if (!joined) throw new Error("no welcome came");
    save(name, joined);
    return get(name);
  }

  for (const name of names) await add(name);

  const fetchReports = async (name: Name): Promise<MachineReport[]> =>
    ((await (await get(name).request("/api/machines")).json()) as { machines: MachineReport[] }).machines;

  return {
    server,
    /** Over a connection of its own: the server may have been restarted. */
    async send(command: string, ...args: string[]): Promise<unknown> {
      const once = server.open();
      try {
        return await once.send(command, args);
      } finally {
        once.close();
      }
    },
    cut: async (name: Name) => cables.get(name)?.cut(),
    mend: async (name: Name) => cables.get(name)?.mend(),
    add,
    get,
    fetchReports,
    readRecord(name: Name): FleetRecord {
      const record = readFleets(get(name).paths).fleets[fleetName];
      if (!record) throw new Error(`${name} is in no fleet`);
      return record;
    },
    async fetchFleet(name: Name): Promise<FleetReport | undefined> {
      const { fleets } = (await (await get(name).request("/api/fleets")).json()) as { fleets: FleetReport[] };
      return fleets[0];
    },
    /** Waits until everybody who runs follows all of these. */
    async waitForLinks(
      who: readonly Name[],
      others: readonly Name[] = who,
      timeoutMs = 20_000,
    ): Promise<void> {
      await waitUntil(
        async () => {
          const all = await Promise.all(
            who.map(async (name) => ({ name, reports: await fetchReports(name) })),
          );
          return all.every(({ name, reports }) =>
            others.every(
              (other) =>
                other === name || reports.some((each) => each.name === other && each.state === "linked"),
            ),
          );
        },
        timeoutMs,
        `${who.join(", ")} follow ${others.join(", ")}`,
      );
    },
    /** Runs the hook of a permission request. Resolves with the decision that it prints. */
    async ask(name: Name, session_id: string, command: string): Promise<string> {
      const event = {
        session_id,
        hook_event_name: "PermissionRequest",
        tool_name: "Bash",
        tool_input: { command },
        cwd: "/home/dev/proj",
      };
      const hook = Bun.spawn([process.execPath, mainSource, "hook", "claude"], {
        env: get(name).env,
        stdin: new Blob([JSON.stringify(event)]),
        stdout: "pipe",
      });
      hooks.push(hook);
      return hook.stdout.text();
    },
    answer: (from: Name, owner: Name, session: string, body: object): Promise<Response> =>
      get(from).post(
        { by: "command line", ...body },
        `/api/sessions/${encodeURIComponent(`${owner}/claude:${session}`)}/answer`,
      ),
    async destroy(): Promise<void> {
      for (const hook of hooks) hook.kill();
      redis.close();
      server.signal("SIGCONT");
      await Promise.all([...members.values()].map((member) => member.destroy()));
      for (const cable of cables.values()) cable.stop();
      await server.destroy();
    },
  };
}

export type FleetLab<Name extends string> = Awaited<ReturnType<typeof createFleetLab<Name>>>;
