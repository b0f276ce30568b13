import { connectX11 } from "../x11.ts";

type Env = Readonly<Record<string, string | undefined>>;

const answerMs = 1_000;

/** Is there a tray of the old kind? false also where there is no X server, or it does not let us in. */
export async function hasXembedTray(env: Env): Promise<boolean> {
  const x = await connectX11(env, answerMs).catch(() => null);
  if (x === null) return false;
  const screen = /\.(\d+)$/.exec(env.DISPLAY ?? "")?.[1] ?? "0";
  const owner = await x.findSelectionOwner(`_NET_SYSTEM_TRAY_S${screen}`);
  x.close();
  return owner !== 0;
}
