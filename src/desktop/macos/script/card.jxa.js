// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* One panel: icon, title, a few lines, and a cross while the pointer is on it. */

/** NSWindowStyleMaskNonactivatingPanel, without a border. */
const nonactivating = 1 << 7;
const buffered = 2;
const floatingLevel = 3;
/** CanJoinAllSpaces, Stationary, IgnoresCycle, FullScreenAuxiliary. */
const onAllSpaces = (1 << 0) | (1 << 4) | (1 << 6) | (1 << 8);
const popoverMaterial = 6;
const behindWindow = 0;
const alwaysActive = 1;
const followsSize = 2 | 16;
/** MouseEnteredAndExited, ActiveAlways, InVisibleRect. */
const whilePointerIsOn = 0x01 | 0x80 | 0x200;
const byWordWrapping = 0;
const byTruncatingTail = 4;

function newCard() {
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

  const back = $.NSVisualEffectView.alloc.initWithFrame(frame);
  back.setMaterial(popoverMaterial);
  back.setBlendingMode(behindWindow);
  back.setState(alwaysActive);
  back.setWantsLayer(true);
  back.layer.setCornerRadius(12);
  back.layer.setMasksToBounds(true);
  panel.setContentView(back);

  const icon = $.NSImageView.alloc.initWithFrame(frame);
  const title = newLabel($.NSFont.boldSystemFontOfSize(13), $.NSColor.labelColor, byTruncatingTail, 1);
  const body = newLabel(
    $.NSFont.systemFontOfSize(12),
    $.NSColor.secondaryLabelColor,
    byWordWrapping,
    bodyLines,
  );
  const more = newLabel($.NSFont.systemFontOfSize(11), $.NSColor.tertiaryLabelColor, byTruncatingTail, 1);
  const close = $.NSImageView.alloc.initWithFrame(frame);
  close.setImage($.NSImage.imageNamed($("NSStopProgressFreestandingTemplate")));
  close.setContentTintColor($.NSColor.secondaryLabelColor);
  close.setHidden(true);

  // Above all others, so that it gets every click, also the first one into an app that is not active.
  const pointer = $.BeckonPointer.alloc.initWithFrame(frame);
  pointer.setAutoresizingMask(followsSize);
  pointer.addTrackingArea(
    $.NSTrackingArea.alloc.initWithRectOptionsOwnerUserInfo(frame, whilePointerIsOn, pointer, $()),
  );
  pointer.setAccessibilityElement(true);
  pointer.setAccessibilityRole($("AXButton"));
  for (const part of [icon, title, body, more, close, pointer]) back.addSubview(part);
  return {
    message: null,
    panel,
    back,
    icon,
    title,
    body,
    more,
    close,
    pointer,
    buttons: [],
    shownIcon: null,
    bodyHeight: 0,
    moreCount: 0,
    height: 0,
    top: null,
    timer: null,
    isFading: false,
  };
}

function newLabel(font, color, lineBreakMode, maxLines) {
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
  card.title.setStringValue(text(message.title));
  card.body.setStringValue(text(message.body));
  const lines = message.isExact ? exactLines : bodyLines;
  card.body.setMaximumNumberOfLines(0);
  const needed = Math.ceil(
    Number(card.body.cell.cellSizeForBounds($.NSMakeRect(0, 0, textWidth, 10000)).height),
  );
  card.body.setMaximumNumberOfLines(lines);
  card.bodyHeight = message.body === "" ? 0 : Math.min(needed, lines * lineHeight);
  fillButtons(card, !message.isExact || needed > card.bodyHeight);
  card.pointer.setAccessibilityLabel(text(`${message.title}. ${message.body}`));
  if (message.icon !== card.shownIcon) {
    card.shownIcon = message.icon;
    card.icon.setImage(imageFrom(message.icon, iconSize, false) ?? $());
  }
  measure(card);
}

/** How many alerts have no room of their own. */
function setMore(card, count) {
  card.moreCount = count;
  card.more.setStringValue(text(count > 0 ? `and ${count} more` : ""));
  measure(card);
}

function measure(card) {
  const words = titleHeight + (card.bodyHeight > 0 ? card.bodyHeight + 3 : 0);
  const buttons = card.buttons.length > 0 ? buttonHeight + buttonGap : 0;
  card.height = Math.max(words, iconSize) + buttons + 2 * edge + (card.moreCount > 0 ? moreHeight : 0);
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
