// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* The buttons of a panel: they answer what its body asks. */

const buttonHeight = 24;
const buttonGap = 8;
/** NSBezelStyleRounded. */
const pushButton = 1;
/** NSWindowBelow */
const below = -1;

/** What says yes is there only where all of the body is. */
function fillButtons(card, isCut) {
  for (const { view } of card.buttons) view.removeFromSuperview;
  const offered = (card.message.buttons ?? []).filter(({ needsAll }) => !(needsAll && isCut));
  card.buttons = offered.map(({ id, label }) => ({ id, view: newButton(card, id, label), frame: null }));
}

function newButton(card, id, label) {
  const button = $.NSButton.alloc.initWithFrame($.NSMakeRect(0, 0, 80, buttonHeight));
  button.setTitle(text(label));
  button.setBezelStyle(pushButton);
  button.setFont($.NSFont.systemFontOfSize(11));
  button.setLineBreakMode(byTruncatingTail);
  // Clicks go to the view above it; VoiceOver presses the button itself.
  button.setIdentifier(text(id));
  button.setTarget(target);
  button.setAction("answer:");
  card.back.addSubviewPositionedRelativeTo(button, below, card.pointer);
  return button;
}

function layOutButtons(card) {
  const count = card.buttons.length;
  const width = (panelWidth - textLeft - edge - (count - 1) * buttonGap) / count;
  const bottom = edge + (card.moreCount > 0 ? moreHeight : 0);
  for (const [place, button] of card.buttons.entries()) {
    const left = textLeft + place * (width + buttonGap);
    button.frame = { left, bottom, right: left + width, top: bottom + buttonHeight };
    button.view.setFrame($.NSMakeRect(left, bottom, width, buttonHeight));
  }
}

function buttonAt(card, across, up) {
  return card.buttons.find(
    ({ frame }) => across >= frame.left && across <= frame.right && up >= frame.bottom && up <= frame.top,
  );
}

function answer(pressed) {
  const card = cardOf(pressed);
  const id = ObjC.unwrap(pressed.identifier);
  if (card !== undefined && typeof id === "string") pressButton(card, id);
}

function pressButton(card, id) {
  leave(card, { is: "clicked", key: card.message.key, button: id });
}
