/**
 * Objects as the bridge of osascript shows them to a script: a method without arguments is called when its property is read,
 * nil is an object, and a selector that the class does not have is refused.
 */
import { classes } from "./selectors.ts";

/** What lies behind an object of the bridge. */
export interface Thing {
  readonly kind: string;
  readonly set: Record<string, unknown>;
  readonly children: Thing[];
  /** The object, as the script has it. */
  readonly proxy: unknown;
}

interface Method {
  readonly types: readonly [string, readonly string[]];
  readonly implementation: (...given: unknown[]) => unknown;
}

interface Subclass {
  readonly name: string;
  readonly superclass: string;
  readonly methods: Readonly<Record<string, Method>>;
}

export interface Behaviour {
  readonly ofObject: (thing: Thing, selector: string, given: readonly unknown[]) => unknown;
  readonly ofClass: (kind: string, selector: string, given: readonly unknown[]) => unknown;
  readonly functions: Readonly<Record<string, (...given: never[]) => unknown>>;
}

export function openObjects(behaviour: Behaviour) {
  const behind = new WeakMap<object, Thing>();
  const things: Thing[] = [];
  const registered = new Map<string, Subclass>();

  function make(kind: string, set: Readonly<Record<string, unknown>> = {}): Thing {
    const thing = { kind, set: { ...set }, children: [], proxy: undefined as unknown };
    const proxy = new Proxy(thing, {
      get: (_, name) => read(thing, name),
      set: (_, name) => {
        throw new Error(`${String(name)} of ${kind} is set by its method, not by assignment`);
      },
    });
    thing.proxy = proxy;
    behind.set(proxy, thing);
    things.push(thing);
    return thing;
  }

  const nil = make("nil");

  function read(thing: Thing, name: string | symbol): unknown {
    if (name === "isNil") return () => thing === nil;
    if (typeof name !== "string") return undefined;
    if (thing === nil) throw new Error(`nil was asked for ${name}`);
    const selector = selectorOf(thing.kind, "-", name);
    return invocation(selector, (given) => behaviour.ofObject(thing, selector, given));
  }

  function selectorOf(kind: string, side: "+" | "-", name: string): string {
    for (let at: string | null = kind; at !== null; ) {
      const { parent, selectors }: { parent: string | null; selectors: readonly string[] } = factsOf(at);
      const found = selectors.find((one) => one[0] === side && bridged(one.slice(1)) === name);
      if (found !== undefined) return found.slice(1);
      at = parent;
    }
    throw new Error(`${side}[${kind} ${name}]: unrecognized selector`);
  }

  function factsOf(kind: string): { readonly parent: string | null; readonly selectors: readonly string[] } {
    const own = registered.get(kind);
    const facts = own === undefined ? classes[kind] : { parent: own.superclass, selectors: [] };
    if (facts === undefined) throw new Error(`no class ${kind}`);
    return facts;
  }

  function invocation(selector: string, act: (given: unknown[]) => unknown): unknown {
    const wanted = selector.split(":").length - 1;
    if (wanted === 0) return act([]);
    return (...given: unknown[]) => {
      if (given.length !== wanted) throw new Error(`${selector} takes ${wanted}, not ${given.length}`);
      if (given.includes(undefined)) throw new Error(`${selector} was given undefined`);
      return act(given);
    };
  }

  const reveal = (value: unknown): Thing | null =>
    (typeof value === "object" || typeof value === "function") && value !== null
      ? (behind.get(value) ?? null)
      : null;

  /** What a test wants to see of an argument. */
  function plain(value: unknown): unknown {
    const thing = reveal(value);
    if (thing === null) return value;
    return Object.hasOwn(thing.set, "value") ? thing.set.value : thing === nil ? null : thing;
  }

  /** AppKit calls one of the script's methods. */
  function send(receiver: Thing, selector: string, ...given: unknown[]): unknown {
    const method = registered.get(receiver.kind)?.methods[selector];
    if (method === undefined) throw new Error(`-[${receiver.kind} ${selector}]: unrecognized selector`);
    if (method.types[1].length !== given.length) throw new Error(`${selector} is given ${given.length}`);
    return method.implementation.apply(receiver.proxy, given);
  }

  function wrap(...given: unknown[]): unknown {
    if (given.length === 0) return nil.proxy;
    const [value] = given;
    if (typeof value === "string") return make("NSString", { value }).proxy;
    if (Array.isArray(value)) return make("NSArray", { value }).proxy;
    if (typeof value === "object" && value !== null) return make("NSDictionary", { value }).proxy;
    throw new Error(`$(${String(value)}) is not used here`);
  }

  const classOf = (kind: string): unknown =>
    new Proxy(
      {},
      {
        get: (_, name) => {
          const selector = selectorOf(kind, "+", String(name));
          return invocation(selector, (given) => behaviour.ofClass(kind, selector, given));
        },
      },
    );

  const dollar = new Proxy(wrap, {
    get: (_, name) => {
      if (typeof name !== "string") return undefined;
      if (Object.hasOwn(behaviour.functions, name)) return behaviour.functions[name];
      // A constant that the bridge does not know is silently undefined, and so is a class.
      return Object.hasOwn(classes, name) || registered.has(name) ? classOf(name) : undefined;
    },
  });

  const objc = {
    import: () => undefined,
    unwrap: plain,
    registerSubclass(subclass: Subclass) {
      const { name, methods } = subclass;
      if (registered.has(name)) throw new Error(`${name} is registered already`);
      for (const [selector, { types, implementation }] of Object.entries(methods)) {
        if (types[1].length !== selector.split(":").length - 1) throw new Error(`${selector}: wrong types`);
        if (typeof implementation !== "function") throw new Error(`${selector}: no implementation`);
      }
      registered.set(name, subclass);
    },
  };

  return { things, make, nil, reveal, plain, send, dollar, objc };
}

/** `addTimer:forMode:` is `addTimerForMode` in the script. */
function bridged(selector: string): string {
  const [first = "", ...rest] = selector.split(":");
  return first + rest.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}
