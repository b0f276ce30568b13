/** The program that `osascript -l JavaScript` runs: its files one after the other, as one script. */
import buttons from "./script/buttons.jxa.js" with { type: "text" };
import card from "./script/card.jxa.js" with { type: "text" };
import menuBar from "./script/menu-bar.jxa.js" with { type: "text" };
import panels from "./script/panels.jxa.js" with { type: "text" };
import run from "./script/run.jxa.js" with { type: "text" };
import wire from "./script/wire.jxa.js" with { type: "text" };

export const script = [wire, menuBar, panels, card, buttons, run].join("\n");
