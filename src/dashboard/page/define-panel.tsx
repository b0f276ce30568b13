/** What the scripts of their own have in common: the element of a panel (load-part.tsx puts it into the page), and their styles. */
import { type FunctionComponent, render } from "preact";

/** The policy of the page allows sheets that a script makes. */
export function addStyle(style: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
}

export function definePanel<Host>(name: string, Panel: FunctionComponent<{ readonly host: Host }>): void {
  customElements.define(
    name,
    class extends HTMLElement {
      /** Set by the page: before this class is known, or right after the element is in its place. */
      declare host: Host;
      connectedCallback(): void {
        queueMicrotask(() => {
          if (this.isConnected) render(<Panel host={this.host} />, this);
        });
      }
      disconnectedCallback(): void {
        render(null, this);
      }
    },
  );
}
