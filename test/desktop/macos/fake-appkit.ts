/**
 * As much of AppKit as the script needs to run without a Mac: it records calls and property values, and returns large
 * numbers as strings, like the real bridge.
 */
import { script } from "../../../src/desktop/macos/index.ts";
import { createObjcRuntime, type ObjcObject } from "./objc-objects.ts";

export type { ObjcObject } from "./objc-objects.ts";

export interface AppKitHooks {
  readonly write: (text: string) => void;
  readonly exit: (code: number) => void;
  readonly parentPid: () => number;
  readonly now: () => number;
  /** Starts a real timer and returns a function that stops it. Without it, the test fires the timers. */
  readonly schedule?: (seconds: number, repeats: boolean, fire: () => void) => () => void;
}

interface Timer {
  readonly seconds: number;
  readonly selector: string;
  readonly isValid: () => boolean;
  readonly fire: () => void;
}

interface Display {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Lines of about 44 letters. */
const countLines = (text: string): number =>
  text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 44)), 0);

export type FakeAppKit = ReturnType<typeof createFakeAppKit>;

export function createFakeAppKit(hooks: AppKitHooks) {
  const timers: Timer[] = [];
  const calls: (readonly [string, ...unknown[]])[] = [];
  const singletons = new Map<string, ObjcObject>();
  const observers: { readonly target: ObjcObject; readonly selector: string; readonly name: string }[] = [];
  const input: (string | null)[] = [];
  let isWaitingForInput = false;
  let lineHeight = 15;
  let canAnimate = true;
  let isRunning = false;
  let isVoiceOverOn = false;
  let windowCount = 0;
  let display: Display | null = { x: 0, y: 0, width: 1440, height: 875 };

  const runtime = createObjcRuntime({
    callMethod,
    callClassMethod,
    functions: {
      NSMakeRect: (x: number, y: number, width: number, height: number) => ({ x, y, width, height }),
      NSMakeSize: (width: number, height: number) => ({ width, height }),
      NSBeep: () => calls.push(["NSBeep"]),
      NSAccessibilityPostNotificationWithUserInfo: (_: unknown, name: unknown, info: unknown) =>
        calls.push(["announce", unwrap(name), unwrap(info)]),
      exit: (code: number) => hooks.exit(code),
      getppid: () => hooks.parentPid(),
    },
  });
  const { create, nil, toObject, unwrap, send } = runtime;
  const createString = (value: unknown): unknown => create("NSString", { value: String(value) }).proxy;

  function getSingleton(className: string, name = className): unknown {
    const object = singletons.get(name) ?? create(className);
    singletons.set(name, object);
    return object.proxy;
  }

  function callClassMethod(className: string, selector: string, args: readonly unknown[]): unknown {
    const [first] = args;
    if (selector === "alloc") return create(className).proxy;
    if (selector === "separatorItem") return create(className, { isSeparator: true }).proxy;
    if (selector === "mainScreen" && display === null) return nil.proxy;
    if (selector.startsWith("timer")) {
      const [seconds, target, action, userInfo, repeats] = args;
      return create(className, { seconds, target: toObject(target), action, userInfo, repeats }).proxy;
    }
    if (/Named:$/.test(selector)) return create(className, { name: unwrap(first) }).proxy;
    if (/WithString:$/.test(selector)) return create(className, { stringValue: unwrap(first) }).proxy;
    return args.length === 0
      ? getSingleton(className, className + selector)
      : create(className, { args }).proxy;
  }

  /** `setFrame:` and `initWithTitle:action:` store their arguments as properties. */
  function storeArguments(object: ObjcObject, selector: string, args: readonly unknown[]): unknown {
    const names = selector.replace(/^set|^initWith/, "").split(":");
    for (const [index, value] of args.entries()) {
      const name = names[index] ?? "";
      object.properties[name.charAt(0).toLowerCase() + name.slice(1)] = unwrap(value);
    }
    return selector.startsWith("init") ? object.proxy : undefined;
  }

  function addChild(object: ObjcObject, child: ObjcObject | null): void {
    if (child === null || child === nil) throw new Error("only an object can be added");
    child.properties.parent = object;
    object.children.push(child);
  }

  function getPart(object: ObjcObject, name: string, className: string): unknown {
    object.properties[name] ??= create(className);
    return (object.properties[name] as ObjcObject).proxy;
  }

  function callMethod(object: ObjcObject, selector: string, args: readonly unknown[]): unknown {
    const { properties } = object;
    const [first, second, third] = args;
    switch (selector) {
      case "animator":
        if (!canAnimate) throw new Error("no animator");
        return object.proxy;
      case "init":
        return object.proxy;
      case "initWithData:encoding:":
        return createString(toObject(first)?.properties.bytes);
      case "dataUsingEncoding:":
        return create("NSData", { bytes: properties.value }).proxy;
      case "initWithBase64EncodedString:options:": {
        const bytes = Buffer.from(String(unwrap(first)), "base64");
        return bytes.length === 0 ? nil.proxy : create("NSData", { bytes }).proxy;
      }
      case "initWithData:": {
        const bytes = toObject(first)?.properties.bytes;
        const isPng = bytes instanceof Buffer && bytes.subarray(1, 4).toString() === "PNG";
        return isPng ? object.proxy : nil.proxy;
      }
      case "length":
        return String((properties.bytes as string).length);
      case "writeData:":
        return hooks.write(String(toObject(first)?.properties.bytes));
      case "availableData":
        return create("NSData", { bytes: input.shift() ?? "" }).proxy;
      case "waitForDataInBackgroundAndNotifyForModes:":
        calls.push([selector, unwrap(first)]);
        isWaitingForInput = true;
        setTimeout(deliverInput, 0);
        return undefined;
      case "addObserver:selector:name:object:":
        return observers.push({
          target: toObject(first) ?? nil,
          selector: String(second),
          name: String(unwrap(third)),
        });
      case "addTimer:forMode:":
        return addTimer(toObject(first), String(unwrap(second)));
      case "userInfo":
        return properties.userInfo;
      case "invalidate":
        properties.isInvalid = true;
        return (properties.cancel as (() => void) | undefined)?.();
      case "operatingSystemVersionString":
        return createString("Version 15.0 (Build 24A335)");
      case "beginActivityWithOptions:reason:":
        calls.push(["beginActivity", first]);
        return create("NSObject").proxy;
      case "frontmostApplication":
        return getSingleton("NSRunningApplication");
      case "activateWithOptions:":
        return calls.push([selector, first]);
      case "voiceOverEnabled":
        return isVoiceOverOn;
      case "pointSize":
        return 13;
      case "play":
        return calls.push(["play", properties.name]);
      case "visibleFrame":
        return display === null
          ? undefined
          : {
              origin: { x: display.x, y: display.y },
              size: { width: display.width, height: display.height },
            };
      case "locationInWindow":
        return properties.location;
      case "statusItemWithLength:":
        return create("NSStatusItem", { length: first, isInMenuBar: true }).proxy;
      case "removeStatusItem:":
        Object.assign(toObject(first)?.properties ?? {}, { isInMenuBar: false });
        return undefined;
      case "button":
        return getPart(object, selector, "NSStatusBarButton");
      case "layer":
        return getPart(object, selector, "CALayer");
      case "cell":
        getPart(object, selector, "NSCell");
        Object.assign((properties.cell as ObjcObject).properties, { parent: object });
        return (properties.cell as ObjcObject).proxy;
      case "representedObject":
        return createString(properties.representedObject);
      case "identifier":
        return createString(properties.identifier);
      case "removeFromSuperview": {
        const { children } = properties.parent as ObjcObject;
        children.splice(children.indexOf(object), 1);
        return undefined;
      }
      case "removeAllItems":
        object.children.length = 0;
        return undefined;
      case "addItem:":
      case "addSubview:":
      case "addSubview:positioned:relativeTo:":
      case "addTrackingArea:":
        return addChild(object, toObject(first));
      case "setContentView:":
        Object.assign(toObject(first)?.properties ?? {}, { parent: object });
        return storeArguments(object, selector, args);
      case "window": {
        let ancestor: ObjcObject | undefined = object;
        while (ancestor !== undefined && ancestor.properties.windowNumber === undefined) {
          ancestor = ancestor.properties.parent as ObjcObject | undefined;
        }
        return (ancestor ?? nil).proxy;
      }
      case "initWithContentRect:styleMask:backing:defer:":
        windowCount += 1;
        Object.assign(properties, {
          windowNumber: 100 + windowCount,
          isShown: false,
          isClosed: false,
          alphaValue: 1,
        });
        return storeArguments(object, selector, args);
      case "windowNumber":
        return String(properties.windowNumber);
      case "setFrame:display:":
        properties.frame = first;
        return undefined;
      case "orderFrontRegardless":
        properties.isShown = true;
        return undefined;
      case "orderOut:":
      case "close":
        Object.assign(properties, { isShown: false, isClosed: selector === "close" });
        return undefined;
      case "cellSizeForBounds:": {
        const { stringValue, maximumNumberOfLines } = (properties.parent as ObjcObject).properties;
        const lines = countLines(String(stringValue));
        const limit = Number(maximumNumberOfLines);
        return { width: 200, height: lineHeight * (limit > 0 ? Math.min(lines, limit) : lines) };
      }
      case "run":
        isRunning = true;
        return undefined;
      default:
        if (!/^set[A-Z]|^initWith/.test(selector)) throw new Error(`the fake AppKit has no ${selector}`);
        return storeArguments(object, selector, args);
    }
  }

  function addTimer(timer: ObjcObject | null, mode: string): void {
    if (timer === null) throw new Error("not a timer");
    if (mode !== "kCFRunLoopCommonModes") {
      throw new Error(`the timer would not fire while a menu is open: ${mode}`);
    }
    const { properties } = timer;
    const fire = (): void => {
      if (properties.isInvalid) return;
      if (properties.repeats !== true) properties.isInvalid = true;
      send(properties.target as ObjcObject, String(properties.action), timer.proxy);
    };
    properties.cancel = hooks.schedule?.(Number(properties.seconds), properties.repeats === true, fire);
    timers.push({
      seconds: Number(properties.seconds),
      selector: String(properties.action),
      isValid: () => !properties.isInvalid,
      fire,
    });
  }

  function postNotification(name: string): void {
    for (const observer of observers.filter((each) => each.name === name)) {
      send(observer.target, observer.selector, create("NSObject").proxy);
    }
  }

  function deliverInput(): void {
    if (!isRunning || !isWaitingForInput || input.length === 0) return;
    isWaitingForInput = false;
    postNotification("NSFileHandleDataAvailableNotification");
  }

  return {
    objects: runtime.objects,
    create,
    send,
    postNotification,
    timers,
    calls,
    /** Runs the script up to the point where AppKit's event loop takes over. */
    start(): void {
      const load = new Function("ObjC", "$", "Date", `${script}\nreturn run;`);
      load(runtime.objc, runtime.dollar, { now: hooks.now })();
    },
    /** Delivers a chunk of stdin when the script waits for it; null is the end of stdin. */
    writeInput(chunk: string | null): void {
      input.push(chunk);
      deliverInput();
    },
    setDisplay(next: Display | null): void {
      display = next;
      postNotification("NSApplicationDidChangeScreenParametersNotification");
    },
    setLineHeight(points: number): void {
      lineHeight = points;
    },
    breakAnimator(): void {
      canAnimate = false;
    },
    setVoiceOver(isOn: boolean): void {
      isVoiceOverOn = isOn;
    },
  };
}
