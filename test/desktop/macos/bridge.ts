/**
 * As much of AppKit as the script needs to run without a Mac: what it is told is remembered, what it is asked is answered,
 * large numbers come as strings, as from the real bridge.
 */
import { script } from "../../../src/desktop/macos/script.ts";
import { openObjects, type Thing } from "./objects.ts";

export type { Thing } from "./objects.ts";

export interface World {
  readonly write: (text: string) => void;
  readonly exit: (code: number) => void;
  readonly parent: () => number;
  readonly now: () => number;
  /** Starts a timer for real; absent: the test fires it. Returns what stops it. */
  readonly schedule?: (seconds: number, repeats: boolean, fire: () => void) => () => void;
}

interface Timer {
  readonly seconds: number;
  readonly selector: string;
  readonly isValid: () => boolean;
  readonly fire: () => void;
}

interface Screen {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Of about so many letters each. */
const rowsOf = (text: string): number =>
  text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 44)), 0);

export type Bridge = ReturnType<typeof openBridge>;

export function openBridge(world: World) {
  const timers: Timer[] = [];
  const calls: (readonly [string, ...unknown[]])[] = [];
  const single = new Map<string, Thing>();
  const observers: { readonly target: Thing; readonly selector: string; readonly name: string }[] = [];
  const waiting: (string | null)[] = [];
  let isListening = false;
  let isRunning = false;
  let isVoiceOver = false;
  let windows = 0;
  let screen: Screen | null = { x: 0, y: 0, width: 1440, height: 875 };

  const objects = openObjects({
    ofObject: perform,
    ofClass: performOfClass,
    functions: {
      NSMakeRect: (x: number, y: number, width: number, height: number) => ({ x, y, width, height }),
      NSMakeSize: (width: number, height: number) => ({ width, height }),
      NSBeep: () => calls.push(["NSBeep"]),
      NSAccessibilityPostNotificationWithUserInfo: (_: unknown, name: unknown, info: unknown) =>
        calls.push(["announce", plain(name), plain(info)]),
      exit: (code: number) => world.exit(code),
      getppid: () => world.parent(),
    },
  });
  const { make, nil, reveal, plain, send } = objects;
  const text = (value: unknown): unknown => make("NSString", { value: String(value) }).proxy;

  function once(kind: string, name = kind): unknown {
    const known = single.get(name) ?? make(kind);
    single.set(name, known);
    return known.proxy;
  }

  function performOfClass(kind: string, selector: string, given: readonly unknown[]): unknown {
    const [first] = given;
    if (selector === "alloc") return make(kind).proxy;
    if (selector === "separatorItem") return make(kind, { isSeparator: true }).proxy;
    if (selector === "mainScreen" && screen === null) return nil.proxy;
    if (selector.startsWith("timer")) {
      const [seconds, target, action, userInfo, repeats] = given;
      return make(kind, { seconds, target: reveal(target), action, userInfo, repeats }).proxy;
    }
    if (/Named:$/.test(selector)) return make(kind, { name: plain(first) }).proxy;
    if (/WithString:$/.test(selector)) return make(kind, { stringValue: plain(first) }).proxy;
    return given.length === 0 ? once(kind, kind + selector) : make(kind, { given }).proxy;
  }

  function keep(thing: Thing, selector: string, given: readonly unknown[]): unknown {
    const names = selector.replace(/^set|^initWith/, "").split(":");
    for (const [index, value] of given.entries()) {
      const name = names[index] ?? "";
      thing.set[name.charAt(0).toLowerCase() + name.slice(1)] = plain(value);
    }
    return selector.startsWith("init") ? thing.proxy : undefined;
  }

  function add(thing: Thing, child: Thing | null): void {
    if (child === null || child === nil) throw new Error("only an object can be added");
    child.set.parent = thing;
    thing.children.push(child);
  }

  function part(thing: Thing, name: string, kind: string): unknown {
    thing.set[name] ??= make(kind);
    return (thing.set[name] as Thing).proxy;
  }

  function perform(thing: Thing, selector: string, given: readonly unknown[]): unknown {
    const { set } = thing;
    const [first, second, third] = given;
    switch (selector) {
      case "init":
      case "animator":
        return thing.proxy;
      case "initWithData:encoding:":
        return text(reveal(first)?.set.bytes);
      case "dataUsingEncoding:":
        return make("NSData", { bytes: set.value }).proxy;
      case "initWithBase64EncodedString:options:": {
        const bytes = Buffer.from(String(plain(first)), "base64");
        return bytes.length === 0 ? nil.proxy : make("NSData", { bytes }).proxy;
      }
      case "initWithData:": {
        const bytes = reveal(first)?.set.bytes;
        const isPng = bytes instanceof Buffer && bytes.subarray(1, 4).toString() === "PNG";
        return isPng ? thing.proxy : nil.proxy;
      }
      case "length":
        return String((set.bytes as string).length);
      case "writeData:":
        return world.write(String(reveal(first)?.set.bytes));
      case "availableData":
        return make("NSData", { bytes: waiting.shift() ?? "" }).proxy;
      case "waitForDataInBackgroundAndNotifyForModes:":
        calls.push([selector, plain(first)]);
        isListening = true;
        setTimeout(deliver, 0);
        return undefined;
      case "addObserver:selector:name:object:":
        return observers.push({
          target: reveal(first) ?? nil,
          selector: String(second),
          name: String(plain(third)),
        });
      case "addTimer:forMode:":
        return schedule(reveal(first), String(plain(second)));
      case "userInfo":
        return set.userInfo;
      case "invalidate":
        set.isInvalid = true;
        return (set.cancel as (() => void) | undefined)?.();
      case "operatingSystemVersionString":
        return text("Version 15.0 (Build 24A335)");
      case "beginActivityWithOptions:reason:":
        calls.push(["beginActivity", first]);
        return make("NSObject").proxy;
      case "frontmostApplication":
        return once("NSRunningApplication");
      case "activateWithOptions:":
        return calls.push([selector, first]);
      case "voiceOverEnabled":
        return isVoiceOver;
      case "pointSize":
        return 13;
      case "play":
        return calls.push(["play", set.name]);
      case "visibleFrame":
        return screen === null
          ? undefined
          : { origin: { x: screen.x, y: screen.y }, size: { width: screen.width, height: screen.height } };
      case "locationInWindow":
        return set.location;
      case "statusItemWithLength:":
        return make("NSStatusItem", { length: first, isThere: true }).proxy;
      case "removeStatusItem:":
        Object.assign(reveal(first)?.set ?? {}, { isThere: false });
        return undefined;
      case "button":
        return part(thing, selector, "NSStatusBarButton");
      case "layer":
        return part(thing, selector, "CALayer");
      case "cell":
        part(thing, selector, "NSCell");
        Object.assign((set.cell as Thing).set, { parent: thing });
        return (set.cell as Thing).proxy;
      case "representedObject":
        return text(set.representedObject);
      case "identifier":
        return text(set.identifier);
      case "removeFromSuperview": {
        const { children } = set.parent as Thing;
        children.splice(children.indexOf(thing), 1);
        return undefined;
      }
      case "removeAllItems":
        thing.children.length = 0;
        return undefined;
      case "addItem:":
      case "addSubview:":
      case "addSubview:positioned:relativeTo:":
      case "addTrackingArea:":
        return add(thing, reveal(first));
      case "setContentView:":
        Object.assign(reveal(first)?.set ?? {}, { parent: thing });
        return keep(thing, selector, given);
      case "window": {
        let at: Thing | undefined = thing;
        while (at !== undefined && at.set.windowNumber === undefined) at = at.set.parent as Thing | undefined;
        return (at ?? nil).proxy;
      }
      case "initWithContentRect:styleMask:backing:defer:":
        windows += 1;
        Object.assign(set, { windowNumber: 100 + windows, isShown: false, isClosed: false, alphaValue: 1 });
        return keep(thing, selector, given);
      case "windowNumber":
        return String(set.windowNumber);
      case "setFrame:display:":
        set.frame = first;
        return undefined;
      case "orderFrontRegardless":
        set.isShown = true;
        return undefined;
      case "orderOut:":
      case "close":
        Object.assign(set, { isShown: false, isClosed: selector === "close" });
        return undefined;
      case "cellSizeForBounds:":
        return { width: 200, height: 15 * rowsOf(String((set.parent as Thing).set.stringValue)) };
      case "run":
        isRunning = true;
        return undefined;
      default:
        if (!/^set[A-Z]|^initWith/.test(selector)) throw new Error(`the bridge cannot do ${selector}`);
        return keep(thing, selector, given);
    }
  }

  function schedule(timer: Thing | null, mode: string): void {
    if (timer === null) throw new Error("a timer must be a timer");
    if (mode !== "kCFRunLoopCommonModes")
      throw new Error(`it would stand still while a menu is open: ${mode}`);
    const { set } = timer;
    const fire = (): void => {
      if (set.isInvalid) return;
      if (set.repeats !== true) set.isInvalid = true;
      send(set.target as Thing, String(set.action), timer.proxy);
    };
    set.cancel = world.schedule?.(Number(set.seconds), set.repeats === true, fire);
    timers.push({
      seconds: Number(set.seconds),
      selector: String(set.action),
      isValid: () => !set.isInvalid,
      fire,
    });
  }

  function notify(name: string): void {
    for (const observer of observers.filter((one) => one.name === name)) {
      send(observer.target, observer.selector, make("NSObject").proxy);
    }
  }

  function deliver(): void {
    if (!isRunning || !isListening || waiting.length === 0) return;
    isListening = false;
    notify("NSFileHandleDataAvailableNotification");
  }

  return {
    things: objects.things,
    make,
    send,
    notify,
    timers,
    calls,
    /** Runs the script up to the moment where AppKit takes over. */
    start(): void {
      const load = new Function("ObjC", "$", "Date", `${script}\nreturn run;`);
      load(objects.objc, objects.dollar, { now: world.now })();
    },
    /** A piece of stdin, whatever it ends in; null: its end. The script gets it when it has asked for it. */
    input(bytes: string | null): void {
      waiting.push(bytes);
      deliver();
    },
    setScreen(next: Screen | null): void {
      screen = next;
      notify("NSApplicationDidChangeScreenParametersNotification");
    },
    setVoiceOver(isOn: boolean): void {
      isVoiceOver = isOn;
    },
  };
}
