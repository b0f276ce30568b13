/** Runs the script in the fake AppKit, within the test's own process. */
import {
  encodeMessage,
  type PanelMessage,
  type ToHelper,
  type ViewMessage,
} from "../../../src/desktop/macos/protocol.ts";
import { readTemplatePng } from "../../../src/desktop/tray/icons.ts";
import { createFakeAppKit } from "./fake-appkit.ts";
import { createFakeUser } from "./fake-user.ts";

const icon = readTemplatePng({ phase: "blocked", count: 0 }).toString("base64");

export function startScript(over: { readonly parentPid?: number } = {}) {
  const output: string[] = [];
  const exits: number[] = [];
  const machine = { parentPid: over.parentPid ?? 42, now: 1_000_000 };
  const appKit = createFakeAppKit({
    write: (text) => output.push(text),
    exit: (code) => exits.push(code),
    parentPid: () => machine.parentPid,
    now: () => machine.now,
  });
  appKit.start();
  return {
    appKit,
    machine,
    output,
    exits,
    user: createFakeUser(appKit),
    send: (...messages: ToHelper[]): void => appKit.writeInput(messages.map(encodeMessage).join("")),
    received: (type: string): unknown[] =>
      output.map((line) => JSON.parse(line)).filter((message: { type: string }) => message.type === type),
  };
}

export const createViewMessage = (
  batch: number,
  rows: ViewMessage["rows"],
  over: Partial<ViewMessage> = {},
): ViewMessage => ({
  type: "view",
  name: "beckon",
  batch,
  icon,
  count: 0,
  title: "beckon: nothing needs you",
  tooltip: "beckon",
  rows,
  ...over,
});

export const createPanelMessage = (key: string, over: Partial<PanelMessage> = {}): PanelMessage => ({
  type: "panel",
  key,
  title: key,
  body: "wants Bash",
  isExact: false,
  buttons: [],
  icon,
  isUrgent: true,
  sound: false,
  visibleMs: null,
  isRepeated: false,
  ...over,
});
