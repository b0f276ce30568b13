import { describe, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Message, MessageType } from "@jellybrick/dbus-next";
import { connectBus, ownerChanges } from "../../src/desktop/dbus.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { startBus } from "./private-bus.ts";

describe("the session bus", () => {
  const startProgram = (address: string) =>
    Bun.spawn([process.execPath, join(import.meta.dir, "../fixtures/bus-program.ts"), address], {
      stdio: ["pipe", "pipe", "inherit"],
      timeout: 20_000,
      killSignal: "SIGKILL",
    });

  testWith("linux", "dbus-daemon")("a bus that hangs does not keep a program from ending", async () => {
    const daemon = await startBus();
    try {
      const child = startProgram(daemon.env.DBUS_SESSION_BUS_ADDRESS);
      expect(new TextDecoder().decode((await child.stdout.getReader().read()).value)).toBe("connected\n");
      daemon.hang();
      child.stdin.end();
      expect(await child.exited).toBe(0);
    } finally {
      await daemon.stop();
    }
  });

  testWith("linux")(
    "a bus that accepts the connection and never answers does not keep a program from ending",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "beckon-silent-bus-"));
      const path = join(folder, "bus");
      // Half open, so that the connection does not end when our side does.
      const silent = createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).resume());
      await new Promise<void>((resolve) => silent.listen(path, resolve));
      try {
        const child = startProgram(`unix:path=${path}`);
        child.stdin.end();
        expect(await child.stdout.text()).toBe("none\n");
        expect(await child.exited).toBe(0);
      } finally {
        silent.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    15_000,
  );

  testWith("linux", "dbus-daemon")(
    "a signal that another program sends to us directly does not count as the service's",
    async () => {
      const daemon = await startBus();
      try {
        const [service, stranger] = [await daemon.connect(), await daemon.connect()];
        const bus = await connectBus({ address: daemon.env.DBUS_SESSION_BUS_ADDRESS, onEnd: () => {} });
        const received: unknown[] = [];
        const match = { sender: "a.b", interface: "a.b", member: "C" };
        await bus.onSignal(match, ([text]) => received.push(text));
        await bus.onSignal({ ...ownerChanges, arg0: "a.b" }, ([, , owner]) => received.push(owner));
        const sendSignals = async (from: typeof service, text: string) => {
          const head = { type: MessageType.SIGNAL, destination: bus.name };
          from.send(
            new Message({ ...head, path: "/", interface: "a.b", member: "C", signature: "s", body: [text] }),
          );
          const { path, interface: name, member } = ownerChanges;
          const falseOwner = ["a.b", "", `false owner of ${text}`];
          from.send(
            new Message({ ...head, path, interface: name, member, signature: "sss", body: falseOwner }),
          );
        };
        await sendSignals(stranger, "before the name has an owner");
        await service.requestName("a.b");
        await waitUntil(() => received.length > 0, 10_000);
        await sendSignals(stranger, "stranger");
        await stranger.requestName("x.y");
        await sendSignals(service, "service");
        await waitUntil(() => received.length > 1, 10_000);
        expect(received).toEqual([service.name, "service"]);
        await service.releaseName("a.b");
        await stranger.requestName("a.b");
        await sendSignals(stranger, "its successor");
        await waitUntil(() => received.length > 4, 10_000);
        expect(received.slice(2)).toEqual(["", stranger.name, "its successor"]);
        bus.close();
      } finally {
        await daemon.stop();
      }
    },
  );

  testWith("linux", "dbus-daemon")(
    "a call that is never answered fails after its timeout, or at once when the bus ends",
    async () => {
      const daemon = await startBus();
      try {
        let ends = 0;
        const address = daemon.env.DBUS_SESSION_BUS_ADDRESS;
        const silent = await daemon.connect();
        silent.addMethodHandler(() => true);
        const bus = await connectBus({ address, onEnd: () => ends++ });
        const call = { destination: silent.name ?? "", path: "/", interface: "a.b", member: "C" };
        await expect(bus.call({ ...call, timeoutMs: 50 })).rejects.toThrow("a.b.C: no answer in time");
        // Without expect, which would wait for the answer here.
        const failure = bus.call(call).catch(String);
        await daemon.kill();
        expect(await failure).toContain("the session bus has ended");
        expect(ends).toBe(1);
        await expect(bus.call(call)).rejects.toThrow("the session bus has ended");
        await expect(connectBus({ address, onEnd: () => {} })).rejects.toThrow();
      } finally {
        await daemon.stop();
      }
    },
  );
});
