import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { $ } from "bun";
import {
  createPageAccess,
  type PageAccess,
  type PageRenewal,
  type PageSecrets,
} from "../../src/api/page-access.ts";
import type { App } from "../../src/app/start.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { navigation } from "../navigation.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { port, token } from "./attacks.ts";

/** One that other users can run. */
const python = "/usr/bin/python3";

describe("a code", () => {
  const startAt = 1_000_000;
  function createAccess() {
    const clock = { at: startAt };
    let count = 0;
    const access = createPageAccess({
      token,
      startSecret: "of this start",
      now: () => clock.at,
      createSecret: () => `code-${++count}`,
    });
    return { clock, access };
  }

  test("works once", () => {
    const { access } = createAccess();
    expect(access.createUrl(port)).toBe("http://127.0.0.1:4488/?code=code-1");
    expect(access.redeemCode("code-1")).not.toBeNull();
    expect(access.redeemCode("code-1")).toBeNull();
  });

  test("works for 30 seconds", () => {
    const { access, clock } = createAccess();
    access.createUrl(port);
    access.createUrl(port);
    clock.at = startAt + 29_999;
    expect(access.redeemCode("code-1")).not.toBeNull();
    clock.at = startAt + 30_000;
    expect(access.redeemCode("code-2")).toBeNull();
  });

  test("that was never given out does not work, and many do not pile up", () => {
    const { access } = createAccess();
    for (const guess of ["", "code-1", "undefined"]) expect(access.redeemCode(guess)).toBeNull();
    for (let n = 0; n < 100; n++) access.createUrl(port);
    expect(access.redeemCode("code-1")).toBeNull();
    expect(access.redeemCode("code-100")).not.toBeNull();
  });

  test("brings a cookie that scripts cannot read and other sites do not send", () => {
    const { access } = createAccess();
    access.createUrl(port);
    const { setCookie } = access.redeemTicket(access.redeemCode("code-1") ?? "", port) ?? {};
    expect(setCookie).toMatch(
      /^beckon-4488=\d+\.[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
  });
});

describe("a tab that stayed open over a restart", () => {
  const createAccess = (startSecret: string, at = 1_000) => {
    let count = 0;
    const createSecret = () => `${startSecret}-${++count}`;
    return createPageAccess({ token, startSecret, now: () => at, createSecret });
  };
  /** What the page does. */
  function renew(tab: PageRenewal, access: PageAccess, atPort = port) {
    const prove = (who: string, nonce: string) =>
      createHmac("sha256", tab.secret).update(`${who} tab's-nonce ${nonce}`).digest("base64url");
    const question = { expires: tab.expires, pageNonce: "tab's-nonce" };
    const { nonce, proof } = access.challenge(question, atPort);
    const answer = { nonce, proof: prove("page", nonce) };
    return {
      isBeckon: proof === prove("beckon", nonce),
      secrets: access.renew(question, answer, atPort),
      again: access.renew(question, answer, atPort),
      reflected: access.renew(question, access.challenge(question, atPort), atPort),
    };
  }
  const cookieOf = ({ setCookie }: PageSecrets) => ({ cookie: setCookie.split(";")[0] ?? "" });

  test("gets new secrets, once for each challenge, and the old ones are worthless", () => {
    const [before, after] = [createAccess("first"), createAccess("second")];
    before.createUrl(port);
    const old = before.redeemTicket(before.redeemCode("first-1") ?? "", port);
    const { isBeckon, secrets, again, reflected } = renew(before.createRenewal(port), after);
    if (old === null || secrets === null) throw new Error("no secrets");
    expect([isBeckon, again, reflected]).toEqual([true, null, null]);
    const check = after.createCheck(port);
    expect([check.hasKey({ pageKey: old.key }), check.hasCookie(cookieOf(old))]).toEqual([false, false]);
    expect([check.hasKey({ pageKey: secrets.key }), check.hasCookie(cookieOf(secrets))]).toEqual([
      true,
      true,
    ]);
  });

  test("does not believe a program that passes its question on to a beckon at the next port", () => {
    const tab = createAccess("first").createRenewal(port);
    expect(renew(tab, createAccess("second"), port + 1)).toMatchObject({ isBeckon: false, secrets: null });
  });

  test("gets nothing after 30 days, or with an end of its own", () => {
    const tab = createAccess("first").createRenewal(port);
    expect(renew(tab, createAccess("second", tab.expires)).secrets).toBeNull();
    const longer = { ...tab, expires: tab.expires + 1 };
    expect(renew(longer, createAccess("second"))).toMatchObject({ isBeckon: false, secrets: null });
  });
});

describe("the page of a running beckon", () => {
  let fixture: AppFixture;
  let secrets: { cookie: string; key: string };
  let app: App;
  let url = "";
  beforeAll(async () => {
    fixture = createAppFixture();
    app = await fixture.start();
    url = app.url;
    await fixture.postHook(createPromptEvent("s1"));
    secrets = await openWithCode();
  });
  afterAll(() => fixture.destroy());

  const createAddress = async () => {
    const response = await fixture.request("/api/page/code", { method: "POST", body: "{}" });
    return ((await response.json()) as { url: string }).url;
  };
  async function openWithCode() {
    const response = await fetch(await createAddress(), { headers: navigation });
    expect(response.status).toBe(200);
    const key = /name="page-key" content="([\w-]+)"/.exec(await response.text())?.[1] ?? "";
    return { cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "", key };
  }
  const fromPage = (path: string, more: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      headers: {
        cookie: secrets.cookie,
        "x-beckon-page": secrets.key,
        "sec-fetch-site": "same-origin",
        "content-type": "application/json",
        ...more,
      },
    });

  test("opens with a code, once", async () => {
    const address = await createAddress();
    expect((await fetch(address, { headers: navigation })).status).toBe(200);
    const again = await fetch(address, { headers: navigation });
    expect(again.status).toBe(401);
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(await again.text()).toContain("beckon open");
  });

  test("empties the browser's storage and cache, once, before it shows itself", async () => {
    const open = async (headers: Record<string, string>) =>
      fetch(await createAddress(), { headers: { ...navigation, ...headers }, redirect: "manual" });
    const first = await open({});
    expect([first.status, first.headers.get("clear-site-data")]).toEqual([303, '"cache", "storage"']);
    expect([first.headers.get("set-cookie"), await first.text()]).toEqual([null, ""]);
    expect((await open({ cookie: secrets.cookie })).headers.get("clear-site-data")).toBeNull();
  });

  // Measured in Chromium 156, where a service worker of this address reads the response in each of these ways.
  test.each([
    ["fetches it as it is", { "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty" }],
    [
      "fetches the address",
      { "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors" },
    ],
    ["has it loaded ahead", { "service-worker-navigation-preload": "true" }],
    ["opens it in a window", { "sec-fetch-site": "same-origin" }],
    ["opens it in a frame", { "sec-fetch-site": "same-origin", "sec-fetch-dest": "iframe" }],
  ])("is refused, and the code ends, if a script at its address %s", async (_how, headers) => {
    const address = await createAddress();
    const response = await fetch(address, { headers: { ...navigation, ...headers }, redirect: "manual" });
    expect([response.status, response.headers.get("clear-site-data")]).toEqual([401, '"cache", "storage"']);
    expect((await fetch(address, { headers: navigation })).status).toBe(401);
  });

  test("does not open at localhost, which can be another user's program at ::1", async () => {
    const address = (await createAddress()).replace("127.0.0.1", "localhost");
    expect((await fetch(address, { headers: navigation })).status).toBe(401);
    const { host } = new URL(address);
    expect((await fetch(url, { headers: { host, cookie: secrets.cookie } })).status).toBe(401);
  });

  test("opens again with the cookie, which does not bring the key", async () => {
    const response = await fetch(url, { headers: { cookie: secrets.cookie } });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain(secrets.key);
  });

  test("shows nothing to other clients: no page, no script, no data", async () => {
    for (const path of ["/", "/page.js", "/api/sessions", "/?code=guess"]) {
      const response = await fetch(url + path);
      expect([path, response.status]).toEqual([path, 401]);
      expect(await response.text()).not.toContain("proj");
    }
  });

  test("gives its style and icon to a browser without the cookie, but not to other sites", async () => {
    for (const path of ["/page.css", "/icon.svg"]) {
      expect((await fetch(url + path, { headers: { "sec-fetch-site": "same-origin" } })).status).toBe(200);
      expect((await fetch(url + path, { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    }
  });

  test("allows no inline code, no frame and no other origin, and is kept nowhere", async () => {
    const opened = await fetch(await createAddress(), { headers: navigation });
    const responses = [opened, await fromPage("/page.js"), await fetch(url)];
    for (const { headers } of responses) {
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("reads and acts with its cookie and its key", async () => {
    const response = await fromPage("/api/sessions");
    expect(await response.json()).toMatchObject({ sessions: [{ sessionId: "s1" }] });
    const snoozed = await fromPage("/api/sessions/s1/snooze", {}, { method: "POST", body: "{}" });
    expect(snoozed.status).toBe(200);
  });

  test.each([
    ["a server on another port, which saw the cookie", { "x-beckon-page": "" }],
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
    ["a page on another port of this machine", { "sec-fetch-site": "same-site" }],
    ["the address typed by hand", { "sec-fetch-site": "none" }],
  ])("is refused to %s", async (_who, headers) => {
    expect((await fromPage("/api/sessions", headers)).status).toBeOneOf([401, 403]);
    const init = { method: "POST", body: "{}" };
    expect((await fromPage("/api/sessions/s1/snooze", headers, init)).status).toBeOneOf([401, 403]);
  });

  test.each(["/api/hook", "/ingest", "/api/hold", "/api/hold/end", "/api/stop", "/api/page/code"])(
    "cannot send to %s",
    async (path) => {
      expect((await fromPage(path, {}, { method: "POST", body: "{}" })).status).toBe(403);
      const withoutBrowser = { cookie: secrets.cookie, "x-beckon-page": secrets.key };
      const headers = { ...withoutBrowser, "content-type": "application/json" };
      expect((await fetch(url + path, { method: "POST", body: "{}", headers })).status).toBe(401);
    },
  );

  testWith(
    "root",
    "linux",
    "setpriv",
    "curl",
    python,
  )("gives another user nothing, even with the code that a command line shows", async () => {
    const other = createAppFixture();
    try {
      const { asUser, createAddress: createOther } = await startAsUser(other, 12_345);
      const address = await createOther();
      const headers = Object.entries(navigation).map(([name, value]) => `${name}: ${value}`);
      const curl = (uid: number, ...args: string[]) =>
        asUser(uid, ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", ...args]).stdout.text();
      const open = (uid: number, ...args: string[]) =>
        curl(uid, ...args, ...headers.flatMap((header) => ["-H", header]), address);
      expect(await open(12_346)).toBe("401");
      expect(await open(12_346, "--interface", "127.0.0.2")).toBe("401");
      const { port: atPort, search } = new URL(address);
      const script = sendFromPreparedPort(Number(atPort), `/${search}`, headers);
      expect((await asUser(12_346, [python, "-c", script]).stdout.text()).trim()).toBe("401");
      expect(await open(12_345)).toBe("303");
    } finally {
      await other.destroy();
    }
  });

  testWith(
    "root",
    "linux",
    "setpriv",
    "curl",
  )("gives another user nothing, even with the secrets of a tab", async () => {
    const other = createAppFixture();
    try {
      const { asUser, createAddress: createOther } = await startAsUser(other, 12_345);
      const opened = await fetch(await createOther(), { headers: navigation });
      const pageKey = /name="page-key" content="([\w-]+)"/.exec(await opened.text())?.[1] ?? "";
      const headers = {
        cookie: opened.headers.get("set-cookie")?.split(";")[0] ?? "",
        "x-beckon-page": pageKey,
        "sec-fetch-site": "same-origin",
      };
      const args = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const read = (uid: number, path: string) =>
        asUser(uid, [
          "curl",
          "-s",
          "-o",
          "/dev/null",
          "-w",
          "%{http_code}",
          ...args,
          other.readUrl() + path,
        ]).stdout.text();
      for (const path of ["/api/sessions", "/api/page/renewal", "/page.js"])
        expect([path, await read(12_346, path), await read(12_345, path)]).toEqual([path, "403", "200"]);
    } finally {
      await other.destroy();
    }
  });

  test("ends with its beckon: what a tab had before a restart opens nothing", async () => {
    await app.stop();
    const { port: samePort } = new URL(url);
    await fixture.start({}, { port: Number(samePort) });
    expect((await fromPage("/api/sessions")).status).toBe(401);
    expect((await fetch(url, { headers: { cookie: secrets.cookie } })).status).toBe(401);
    secrets = await openWithCode();
    expect((await fromPage("/api/sessions")).status).toBe(200);
  });
});

/** Starts a beckon of this user. Only a beckon that is not root's can tell users apart: root may do everything. */
async function startAsUser(fixture: AppFixture, owner: number) {
  await $`chmod -R a+rX ${fixture.home} && chown -R ${owner} ${fixture.home}`.quiet();
  const asUser = (uid: number, command: string[]) =>
    fixture.spawn(["setpriv", `--reuid=${uid}`, "--clear-groups", ...command]);
  asUser(owner, [process.execPath, mainSource]);
  await waitUntil(() => existsSync(fixture.paths.endpoint), 10_000);
  return {
    asUser,
    async createAddress(): Promise<string> {
      const response = await fixture.request("/api/page/code", { method: "POST", body: "{}" });
      return ((await response.json()) as { url: string }).url;
    },
  };
}

/**
 * Closes a connection from 127.0.0.1, which the kernel then lists with uid 0, and sends the request from the same port of
 * 127.0.0.2. Prints the status.
 */
const sendFromPreparedPort = (atPort: number, path: string, headers: readonly string[]): string => `
import socket
def connect(address, port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.connect(("127.0.0.1", ${atPort}))
    return s
first = connect("127.0.0.1", 0)
port = first.getsockname()[1]
first.close()
second = connect("127.0.0.2", port)
second.sendall("\\r\\n".join(${JSON.stringify([`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${atPort}`, ...headers, "", ""])}).encode())
print(second.recv(4096).decode().split(" ")[1])`;
