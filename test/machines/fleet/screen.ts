/** What somebody sees who sits at a machine: the alerts on its screen, and the menu of its tray. Both are asked for over a real D-Bus. */
import { Message } from "@jellybrick/dbus-next";
import { connectBus } from "../../../src/desktop/dbus.ts";
import { startBus, startServer } from "../../desktop/private-bus.ts";
import { readMenuLabels } from "../../desktop/tray-app.ts";

const watcher = "org.kde.StatusNotifierWatcher";

export async function openScreen() {
  const bus = await startBus();
  const alerts = await startServer(bus);
  const panel = await bus.connect();
  let item = "";
  panel.addMethodHandler((message) => {
    if (message.member === "RegisterStatusNotifierItem" && message.interface === watcher) {
      const [name = ""] = message.body as string[];
      item = `${name.startsWith("/") ? message.sender : name}/StatusNotifierItem`;
      panel.send(Message.newMethodReturn(message, "", []));
      return true;
    }
    return false;
  });
  await panel.requestName(watcher);
  const reader = await connectBus({ address: bus.env.DBUS_SESSION_BUS_ADDRESS, onEnd: () => {} });

  return {
    env: { DBUS_SESSION_BUS_ADDRESS: bus.env.DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR: bus.home },
    alerts,
    /** The lines of the menu, as the panel gets them. Empty if no tray is there. */
    readMenu: async (): Promise<string[]> => (item === "" ? [] : readMenuLabels(reader, item)),
    /** The program that showed the tray was killed: the panel removes what is left of it. */
    forgetTray(): void {
      item = "";
    },
    async stop(): Promise<void> {
      reader.close();
      alerts.quit();
      panel.disconnect();
      await bus.stop();
    },
  };
}

export type Screen = Awaited<ReturnType<typeof openScreen>>;
