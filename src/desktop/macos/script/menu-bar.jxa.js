// biome-ignore-all lint/correctness/noUnusedVariables: the files of this folder are one script
/* The icon in the menu bar and its menu. Everything lives in globals: what nothing refers to would be collected. */

const variableLength = -1;
const imageOnly = 1;
const imageLeft = 2;
const stateOn = 1;
const iconPoints = 18;

let statusItem = null;
let rootMenu = null;
let view = null;
let shownIcon = null;
let nameWithoutIcon = "";
/** Which view the menu was last built from: a click means what the person read then. */
let builtFrom = 0;

function newMenu(title) {
  const menu = $.NSMenu.alloc.initWithTitle(text(title));
  menu.setAutoenablesItems(false);
  return menu;
}

function openIcon() {
  statusItem = $.NSStatusBar.systemStatusBar.statusItemWithLength(variableLength);
  // Keeps the place that the person dragged it to.
  statusItem.setAutosaveName($("beckon"));
  const size = $.NSFont.menuBarFontOfSize(0).pointSize;
  statusItem.button.setFont($.NSFont.monospacedDigitSystemFontOfSizeWeight(Number(size), 0));
  rootMenu = newMenu("beckon");
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
  if (statusItem === null) openIcon();
  const button = statusItem.button;
  if (message.icon !== shownIcon) {
    shownIcon = message.icon;
    const image = imageFrom(message.icon, iconPoints, true);
    if (image === null) tellError("the menu-bar icon could not be read");
    button.setImage(image ?? $());
    nameWithoutIcon = image === null ? "beckon" : "";
  }
  const words = Number(message.count) > 0 ? String(message.count) : nameWithoutIcon;
  button.setTitle(text(words));
  button.setImagePosition(words === "" ? imageOnly : imageLeft);
  button.setToolTip(text(message.tooltip));
  button.setAccessibilityLabel(text(message.title));
}

/** Called just before the menu opens, so that an open one stays as it is. */
function buildMenu(menu) {
  if (view === null) return;
  menu.removeAllItems;
  addRows(menu, view.rows);
  builtFrom = view.batch;
  tell({ is: "opened", batch: builtFrom });
}

function addRows(menu, rows) {
  for (const row of rows) menu.addItem(row.line ? $.NSMenuItem.separatorItem : newItem(row));
}

function newItem(row) {
  const item = $.NSMenuItem.alloc.initWithTitleActionKeyEquivalent(text(row.label), "chosen:", $(""));
  const isChoice = typeof row.id === "string";
  item.setEnabled(isChoice || Array.isArray(row.rows));
  if (isChoice) {
    item.setTarget(target);
    item.setRepresentedObject($(row.id));
  }
  if (row.checked) item.setState(stateOn);
  if (Array.isArray(row.rows)) {
    const menu = newMenu(row.label);
    addRows(menu, row.rows);
    item.setSubmenu(menu);
  }
  return item;
}

function choose(item) {
  const id = ObjC.unwrap(item.representedObject);
  if (typeof id === "string") tell({ is: "action", batch: builtFrom, id });
}
