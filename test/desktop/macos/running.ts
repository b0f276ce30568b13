/** The script on the bridge, and both ends of its pipe, within the test itself. */
import {
  encode,
  type PanelMessage,
  type ToChild,
  type ViewMessage,
} from "../../../src/desktop/macos/protocol.ts";
import { readTemplatePng } from "../../../src/desktop/tray/icons/macos.ts";
import { openBridge } from "./bridge.ts";
import { person } from "./person.ts";

const icon = readTemplatePng({ phase: "blocked", count: 0 }).toString("base64");

export function startScript(over: { readonly parent?: number } = {}) {
  const said: string[] = [];
  const exits: number[] = [];
  const machine = { parent: over.parent ?? 42, now: 1_000_000 };
  const bridge = openBridge({
    write: (text) => said.push(text),
    exit: (code) => exits.push(code),
    parent: () => machine.parent,
    now: () => machine.now,
  });
  bridge.start();
  return {
    bridge,
    machine,
    said,
    exits,
    someone: person(bridge),
    tell: (...messages: ToChild[]): void => bridge.input(messages.map(encode).join("")),
    heard: (kind: string): unknown[] =>
      said.map((line) => JSON.parse(line)).filter((message: { is: string }) => message.is === kind),
  };
}

export const view = (
  batch: number,
  rows: ViewMessage["rows"],
  over: Partial<ViewMessage> = {},
): ViewMessage => ({
  do: "view",
  batch,
  icon,
  count: 0,
  title: "beckon: nothing needs you",
  tooltip: "beckon",
  rows,
  ...over,
});

export const panel = (key: string, over: Partial<PanelMessage> = {}): PanelMessage => ({
  do: "panel",
  key,
  title: key,
  body: "wants Bash",
  isExact: false,
  buttons: [],
  icon,
  isUrgent: true,
  sound: false,
  staysMs: null,
  isAgain: false,
  ...over,
});
