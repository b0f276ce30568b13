/** Skips drawing a component again if none of its properties has changed. */
import { Component, type ComponentChildren, type FunctionComponent, h } from "preact";

export function memo<Props extends object>(
  draw: (props: Props) => ComponentChildren,
): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = this.props as Readonly<Record<string, unknown>>;
      return Object.entries(next).some(([name, value]) => before[name] !== value);
    }
    override render(props: Props) {
      return h(draw as FunctionComponent<Props>, props);
    }
  }
  return Memo as unknown as FunctionComponent<Props>;
}
