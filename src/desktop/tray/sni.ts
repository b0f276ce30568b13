/**
 * org.kde.StatusNotifierItem: the icon in a panel on Linux. What the properties mean:
 * https://www.freedesktop.org/wiki/Specifications/StatusNotifierItem/StatusNotifierItem/
 */
import { interface as dbusInterface } from "@jellybrick/dbus-next";
import type { UserAction } from "../../core/config/user-action.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { emptyView, type TrayView } from "../../core/view/view.ts";
import { type Pixmap, readPixmaps } from "./icons.ts";

const { Interface, property, method, signal, ACCESS_READ } = dbusInterface;

type ToolTip = [icon: string, pixmaps: Pixmap[], title: string, text: string];

export interface StatusItemOptions {
  readonly onAction: (action: UserAction) => void;
  /** The icon is being clicked: a view that still waits must be shown now. */
  readonly onOpening: () => void;
  readonly menuPath: string;
}

export class StatusItem extends Interface {
  // What never changes.
  @property({ signature: "s", access: ACCESS_READ }) readonly Category = "ApplicationStatus";
  @property({ signature: "s", access: ACCESS_READ }) readonly Id = "beckon";
  @property({ signature: "i", access: ACCESS_READ }) readonly WindowId = 0;
  @property({ signature: "s", access: ACCESS_READ }) readonly IconName = "";
  @property({ signature: "s", access: ACCESS_READ }) readonly IconThemePath = "";
  @property({ signature: "s", access: ACCESS_READ }) readonly OverlayIconName = "";
  @property({ signature: "a(iiay)", access: ACCESS_READ }) readonly OverlayIconPixmap: Pixmap[] = [];
  @property({ signature: "s", access: ACCESS_READ }) readonly AttentionIconName = "";
  @property({ signature: "s", access: ACCESS_READ }) readonly AttentionMovieName = "";

  #options: StatusItemOptions;
  #view = emptyView;
  #pixmaps: Pixmap[] = [];

  constructor(options: StatusItemOptions) {
    super("org.kde.StatusNotifierItem");
    this.#options = options;
    this.#pixmaps = readPixmaps(emptyView.icon);
  }

  /** Returns whether the icon has changed. */
  show(view: TrayView): boolean {
    const before = this.#view;
    this.#view = view;
    const isIconNew = before.icon.phase !== view.icon.phase || before.icon.count !== view.icon.count;
    if (isIconNew) {
      this.#pixmaps = readPixmaps(view.icon);
      this.emitNewIcon();
    }
    // Panels read ItemIsMenu again after NewStatus.
    const isClickNew = before.leftClick !== view.leftClick;
    if (isClickNew || (before.icon.phase === "blocked") !== this.#isBlocked) this.NewStatus(this.Status);
    if (before.title !== view.title) this.NewTitle();
    if (before.title !== view.title || before.tooltip !== view.tooltip) this.NewToolTip();
    return isIconNew;
  }

  emitNewIcon(): void {
    // Measured: lxqt-panel redraws an item that needs attention only after NewAttentionIcon.
    this.NewIcon();
    this.NewAttentionIcon();
  }

  get #isBlocked(): boolean {
    return this.#view.icon.phase === "blocked";
  }

  @property({ signature: "s", access: ACCESS_READ })
  get Title(): string {
    return this.#view.title;
  }

  @property({ signature: "s", access: ACCESS_READ })
  get Status(): string {
    return this.#isBlocked ? "NeedsAttention" : "Active";
  }

  @property({ signature: "a(iiay)", access: ACCESS_READ })
  get IconPixmap(): Pixmap[] {
    return this.#pixmaps;
  }

  @property({ signature: "a(iiay)", access: ACCESS_READ })
  get AttentionIconPixmap(): Pixmap[] {
    return this.#pixmaps;
  }

  @property({ signature: "(sa(iiay)ss)", access: ACCESS_READ })
  get ToolTip(): ToolTip {
    const { title, tooltip } = this.#view;
    // Panels show the title above the text, so the text must not repeat it.
    const text = tooltip === title ? "" : tooltip.replace(`${title}\n`, "");
    // Panels read the text as markup.
    return ["", [], title, escapeMarkup(text)];
  }

  /** Whether a left click opens the menu, as a right click does. Otherwise the panel calls Activate. */
  @property({ signature: "b", access: ACCESS_READ })
  get ItemIsMenu(): boolean {
    return this.#view.leftClick === "menu" || !this.#isBlocked;
  }

  @property({ signature: "o", access: ACCESS_READ })
  get Menu(): string {
    return this.#options.menuPath;
  }

  /** A left click where it does not open the menu, also in a panel that ignores ItemIsMenu. */
  @method({ inSignature: "ii" })
  Activate(_x: number, _y: number): void {
    this.#options.onOpening();
    if (this.#isBlocked) this.#options.onAction({ do: "next" });
  }

  /** A middle click. */
  @method({ inSignature: "ii" })
  SecondaryActivate(x: number, y: number): void {
    this.Activate(x, y);
  }

  @method({ inSignature: "ii" })
  ContextMenu(_x: number, _y: number): void {}

  @method({ inSignature: "is" })
  Scroll(_delta: number, _orientation: string): void {}

  @signal({})
  NewTitle(): void {}

  @signal({})
  NewIcon(): void {}

  @signal({})
  NewAttentionIcon(): void {}

  @signal({})
  NewOverlayIcon(): void {}

  @signal({})
  NewToolTip(): void {}

  @signal({ signature: "s" })
  NewStatus(status: string): string {
    return status;
  }
}
