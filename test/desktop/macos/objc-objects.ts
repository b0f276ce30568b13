/**
 * Objective-C objects as osascript's bridge shows them to a script: a method without arguments is called when its property
 * is read, nil is an object, and a selector that the class does not have throws.
 */
import { type ClassInfo, classes } from "./appkit-classes.ts";

/** The data behind an object of the script. */
export interface ObjcObject {
  readonly className: string;
  readonly properties: Record<string, unknown>;
  readonly children: ObjcObject[];
  /** The object that the script has. */
  readonly proxy: unknown;
}

interface Method {
  readonly types: readonly [string, readonly string[]];
  readonly implementation: (...args: unknown[]) => unknown;
}

interface Subclass {
  readonly name: string;
  readonly superclass: string;
  readonly methods: Readonly<Record<string, Method>>;
}

/** What methods and functions do when the script calls them. */
export interface RuntimeBehaviour {
  readonly callMethod: (object: ObjcObject, selector: string, args: readonly unknown[]) => unknown;
  readonly callClassMethod: (className: string, selector: string, args: readonly unknown[]) => unknown;
  readonly functions: Readonly<Record<string, (...args: never[]) => unknown>>;
}

export function createObjcRuntime(behaviour: RuntimeBehaviour) {
  const objectsByProxy = new WeakMap<object, ObjcObject>();
  const objects: ObjcObject[] = [];
  const subclasses = new Map<string, Subclass>();

  function create(className: string, properties: Readonly<Record<string, unknown>> = {}): ObjcObject {
    const object = {
      className,
      properties: { ...properties },
      children: [],
      proxy: undefined as unknown,
    };
    const proxy = new Proxy(object, {
      get: (_, name) => readMember(object, name),
      set: (_, name) => {
        throw new Error(`${String(name)} of ${className} is set by its method, not by assignment`);
      },
    });
    object.proxy = proxy;
    objectsByProxy.set(proxy, object);
    objects.push(object);
    return object;
  }

  const nil = create("nil");

  function readMember(object: ObjcObject, name: string | symbol): unknown {
    if (name === "isNil") return () => object === nil;
    if (typeof name !== "string") return undefined;
    if (object === nil) throw new Error(`nil has no ${name}`);
    const selector = findSelector(object.className, "-", name);
    return createCall(selector, (args) => behaviour.callMethod(object, selector, args));
  }

  function findSelector(className: string, side: "+" | "-", name: string): string {
    for (let current: string | null = className; current !== null; ) {
      const { parent, selectors }: ClassInfo = findClass(current);
      const match = selectors.find(
        (selector) => selector[0] === side && toMemberName(selector.slice(1)) === name,
      );
      if (match !== undefined) return match.slice(1);
      current = parent;
    }
    throw new Error(`${side}[${className} ${name}]: unrecognized selector`);
  }

  function findClass(className: string): ClassInfo {
    const subclass = subclasses.get(className);
    const info = subclass === undefined ? classes[className] : { parent: subclass.superclass, selectors: [] };
    if (info === undefined) throw new Error(`no class ${className}`);
    return info;
  }

  function createCall(selector: string, call: (args: unknown[]) => unknown): unknown {
    const count = selector.split(":").length - 1;
    if (count === 0) return call([]);
    return (...args: unknown[]) => {
      if (args.length !== count) throw new Error(`${selector} takes ${count} arguments, not ${args.length}`);
      if (args.includes(undefined)) throw new Error(`${selector} was called with undefined`);
      return call(args);
    };
  }

  /** null if the value is not an object of the script. */
  const toObject = (value: unknown): ObjcObject | null =>
    (typeof value === "object" || typeof value === "function") && value !== null
      ? (objectsByProxy.get(value) ?? null)
      : null;

  /** Strings, arrays and dictionaries as JavaScript values, nil as null, other objects as they are. */
  function unwrap(value: unknown): unknown {
    const object = toObject(value);
    if (object === null) return value;
    return Object.hasOwn(object.properties, "value")
      ? object.properties.value
      : object === nil
        ? null
        : object;
  }

  /** Calls a method of the script, as AppKit does. */
  function send(receiver: ObjcObject, selector: string, ...args: unknown[]): unknown {
    const method = subclasses.get(receiver.className)?.methods[selector];
    if (method === undefined) throw new Error(`-[${receiver.className} ${selector}]: unrecognized selector`);
    if (method.types[1].length !== args.length) {
      throw new Error(`${selector} was called with ${args.length} arguments`);
    }
    return method.implementation.apply(receiver.proxy, args);
  }

  function wrap(...args: unknown[]): unknown {
    if (args.length === 0) return nil.proxy;
    const [value] = args;
    if (typeof value === "string") return create("NSString", { value }).proxy;
    if (Array.isArray(value)) return create("NSArray", { value }).proxy;
    if (typeof value === "object" && value !== null) return create("NSDictionary", { value }).proxy;
    throw new Error(`$(${String(value)}) is not supported`);
  }

  const createClass = (className: string): unknown =>
    new Proxy(
      {},
      {
        get: (_, name) => {
          const selector = findSelector(className, "+", String(name));
          return createCall(selector, (args) => behaviour.callClassMethod(className, selector, args));
        },
      },
    );

  const dollar = new Proxy(wrap, {
    get: (_, name) => {
      if (typeof name !== "string") return undefined;
      if (Object.hasOwn(behaviour.functions, name)) return behaviour.functions[name];
      // As in the real bridge, an unknown constant or class is silently undefined.
      return Object.hasOwn(classes, name) || subclasses.has(name) ? createClass(name) : undefined;
    },
  });

  const objc = {
    import: () => undefined,
    unwrap,
    registerSubclass(subclass: Subclass) {
      const { name, methods } = subclass;
      if (subclasses.has(name)) throw new Error(`${name} is registered already`);
      for (const [selector, { types, implementation }] of Object.entries(methods)) {
        if (types[1].length !== selector.split(":").length - 1) throw new Error(`${selector}: wrong types`);
        if (typeof implementation !== "function") throw new Error(`${selector}: no implementation`);
      }
      subclasses.set(name, subclass);
    },
  };

  return { objects, create, nil, toObject, unwrap, send, dollar, objc };
}

/** `addTimer:forMode:` is `addTimerForMode` in the script. */
function toMemberName(selector: string): string {
  const [first = "", ...rest] = selector.split(":");
  return first + rest.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}
