// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/*
 * beckon's program inside `osascript -l JavaScript`: the menu-bar icon, its menu and the alert panels. stdin says what to
 * show and stdout what the user does, both as lines of JSON in ASCII (protocol.ts).
 *
 * How this bridge to Objective-C differs from other JavaScript: reading a property calls the method of that name; nil is
 * `$()` and only `.isNil()` detects it; numbers may arrive as strings; every class is registered once, with the types of its
 * methods. Constants are written as numbers, because a name that the bridge does not know is silently undefined.
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

function send(message) {
  const text = JSON.stringify(message).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  standardOutput.writeData($(`${text}\n`).dataUsingEncoding(utf8));
}

let errors = 0;

function sendError(text) {
  errors += 1;
  if (errors <= maxErrors) send({ type: "error", text: String(text).slice(0, 500) });
}

/** A function that AppKit calls must not throw into AppKit. */
function catchErrors(work) {
  return function (...args) {
    try {
      return work.apply(this, args);
    } catch (error) {
      sendError(error);
      return undefined;
    }
  };
}

const toNSString = (value) => $(typeof value === "string" ? value : "");

/** Also fires while a menu is open (NSRunLoopCommonModes). */
function startTimer(seconds, selector, userInfo, repeats) {
  const timer = $.NSTimer.timerWithTimeIntervalTargetSelectorUserInfoRepeats(
    seconds,
    target,
    selector,
    toNSString(userInfo),
    repeats,
  );
  $.NSRunLoop.mainRunLoop.addTimerForMode(timer, $("kCFRunLoopCommonModes"));
  return timer;
}

function createImage(base64, size, isTemplate) {
  const data = $.NSData.alloc.initWithBase64EncodedStringOptions(toNSString(base64), 0);
  const image = data.isNil() ? data : $.NSImage.alloc.initWithData(data);
  if (image.isNil()) return null;
  image.setSize($.NSMakeSize(size, size));
  image.setTemplate(isTemplate);
  return image;
}

let unfinished = "";
let isSkipping = false;

/** Input arrives in chunks of any length. */
function receive(chunk) {
  unfinished += chunk;
  for (let end = unfinished.indexOf("\n"); end >= 0; end = unfinished.indexOf("\n")) {
    const line = unfinished.slice(0, end);
    unfinished = unfinished.slice(end + 1);
    if (isSkipping) isSkipping = false;
    else handleLine(line);
  }
  if (unfinished.length <= maxLineLength) return;
  if (!isSkipping) sendError(`a line of more than ${maxLineLength} characters was ignored`);
  isSkipping = true;
  unfinished = "";
}

function handleLine(line) {
  try {
    const message = JSON.parse(line);
    switch (message.type) {
      case "view":
        return showView(message);
      case "hide":
        return hideIcon();
      case "panel":
        return showPanel(message);
      case "close":
        return closePanel(message.key);
      case "ping":
        return send({ type: "pong", batch: message.batch });
      default:
        return sendError(`unknown message: ${message.type}`);
    }
  } catch (error) {
    return sendError(error);
  }
}

/** Must be repeated after each read. Without named modes nothing would be read while a menu is open. */
function waitForInput() {
  standardInput.waitForDataInBackgroundAndNotifyForModes(
    $(["kCFRunLoopDefaultMode", "NSEventTrackingRunLoopMode"]),
  );
}

function readInput() {
  const data = standardInput.availableData;
  // The end of stdin: beckon is gone.
  if (Number(data.length) === 0) return $.exit(0);
  const chunk = $.NSString.alloc.initWithDataEncoding(data, latin1);
  waitForInput();
  return receive(ObjC.unwrap(chunk));
}
