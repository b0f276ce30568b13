import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readIco } from "../../../src/desktop/tray/icons.ts";
import { readIcoPictures, selectPicture } from "../../../src/desktop/windows/tray-icon.ts";
import {
  createNotifyIconData,
  createWindowClass,
  fitField,
  readWide,
  toWide,
} from "../../../src/desktop/windows/win32.ts";

describe("a text for Windows", () => {
  test("ends with its only NUL", () => {
    expect(readWide(toWide("R&D ● 日本"))).toBe("R&D ● 日本");
    expect(toWide("a\0b")).toEqual(Buffer.from("ab\0", "utf16le"));
  });

  test("that is too long is cut between characters, with room for the NUL", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 40 }), (text, units) => {
        const cut = fitField(text, units);
        expect(cut.length).toBeLessThan(units);
        expect(cut.isWellFormed()).toBe(true);
        if (text.length < units) expect(cut).toBe(text.replaceAll("\0", ""));
        else if (!text.includes("\0")) expect(cut).toEndWith("…");
      }),
    );
    expect(fitField("12345😀", 7)).toBe("12345…");
  });
});

describe("structures of 64-bit Windows", () => {
  test("NOTIFYICONDATAW: 976 bytes, each field at its offset", () => {
    const data = createNotifyIconData({
      window: 0x1122334455667788n,
      id: 7,
      flags: 0x97,
      callbackMessage: 0x8002,
      icon: 0xaabbccddn,
      tip: "tip",
      balloon: { title: "title", text: "text", flags: 0x14 },
      version: 4,
    });
    expect(data.length).toBe(976);
    expect(data.readUInt32LE(0)).toBe(976);
    expect(data.readBigUInt64LE(8)).toBe(0x1122334455667788n);
    expect([16, 20, 24].map((at) => data.readUInt32LE(at))).toEqual([7, 0x97, 0x8002]);
    expect(data.readBigUInt64LE(32)).toBe(0xaabbccddn);
    expect(readWide(data.subarray(40, 296))).toBe("tip");
    expect(readWide(data.subarray(304, 816))).toBe("text");
    expect(data.readUInt32LE(816)).toBe(4);
    expect(readWide(data.subarray(820, 948))).toBe("title");
    expect(data.readUInt32LE(948)).toBe(0x14);
  });

  test("a text longer than its field stays inside it", () => {
    const long = "x".repeat(5_000);
    const data = createNotifyIconData({
      window: 1n,
      id: 1,
      flags: 0,
      tip: long,
      balloon: { title: long, text: long, flags: 0 },
    });
    expect(readWide(data.subarray(40, 296))).toHaveLength(127);
    expect(readWide(data.subarray(304, 816))).toHaveLength(255);
    expect(readWide(data.subarray(820, 948))).toHaveLength(63);
    expect(data.readUInt32LE(948)).toBe(0);
  });

  test("WNDCLASSEXW: 80 bytes", () => {
    const data = createWindowClass(1n, 2n, 3 as never);
    expect(data.length).toBe(80);
    expect([8, 24, 64].map((at) => data.readBigUInt64LE(at))).toEqual([1n, 2n, 3n]);
  });
});

describe("an icon file", () => {
  const file = readIco({ phase: "blocked", count: 3 });

  test("has a picture for every size that Windows asks for", () => {
    expect(readIcoPictures(file).map(({ size }) => size)).toEqual([16, 20, 24, 32, 48]);
    expect([16, 17, 40, 64].map((size) => selectPicture(file, size)?.size)).toEqual([16, 20, 48, 48]);
  });

  test("that is damaged has no picture", () => {
    for (const bytes of [
      new Uint8Array(),
      file.subarray(0, 5),
      file.subarray(0, 30),
      Buffer.alloc(100, 0xff),
    ]) {
      expect(selectPicture(bytes, 16)).toBeNull();
    }
  });
});
