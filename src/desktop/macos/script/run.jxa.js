// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* What AppKit calls, and the start. */

const accessory = 1;
const parentCheckSeconds = 5;
const startSeconds = 5;
/** NSActivityUserInitiatedAllowingIdleSystemSleep: the Mac may sleep as ever. */
const withoutAppNap = 0x00efffff;

let target = null;
let parentPid = 0;
let frontmost = null;
let startedAt = 0;
let activity = null;

const method = (types, work) => ({ types, implementation: safely(work) });

ObjC.registerSubclass({
  name: "BeckonTarget",
  superclass: "NSObject",
  methods: {
    "readInput:": method(["void", ["id"]], readInput),
    "menuNeedsUpdate:": method(["void", ["id"]], buildMenu),
    "chosen:": method(["void", ["id"]], choose),
    "answer:": method(["void", ["id"]], answer),
    "expire:": method(["void", ["id"]], expire),
    "faded:": method(["void", ["id"]], faded),
    "screensChanged:": method(["void", ["id"]], () => arrange()),
    "becameActive:": method(["void", ["id"]], giveBack),
    "look:": method(["void", ["id"]], lookForParent),
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
  name: "BeckonPointer",
  superclass: "NSView",
  methods: {
    "acceptsFirstMouse:": { types: ["bool", ["id"]], implementation: () => true },
    // Left to NSView, it would go on to whatever is beneath.
    "mouseDown:": method(["void", ["id"]], () => undefined),
    "mouseUp:": method(["void", ["id"]], function (event) {
      released(this, event);
    }),
    "mouseEntered:": method(["void", ["id"]], function () {
      pointerIsOn(this, true);
    }),
    "mouseExited:": method(["void", ["id"]], function () {
      pointerIsOn(this, false);
    }),
    accessibilityPerformPress: method(["bool", []], function () {
      const card = cardOf(this);
      if (card !== undefined) leave(card, null);
      return card !== undefined;
    }),
  },
});

/** Started from a terminal, macOS may make this process the active app as it starts: the person goes on typing there. */
function giveBack() {
  if (frontmost.isNil() || Date.now() - startedAt > startSeconds * 1000) return;
  frontmost.activateWithOptions(0);
}

/** stdin can be kept open by another child of beckon: a new parent means that beckon is gone all the same. */
function lookForParent() {
  if (Number($.getppid()) !== parentPid) $.exit(0);
}

function run() {
  parentPid = Number($.getppid());
  // Its own parent died while this was starting.
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
  after(parentCheckSeconds, "look:", "", true);
  listen();
  const processInfo = $.NSProcessInfo.processInfo;
  // A process that shows no window is slowed down until it seems to hang.
  activity = processInfo.beginActivityWithOptionsReason(
    withoutAppNap,
    $("beckon keeps its icon and alerts up to date"),
  );
  const system = processInfo.operatingSystemVersionString;
  tell({ is: "ready", version: protocolVersion, system: ObjC.unwrap(system) });
  app.run;
  return undefined;
}
