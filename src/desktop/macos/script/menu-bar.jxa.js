// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* The icon in the menu bar and its menu. All objects are in globals, or they would be garbage-collected. */

const variableLength = -1;
const imageOnly = 1;
const imageLeft = 2;
const stateOn = 1;
const iconPoints = 18;

let statusItem = null;
let rootMenu = null;
let view = null;
let shownIcon = null;
let titleWithoutIcon = "";
/** The view that the menu was last built from: a click means what the user read then. */
let builtFrom = 0;

function createMenu(title) {
  const menu = $.NSMenu.alloc.initWithTitle(toNSString(title));
  menu.setAutoenablesItems(false);
  return menu;
}

function createIcon() {
  statusItem = $.NSStatusBar.systemStatusBar.statusItemWithLength(variableLength);
  // Keeps the position that the user dragged it to, and whether macOS 26 may show it: a demo has its own.
  statusItem.setAutosaveName(toNSString(view.name));
  const size = $.NSFont.menuBarFontOfSize(0).pointSize;
  statusItem.button.setFont($.NSFont.monospacedDigitSystemFontOfSizeWeight(Number(size), 0));
  rootMenu = createMenu("beckon");
  rootMenu.setDelegate(target);
  statusItem.setMenu(rootMenu);
}

function hideIcon() {
  if (statusItem === null) return;
  $.NSStatusBar.systemStatusBar.removeStatusItem(statusItem);
  statusItem = null;
  rootMenu = null;
  shownIcon = null;
}

function showView(message) {
  view = message;
  if (statusItem === null) createIcon();
  const button = statusItem.button;
  if (message.icon !== shownIcon) {
    shownIcon = message.icon;
    const image = createImage(message.icon, iconPoints, true);
    if (image === null) sendError("the menu-bar icon could not be read");
    button.setImage(image ?? $());
    titleWithoutIcon = image === null ? "beckon" : "";
  }
  const title = Number(message.count) > 0 ? String(message.count) : titleWithoutIcon;
  button.setTitle(toNSString(title));
  button.setImagePosition(title === "" ? imageOnly : imageLeft);
  button.setToolTip(toNSString(message.tooltip));
  button.setAccessibilityLabel(toNSString(message.title));
}

/** Called just before the menu opens, so that an open menu does not change. */
function buildMenu(menu) {
  if (view === null) return;
  menu.removeAllItems;
  addRows(menu, view.rows);
  builtFrom = view.batch;
  send({ type: "opened", batch: builtFrom });
}

function addRows(menu, rows) {
  for (const row of rows) menu.addItem(row.separator ? $.NSMenuItem.separatorItem : createItem(row));
}

function createItem(row) {
  const item = $.NSMenuItem.alloc.initWithTitleActionKeyEquivalent(
    toNSString(row.label),
    "chooseItem:",
    $(""),
  );
  const canBeChosen = typeof row.id === "string";
  item.setEnabled(canBeChosen || Array.isArray(row.rows));
  if (canBeChosen) {
    item.setTarget(target);
    item.setRepresentedObject($(row.id));
  }
  if (row.checked) item.setState(stateOn);
  if (Array.isArray(row.rows)) {
    const menu = createMenu(row.label);
    addRows(menu, row.rows);
    item.setSubmenu(menu);
  }
  return item;
}

function chooseItem(item) {
  const id = ObjC.unwrap(item.representedObject);
  if (typeof id === "string") send({ type: "action", batch: builtFrom, id });
}
