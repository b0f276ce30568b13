import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { $ } from "bun";
import { createPageAccess } from "../../src/api/page-access.ts";
import type { App } from "../../src/app/start.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { port, token } from "./attacks.ts";

describe("a code", () => {
  const startAt = 1_000_000;
  function createAccess() {
    const clock = { at: startAt };
    let count = 0;
    const access = createPageAccess({ token, now: () => clock.at, createSecret: () => `code-${++count}` });
    return { clock, access };
  }

  test("works once", () => {
    const { access } = createAccess();
    expect(access.createUrl(port)).toBe("http://127.0.0.1:4488/?code=code-1");
    expect(access.redeemCode("code-1", port)).not.toBeNull();
    expect(access.redeemCode("code-1", port)).toBeNull();
  });

  test("works for 30 seconds", () => {
    const { access, clock } = createAccess();
    access.createUrl(port);
    access.createUrl(port);
    clock.at = startAt + 29_999;
    expect(access.redeemCode("code-1", port)).not.toBeNull();
    clock.at = startAt + 30_000;
    expect(access.redeemCode("code-2", port)).toBeNull();
  });

  test("that was never given out does not work, and many do not pile up", () => {
    const { access } = createAccess();
    for (const guess of ["", "code-1", "undefined"]) expect(access.redeemCode(guess, port)).toBeNull();
    for (let n = 0; n < 100; n++) access.createUrl(port);
    expect(access.redeemCode("code-1", port)).toBeNull();
    expect(access.redeemCode("code-100", port)).not.toBeNull();
  });

  test("brings a cookie that scripts cannot read and other sites do not send", () => {
    const { access } = createAccess();
    access.createUrl(port);
    const { setCookie } = access.redeemCode("code-1", port) ?? {};
    expect(setCookie).toMatch(
      /^beckon-4488=\d+\.[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
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
    const response = await fetch(await createAddress());
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
    expect((await fetch(address)).status).toBe(200);
    const again = await fetch(address);
    expect(again.status).toBe(401);
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(await again.text()).toContain("beckon open");
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
    const responses = [await fetch(await createAddress()), await fromPage("/page.js"), await fetch(url)];
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
  )("gives another user nothing, even with the code that a command line shows", async () => {
    // Only a beckon that is not root's can tell users apart: root may do everything.
    const other = createAppFixture();
    try {
      await $`chmod -R a+rX ${other.home} && chown -R 12345 ${other.home}`.quiet();
      const asUser = (uid: number, command: string[]) =>
        other.spawn(["setpriv", `--reuid=${uid}`, "--clear-groups", ...command]);
      asUser(12_345, [process.execPath, mainSource]);
      await waitUntil(() => existsSync(other.paths.endpoint), 10_000);
      const response = await other.request("/api/page/code", { method: "POST", body: "{}" });
      const { url: address } = (await response.json()) as { url: string };
      const open = async (uid: number) =>
        await asUser(uid, ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", address]).stdout.text();
      expect([await open(12_346), await open(12_345)]).toEqual(["401", "200"]);
    } finally {
      await other.destroy();
    }
  });

  test("stays open after a restart of beckon", async () => {
    await app.stop();
    const { port: samePort } = new URL(url);
    await fixture.start({}, { port: Number(samePort) });
    expect((await fromPage("/api/sessions")).status).toBe(200);
  });
});
