/** Parts of the page that are loaded when they are first opened: most visits open none of them. */
import { signal } from "@preact/signals";
import { type ComponentChildren, h } from "preact";
import { useEffect } from "preact/hooks";

const requested = new Set<string>();
const failed = signal<ReadonlySet<string>>(new Set());

/** With a hash, like the page's other files: another program could have left one of that name in the browser's cache. */
function loadScript(name: string): void {
  if (requested.has(name)) return;
  requested.add(name);
  const script = document.createElement("script");
  script.type = "module";
  script.src = `/${name}.js`;
  script.integrity = document.querySelector<HTMLMetaElement>(`meta[name="${name}-hash"]`)?.content ?? "";
  script.addEventListener("error", () => {
    requested.delete(name);
    failed.value = new Set(failed.peek()).add(name);
    script.remove();
  });
  document.head.append(script);
}

interface PartProps {
  readonly script: string;
  /** What users call it. */
  readonly what: string;
  readonly children: ComponentChildren;
}

/** Shows `children`, which the script draws as soon as it is there. */
export function Part({ script, what, children }: PartProps) {
  useEffect(() => {
    failed.value = new Set([...failed.peek()].filter((other) => other !== script));
    loadScript(script);
  }, [script]);
  if (failed.value.has(script))
    return <p class="off">The {what} could not be loaded. Open the page again: beckon open</p>;
  return <>{children}</>;
}

interface HostedPartProps {
  readonly script: string;
  readonly what: string;
  readonly host: object;
}

/** An element that the script defines (define-panel.tsx). `host` is what it needs of the page. */
export const HostedPart = ({ script, what, host }: HostedPartProps) => (
  <Part script={script} what={what}>
    {h(`beckon-${script}`, {
      ref: (element: unknown) => {
        if (element !== null) (element as { host: object }).host = host;
      },
    })}
  </Part>
);
