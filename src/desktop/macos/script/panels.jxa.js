// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* Alerts: panels in the upper right corner that neither take the keyboard nor deactivate the active app. */

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
/** For a panel that can be answered. */
const exactLines = 14;
const closeSize = 12;
const buttonHeight = 24;
const buttonGap = 8;
const fadeSeconds = 0.4;
const hoverRetrySeconds = 2;

/** NSWindowStyleMaskNonactivatingPanel, without a border. */
const nonactivating = 1 << 7;
const buffered = 2;
const floatingLevel = 3;
/** CanJoinAllSpaces, Stationary, IgnoresCycle, FullScreenAuxiliary. */
const onAllSpaces = (1 << 0) | (1 << 4) | (1 << 6) | (1 << 8);
const popoverMaterial = 6;
const behindWindow = 0;
const alwaysActive = 1;
const resizesWithParent = 2 | 16;
/** MouseEnteredAndExited, ActiveAlways, InVisibleRect. */
const hoverTracking = 0x01 | 0x80 | 0x200;
const byWordWrapping = 0;
const byTruncatingTail = 4;
/** NSBezelStyleRounded. */
const pushButton = 1;
/** NSWindowBelow. */
const below = -1;

/** Every alert, also those that are not on the screen: key → card. */
const cards = new Map();
let hovered = null;
let lastSoundAt = 0;
let sound = null;

function showPanel(message) {
  const card = cards.get(message.key) ?? createCard();
  card.message = message;
  stopTimer(card);
  cards.set(message.key, card);
  fillCard(card);
  arrange();
  if (message.isRepeated) return;
  if (message.sound) playSound();
  if ($.NSWorkspace.sharedWorkspace.voiceOverEnabled) announce(`${message.title}. ${message.body}`);
}

function closePanel(key) {
  const card = cards.get(key);
  if (card === undefined) return;
  stopTimer(card);
  cards.delete(key);
  // There is no mouseExited: for a panel that is closed.
  if (hovered === key) hovered = null;
  card.panel.close;
  arrange();
}

function stopTimer(card) {
  if (card.timer !== null) card.timer.invalidate;
  card.timer = null;
}

/** Urgent ones first, each group in the order of arrival. */
function sortCards() {
  const all = [...cards.values()];
  return [
    ...all.filter(({ message }) => message.isUrgent),
    ...all.filter(({ message }) => !message.isUrgent),
  ];
}

/** While the pointer is on a panel nothing moves under it: visible panels stay, and new ones are added below. */
function chooseVisibleCards() {
  const sorted = sortCards();
  if (hovered === null) return sorted.slice(0, maxOnScreen);
  const visible = sorted.filter((card) => card.top !== null).sort((a, b) => b.top - a.top);
  return [...visible, ...sorted.filter((card) => card.top === null)].slice(0, maxOnScreen);
}

function arrange() {
  // The screen with the active menu bar; nil while no display is connected.
  const screen = $.NSScreen.mainScreen;
  if (screen.isNil()) return;
  const { origin, size } = screen.visibleFrame;
  const left = Number(origin.x) + Number(size.width) - panelWidth - edge;
  let top = Number(origin.y) + Number(size.height) - edge;
  const visible = chooseVisibleCards();
  for (const card of cards.values()) if (!visible.includes(card)) hideCard(card);
  for (const [index, card] of visible.entries()) {
    const isLast = index === visible.length - 1;
    setMore(card, isLast ? cards.size - visible.length : 0);
    if (hovered !== null && card.top !== null) top = card.top;
    placeCard(card, left, top);
    top -= card.height + gap;
  }
}

function placeCard(card, left, top) {
  const wasHidden = card.top === null;
  card.top = top;
  // First, so that a panel which cannot be drawn or animated goes away all the same.
  if (card.timer === null && card.message.visibleMs !== null) {
    card.timer = startTimer(card.message.visibleMs / 1000, "expire:", card.message.key, false);
  }
  card.panel.setFrameDisplay($.NSMakeRect(left, top - card.height, panelWidth, card.height), true);
  layOut(card);
  if (card.isFading) card.panel.animator.setAlphaValue(1);
  card.isFading = false;
  if (wasHidden) card.panel.orderFrontRegardless;
}

function hideCard(card) {
  if (card.top === null) return;
  card.top = null;
  stopTimer(card);
  card.panel.orderOut($());
}

function expire(timer) {
  const card = cards.get(ObjC.unwrap(timer.userInfo));
  if (card === undefined) return;
  if (hovered === card.message.key) {
    card.timer = startTimer(hoverRetrySeconds, "expire:", card.message.key, false);
    return;
  }
  card.isFading = true;
  card.timer = startTimer(fadeSeconds, "faded:", card.message.key, false);
  card.panel.animator.setAlphaValue(0);
}

function faded(timer) {
  const key = ObjC.unwrap(timer.userInfo);
  if (!cards.has(key)) return;
  closePanel(key);
  send({ type: "closed", key, by: "expired" });
}

function findCard(view) {
  const number = Number(view.window.windowNumber);
  return [...cards.values()].find((card) => Number(card.panel.windowNumber) === number);
}

function setHovered(view, isHovered) {
  const card = findCard(view);
  if (card === undefined) return;
  const { key } = card.message;
  card.close.setHidden(!isHovered);
  // When the pointer moves to the next panel, that one may be entered before this one is left.
  if (isHovered) hovered = key;
  else if (hovered === key) hovered = null;
  if (hovered === null) arrange();
}

/** Releasing the mouse button outside of the panel cancels the click. */
function handleMouseUp(view, event) {
  const card = findCard(view);
  if (card === undefined) return;
  const location = event.locationInWindow;
  const [x, y] = [Number(location.x), Number(location.y)];
  if (x < 0 || y < 0 || x > panelWidth || y > card.height) return;
  const corner = closeSize + edge + 6;
  const isClose = hovered === card.message.key && x > panelWidth - corner && y > card.height - corner;
  const button = findButton(card, x, y);
  if (button !== undefined) pressButton(card, button.id);
  else dismiss(card, isClose ? { type: "closed", key: card.message.key, by: "user" } : null);
}

function dismiss(card, message) {
  const { key } = card.message;
  closePanel(key);
  send(message ?? { type: "clicked", key });
}

function playSound() {
  if (Date.now() - lastSoundAt < 1000) return;
  lastSoundAt = Date.now();
  sound = $.NSSound.soundNamed($("Glass"));
  if (sound.isNil()) $.NSBeep();
  else sound.play;
}

/** VoiceOver speaks it; 90 is NSAccessibilityPriorityHigh. */
function announce(text) {
  $.NSAccessibilityPostNotificationWithUserInfo(
    $.NSApplication.sharedApplication,
    $("AXAnnouncementRequested"),
    $({ AXAnnouncementKey: text, AXPriorityKey: 90 }),
  );
}

/** One panel: icon, title, some lines of text, buttons, and a close button while the pointer is on it. */
function createCard() {
  const frame = $.NSMakeRect(0, 0, panelWidth, 60);
  const panel = $.BeckonPanel.alloc.initWithContentRectStyleMaskBackingDefer(
    frame,
    nonactivating,
    buffered,
    false,
  );
  panel.setReleasedWhenClosed(false);
  panel.setHidesOnDeactivate(false);
  panel.setBecomesKeyOnlyIfNeeded(true);
  panel.setFloatingPanel(true);
  panel.setLevel(floatingLevel);
  panel.setCollectionBehavior(onAllSpaces);
  panel.setOpaque(false);
  panel.setBackgroundColor($.NSColor.clearColor);
  panel.setHasShadow(true);
  panel.setMovable(false);

  const background = $.NSVisualEffectView.alloc.initWithFrame(frame);
  background.setMaterial(popoverMaterial);
  background.setBlendingMode(behindWindow);
  background.setState(alwaysActive);
  background.setWantsLayer(true);
  background.layer.setCornerRadius(12);
  background.layer.setMasksToBounds(true);
  panel.setContentView(background);

  const icon = $.NSImageView.alloc.initWithFrame(frame);
  const title = createLabel($.NSFont.boldSystemFontOfSize(13), $.NSColor.labelColor, byTruncatingTail, 1);
  const body = createLabel(
    $.NSFont.systemFontOfSize(12),
    $.NSColor.secondaryLabelColor,
    byWordWrapping,
    bodyLines,
  );
  const more = createLabel($.NSFont.systemFontOfSize(11), $.NSColor.tertiaryLabelColor, byTruncatingTail, 1);
  const close = $.NSImageView.alloc.initWithFrame(frame);
  close.setImage($.NSImage.imageNamed($("NSStopProgressFreestandingTemplate")));
  close.setContentTintColor($.NSColor.secondaryLabelColor);
  close.setHidden(true);

  // On top of all other views, so that it gets every click, also the first one into an inactive app.
  const clickArea = $.BeckonClickArea.alloc.initWithFrame(frame);
  clickArea.setAutoresizingMask(resizesWithParent);
  clickArea.addTrackingArea(
    $.NSTrackingArea.alloc.initWithRectOptionsOwnerUserInfo(frame, hoverTracking, clickArea, $()),
  );
  clickArea.setAccessibilityElement(true);
  clickArea.setAccessibilityRole($("AXButton"));
  for (const part of [icon, title, body, more, close, clickArea]) background.addSubview(part);
  return {
    message: null,
    panel,
    background,
    icon,
    title,
    body,
    more,
    close,
    clickArea,
    buttons: [],
    shownIcon: null,
    bodyHeight: 0,
    moreCount: 0,
    height: 0,
    /** null while it is not on the screen. */
    top: null,
    timer: null,
    isFading: false,
  };
}

function createLabel(font, color, lineBreakMode, maxLines) {
  const isOneLine = maxLines === 1;
  const label = isOneLine
    ? $.NSTextField.labelWithString($(""))
    : $.NSTextField.wrappingLabelWithString($(""));
  label.setSelectable(false);
  label.setFont(font);
  label.setTextColor(color);
  label.setMaximumNumberOfLines(maxLines);
  label.setLineBreakMode(lineBreakMode);
  label.cell.setTruncatesLastVisibleLine(true);
  return label;
}

function fillCard(card) {
  const { message } = card;
  card.title.setStringValue(toNSString(message.title));
  card.body.setStringValue(toNSString(message.body));
  const lines = message.isExact ? exactLines : bodyLines;
  const fullHeight = measureBody(card, 0);
  const height = measureBody(card, lines);
  // A system that ignored the limit would fill the screen.
  const isTooHigh = height > (lines + 1) * lineHeight;
  card.bodyHeight = message.body === "" ? 0 : isTooHigh ? lines * lineHeight : height;
  createButtons(card, !message.isExact || isTooHigh || fullHeight > height);
  card.clickArea.setAccessibilityLabel(toNSString(`${message.title}. ${message.body}`));
  if (message.icon !== card.shownIcon) {
    card.shownIcon = message.icon;
    card.icon.setImage(createImage(message.icon, iconSize, false) ?? $());
  }
  measure(card);
}

/** The system's own measure, with its font and spacing; 0 lines: without a limit. */
function measureBody(card, maxLines) {
  card.body.setMaximumNumberOfLines(maxLines);
  const { height } = card.body.cell.cellSizeForBounds($.NSMakeRect(0, 0, textWidth, 10000));
  return Math.ceil(Number(height));
}

/** Shows how many alerts have no room on the screen. */
function setMore(card, count) {
  card.moreCount = count;
  card.more.setStringValue(toNSString(count > 0 ? `and ${count} more` : ""));
  measure(card);
}

function measure(card) {
  const text = titleHeight + (card.bodyHeight > 0 ? card.bodyHeight + 3 : 0);
  const buttons = card.buttons.length > 0 ? buttonHeight + buttonGap : 0;
  card.height = Math.max(text, iconSize) + buttons + 2 * edge + (card.moreCount > 0 ? moreHeight : 0);
}

function layOut(card) {
  const ceiling = card.height - edge;
  card.icon.setFrame($.NSMakeRect(edge, ceiling - iconSize, iconSize, iconSize));
  card.title.setFrame($.NSMakeRect(textLeft, ceiling - titleHeight, textWidth, titleHeight));
  const bodyTop = ceiling - titleHeight - 3;
  card.body.setFrame($.NSMakeRect(textLeft, bodyTop - card.bodyHeight, textWidth, card.bodyHeight));
  card.more.setFrame($.NSMakeRect(textLeft, edge - 6, textWidth, moreHeight));
  layOutButtons(card);
  const right = panelWidth - edge - closeSize;
  card.close.setFrame($.NSMakeRect(right, ceiling - closeSize, closeSize, closeSize));
}

/** A button that allows something is offered only if the whole body is visible. */
function createButtons(card, isCut) {
  for (const { view } of card.buttons) view.removeFromSuperview;
  const offered = (card.message.buttons ?? []).filter(({ needsAll }) => !(needsAll && isCut));
  card.buttons = offered.map(({ id, label }) => ({ id, view: createButton(card, id, label), frame: null }));
}

function createButton(card, id, label) {
  const button = $.NSButton.alloc.initWithFrame($.NSMakeRect(0, 0, 80, buttonHeight));
  button.setTitle(toNSString(label));
  button.setBezelStyle(pushButton);
  button.setFont($.NSFont.systemFontOfSize(11));
  button.setLineBreakMode(byTruncatingTail);
  // The click area above it gets the clicks; VoiceOver presses the button itself.
  button.setIdentifier(toNSString(id));
  button.setTarget(target);
  button.setAction("answer:");
  card.background.addSubviewPositionedRelativeTo(button, below, card.clickArea);
  return button;
}

function layOutButtons(card) {
  const count = card.buttons.length;
  const width = (panelWidth - textLeft - edge - (count - 1) * buttonGap) / count;
  const bottom = edge + (card.moreCount > 0 ? moreHeight : 0);
  for (const [index, button] of card.buttons.entries()) {
    const left = textLeft + index * (width + buttonGap);
    button.frame = { left, bottom, right: left + width, top: bottom + buttonHeight };
    button.view.setFrame($.NSMakeRect(left, bottom, width, buttonHeight));
  }
}

function findButton(card, x, y) {
  return card.buttons.find(
    ({ frame }) => x >= frame.left && x <= frame.right && y >= frame.bottom && y <= frame.top,
  );
}

function answer(button) {
  const card = findCard(button);
  const id = ObjC.unwrap(button.identifier);
  if (card !== undefined && typeof id === "string") pressButton(card, id);
}

function pressButton(card, id) {
  dismiss(card, { type: "clicked", key: card.message.key, button: id });
}
