// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/*
 * beckon's part inside `osascript -l JavaScript`: the menu-bar icon, its menu and the alert panels. What to show comes in on
 * stdin, what the person does goes out on stdout, both as lines of JSON in ASCII (protocol.ts).
 *
 * Where this bridge differs from other JavaScript: reading a property calls the method of that name; nil is `$()` and only
 * `.isNil()` tells; numbers may come as strings; every class is registered once, with the types of its methods spelled out.
 * Constants are written as numbers, because a name that the bridge does not know is silently undefined.
 */
ObjC.import("AppKit");
ObjC.import("stdlib");
ObjC.import("unistd");

const protocolVersion = 1;
const maxLineLength = 1024 * 1024;
const maxErrors = 20;
const latin1 = 5;
const utf8 = 4;

const standardInput = $.NSFileHandle.fileHandleWithStandardInput;
const standardOutput = $.NSFileHandle.fileHandleWithStandardOutput;

function tell(message) {
  const text = JSON.stringify(message).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  standardOutput.writeData($(`${text}\n`).dataUsingEncoding(utf8));
}

let errors = 0;

function tellError(text) {
  errors += 1;
  if (errors <= maxErrors) tell({ is: "error", text: String(text).slice(0, 500) });
}

/** What AppKit calls must not throw back into AppKit. */
function safely(work) {
  return function (...given) {
    try {
      return work.apply(this, given);
    } catch (error) {
      tellError(error);
      return undefined;
    }
  };
}

const text = (value) => $(typeof value === "string" ? value : "");

/** NSRunLoopCommonModes: also while a menu is open. */
function after(seconds, selector, about, repeats) {
  const timer = $.NSTimer.timerWithTimeIntervalTargetSelectorUserInfoRepeats(
    seconds,
    target,
    selector,
    text(about),
    repeats,
  );
  $.NSRunLoop.mainRunLoop.addTimerForMode(timer, $("kCFRunLoopCommonModes"));
  return timer;
}

function imageFrom(base64, size, isTemplate) {
  const data = $.NSData.alloc.initWithBase64EncodedStringOptions(text(base64), 0);
  const image = data.isNil() ? data : $.NSImage.alloc.initWithData(data);
  if (image.isNil()) return null;
  image.setSize($.NSMakeSize(size, size));
  image.setTemplate(isTemplate);
  return image;
}

let unfinished = "";
let isSkipping = false;

/** Reads come in pieces of any length. */
function hear(piece) {
  unfinished += piece;
  for (let end = unfinished.indexOf("\n"); end >= 0; end = unfinished.indexOf("\n")) {
    const line = unfinished.slice(0, end);
    unfinished = unfinished.slice(end + 1);
    if (isSkipping) isSkipping = false;
    else obey(line);
  }
  if (unfinished.length <= maxLineLength) return;
  if (!isSkipping) tellError(`a line of more than ${maxLineLength} characters was passed over`);
  isSkipping = true;
  unfinished = "";
}

function obey(line) {
  try {
    const message = JSON.parse(line);
    switch (message.do) {
      case "view":
        return showView(message);
      case "hide":
        return hideIcon();
      case "panel":
        return showPanel(message);
      case "close":
        return closePanel(message.key);
      case "ping":
        return tell({ is: "pong", batch: message.batch });
      default:
        return tellError(`not known here: ${message.do}`);
    }
  } catch (error) {
    return tellError(error);
  }
}

/** Asked for again after each read. Named modes, or nothing would be heard while a menu is open. */
function listen() {
  standardInput.waitForDataInBackgroundAndNotifyForModes(
    $(["kCFRunLoopDefaultMode", "NSEventTrackingRunLoopMode"]),
  );
}

function readInput() {
  const data = standardInput.availableData;
  // The end of stdin: beckon is gone.
  if (Number(data.length) === 0) return $.exit(0);
  const piece = $.NSString.alloc.initWithDataEncoding(data, latin1);
  listen();
  return hear(ObjC.unwrap(piece));
}
