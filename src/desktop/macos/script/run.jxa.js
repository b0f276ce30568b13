// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* The classes whose methods AppKit calls, and the start of the program. */

const accessory = 1;
const parentCheckSeconds = 5;
const startSeconds = 5;
/** NSActivityUserInitiatedAllowingIdleSystemSleep: the Mac may still sleep. */
const withoutAppNap = 0x00efffff;

let target = null;
let parentPid = 0;
let frontmost = null;
let startedAt = 0;
let activity = null;

const method = (types, work) => ({ types, implementation: catchErrors(work) });

ObjC.registerSubclass({
  name: "BeckonTarget",
  superclass: "NSObject",
  methods: {
    "readInput:": method(["void", ["id"]], readInput),
    "menuNeedsUpdate:": method(["void", ["id"]], buildMenu),
    "chooseItem:": method(["void", ["id"]], chooseItem),
    "answer:": method(["void", ["id"]], answer),
    "expire:": method(["void", ["id"]], expire),
    "faded:": method(["void", ["id"]], faded),
    "screensChanged:": method(["void", ["id"]], () => arrange()),
    "becameActive:": method(["void", ["id"]], reactivateFrontmost),
    "checkParent:": method(["void", ["id"]], checkParent),
  },
});

ObjC.registerSubclass({
  name: "BeckonPanel",
  superclass: "NSPanel",
  methods: {
    canBecomeKeyWindow: { types: ["bool", []], implementation: () => false },
    canBecomeMainWindow: { types: ["bool", []], implementation: () => false },
  },
});

ObjC.registerSubclass({
  name: "BeckonClickArea",
  superclass: "NSView",
  methods: {
    "acceptsFirstMouse:": { types: ["bool", ["id"]], implementation: () => true },
    // NSView would pass it on to the view below.
    "mouseDown:": method(["void", ["id"]], () => undefined),
    "mouseUp:": method(["void", ["id"]], function (event) {
      handleMouseUp(this, event);
    }),
    "mouseEntered:": method(["void", ["id"]], function () {
      setHovered(this, true);
    }),
    "mouseExited:": method(["void", ["id"]], function () {
      setHovered(this, false);
    }),
    accessibilityPerformPress: method(["bool", []], function () {
      const card = findCard(this);
      if (card !== undefined) dismiss(card, null);
      return card !== undefined;
    }),
  },
});

/** macOS may activate this process as it starts; the user goes on typing in the app that was active before. */
function reactivateFrontmost() {
  if (frontmost.isNil() || Date.now() - startedAt > startSeconds * 1000) return;
  frontmost.activateWithOptions(0);
}

/** Another child of beckon can keep stdin open after beckon is gone, but then this process has a new parent. */
function checkParent() {
  if (Number($.getppid()) !== parentPid) $.exit(0);
}

function run() {
  parentPid = Number($.getppid());
  // beckon ended while this process was starting.
  if (parentPid === 1) return $.exit(0);
  startedAt = Date.now();
  frontmost = $.NSWorkspace.sharedWorkspace.frontmostApplication;
  const app = $.NSApplication.sharedApplication;
  app.setActivationPolicy(accessory);
  target = $.BeckonTarget.alloc.init;
  const center = $.NSNotificationCenter.defaultCenter;
  const observe = (selector, name, object) =>
    center.addObserverSelectorNameObject(target, selector, $(name), object);
  observe("readInput:", "NSFileHandleDataAvailableNotification", standardInput);
  observe("screensChanged:", "NSApplicationDidChangeScreenParametersNotification", $());
  observe("becameActive:", "NSApplicationDidBecomeActiveNotification", $());
  startTimer(parentCheckSeconds, "checkParent:", "", true);
  waitForInput();
  const processInfo = $.NSProcessInfo.processInfo;
  // App Nap slows down a process without windows until it seems to hang.
  activity = processInfo.beginActivityWithOptionsReason(
    withoutAppNap,
    $("beckon keeps its icon and alerts up to date"),
  );
  const system = processInfo.operatingSystemVersionString;
  send({ type: "ready", version: protocolVersion, system: ObjC.unwrap(system) });
  app.run;
  return undefined;
}
