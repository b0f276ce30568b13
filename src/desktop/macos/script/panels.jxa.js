// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* Alerts: panels in the upper right corner that take neither the keyboard nor the place of the active app. */

const maxOnScreen = 5;
const panelWidth = 344;
const edge = 14;
const gap = 10;
const iconSize = 24;
const textLeft = edge + iconSize + 12;
const textWidth = panelWidth - textLeft - edge - 16;
const titleHeight = 17;
const moreHeight = 16;
const lineHeight = 16;
const bodyLines = 3;
/** Of one that can be answered here. */
const exactLines = 14;
const closeSize = 12;
const fadeSeconds = 0.4;
const hoverAgainSeconds = 2;

/** Every alert, also those that have no room; key → card. */
const cards = new Map();
let hovered = null;
let lastSoundAt = 0;
let sound = null;

function showPanel(message) {
  const known = cards.get(message.key);
  const card = known ?? newCard();
  card.message = message;
  stopTimer(card);
  cards.set(message.key, card);
  fillCard(card);
  arrange();
  if (message.isAgain) return;
  if (message.sound) playSound();
  if ($.NSWorkspace.sharedWorkspace.voiceOverEnabled) announce(`${message.title}. ${message.body}`);
}

function closePanel(key) {
  const card = cards.get(key);
  if (card === undefined) return;
  stopTimer(card);
  cards.delete(key);
  // No mouse leaves a panel that is taken away.
  if (hovered === key) hovered = null;
  card.panel.close;
  arrange();
}

function stopTimer(card) {
  if (card.timer !== null) card.timer.invalidate;
  card.timer = null;
}

/** Those that block first, the others as they came. */
function inOrder() {
  const all = [...cards.values()];
  return [
    ...all.filter(({ message }) => message.isUrgent),
    ...all.filter(({ message }) => !message.isUrgent),
  ];
}

/** While the pointer is on a panel nothing moves under it: what is there stays, what is new comes below. */
function chosenCards() {
  const ordered = inOrder();
  if (hovered === null) return ordered.slice(0, maxOnScreen);
  const there = ordered.filter((card) => card.top !== null).sort((one, other) => other.top - one.top);
  return [...there, ...ordered.filter((card) => card.top === null)].slice(0, maxOnScreen);
}

function arrange() {
  // The screen whose menu bar is active; nil while no display is there.
  const screen = $.NSScreen.mainScreen;
  if (screen.isNil()) return;
  const { origin, size } = screen.visibleFrame;
  const left = Number(origin.x) + Number(size.width) - panelWidth - edge;
  let top = Number(origin.y) + Number(size.height) - edge;
  const chosen = chosenCards();
  for (const card of cards.values()) if (!chosen.includes(card)) takeOff(card);
  for (const [place, card] of chosen.entries()) {
    const isLast = place === chosen.length - 1;
    const stays = hovered !== null && card.top !== null;
    setMore(card, isLast ? cards.size - chosen.length : 0);
    if (stays) top = card.top;
    putOn(card, left, top);
    top -= card.height + gap;
  }
}

function putOn(card, left, top) {
  const isNew = card.top === null;
  card.top = top;
  card.panel.setFrameDisplay($.NSMakeRect(left, top - card.height, panelWidth, card.height), true);
  layOut(card);
  if (card.isFading) card.panel.animator.setAlphaValue(1);
  card.isFading = false;
  if (isNew) card.panel.orderFrontRegardless;
  if (card.timer === null && card.message.staysMs !== null) {
    card.timer = after(card.message.staysMs / 1000, "expire:", card.message.key, false);
  }
}

function takeOff(card) {
  if (card.top === null) return;
  card.top = null;
  stopTimer(card);
  card.panel.orderOut($());
}

function expire(timer) {
  const card = cards.get(ObjC.unwrap(timer.userInfo));
  if (card === undefined) return;
  if (hovered === card.message.key) {
    card.timer = after(hoverAgainSeconds, "expire:", card.message.key, false);
    return;
  }
  card.isFading = true;
  card.panel.animator.setAlphaValue(0);
  card.timer = after(fadeSeconds, "faded:", card.message.key, false);
}

function faded(timer) {
  const key = ObjC.unwrap(timer.userInfo);
  if (!cards.has(key)) return;
  closePanel(key);
  tell({ is: "closed", key, by: "expired" });
}

function cardOf(view) {
  const number = Number(view.window.windowNumber);
  return [...cards.values()].find((card) => Number(card.panel.windowNumber) === number);
}

function pointerIsOn(view, isOn) {
  const card = cardOf(view);
  if (card === undefined) return;
  const { key } = card.message;
  card.close.setHidden(!isOn);
  // Going from one panel to the next, the new one may be entered before the old one is left.
  if (isOn) hovered = key;
  else if (hovered === key) hovered = null;
  if (hovered === null) arrange();
}

/** Let go outside of the panel: the person thought better of it. */
function released(view, event) {
  const card = cardOf(view);
  if (card === undefined) return;
  const { x, y } = event.locationInWindow;
  const [across, up] = [Number(x), Number(y)];
  if (across < 0 || up < 0 || across > panelWidth || up > card.height) return;
  const corner = closeSize + edge + 6;
  const isClose = hovered === card.message.key && across > panelWidth - corner && up > card.height - corner;
  const button = buttonAt(card, across, up);
  if (button !== undefined) pressButton(card, button.id);
  else leave(card, isClose ? { is: "closed", key: card.message.key, by: "user" } : null);
}

function leave(card, message) {
  const { key } = card.message;
  closePanel(key);
  tell(message ?? { is: "clicked", key });
}

function playSound() {
  if (Date.now() - lastSoundAt < 1000) return;
  lastSoundAt = Date.now();
  sound = $.NSSound.soundNamed($("Glass"));
  if (sound.isNil()) $.NSBeep();
  else sound.play;
}

/** Spoken by VoiceOver; 90 is NSAccessibilityPriorityHigh. */
function announce(words) {
  $.NSAccessibilityPostNotificationWithUserInfo(
    $.NSApplication.sharedApplication,
    $("AXAnnouncementRequested"),
    $({ AXAnnouncementKey: words, AXPriorityKey: 90 }),
  );
}
