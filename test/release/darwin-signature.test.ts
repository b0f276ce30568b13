import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkSignature, signProgram } from "../../src/release/darwin-signature.ts";
import { testWith } from "../needs.ts";
import { buildFor, repo } from "../repo.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-signature-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string) => {
  const reader = join(repo, "test/fixtures/read-signature.py");
  const { stdout, stderr } = Bun.spawnSync(["python3", reader, path]);
  return JSON.parse(stdout.toString() || JSON.stringify({ error: stderr.toString() }));
};

describe("the program for macOS", () => {
  for (const cpu of ["arm64", "x64"] as const) {
    testWith("python3")(
      `has a valid signature of its own on ${cpu}`,
      async () => {
        const path = buildFor(`darwin-${cpu}`);
        const { pages, ...found } = read(path);
        expect(found).toEqual({
          identifier: "dev.beckon",
          isAdHoc: true,
          isSha256: true,
          coversAll: true,
          endsFile: true,
          fits: true,
          isMain: true,
          wrongPages: 0,
        });
        expect(pages).toBeGreaterThan(20_000);
      },
      120_000,
    );
  }
});

/** The smallest program that has what a signature needs: two segments and room for one. */
function createProgram(codeBytes: number): Buffer {
  const program = Buffer.alloc(codeBytes + 64);
  program.writeUInt32LE(0xfeedfacf, 0);
  program.writeUInt32LE(3, 16);
  const segment = (at: number, name: string, start: number, length: number): void => {
    program.writeUInt32LE(0x19, at);
    program.writeUInt32LE(72, at + 4);
    program.write(name, at + 8);
    program.writeBigUInt64LE(BigInt(start), at + 40);
    program.writeBigUInt64LE(BigInt(length), at + 48);
  };
  segment(32, "__TEXT", 0, 4096);
  segment(104, "__LINKEDIT", 4096, codeBytes + 64 - 4096);
  program.writeUInt32LE(0x1d, 176);
  program.writeUInt32LE(16, 180);
  program.writeUInt32LE(codeBytes, 184);
  program.writeUInt32LE(64, 188);
  for (let at = 4096; at < codeBytes; at++) program[at] = at % 251;
  return program;
}

describe("a signature", () => {
  test.each([8192, 8192 + 16, 12_288 - 16])("fits a program of %d bytes, for every reader", (bytes) => {
    const signed = signProgram(createProgram(bytes), "dev.example");
    const path = join(folder, "program");
    writeFileSync(path, signed);
    const { wrongPages, pages, identifier, endsFile, coversAll } = read(path);
    expect({ wrongPages, pages, identifier, endsFile, coversAll }).toEqual({
      wrongPages: 0,
      pages: Math.ceil(bytes / 4096),
      identifier: "dev.example",
      endsFile: true,
      coversAll: true,
    });
    expect(checkSignature(signed)).toEqual({ identifier: "dev.example", pages, wrongPages: 0 });
  });

  test("is replaced by the same one when it is signed again", () => {
    const once = signProgram(createProgram(8192), "dev.example");
    expect(signProgram(once, "dev.example").equals(once)).toBe(true);
  });

  test("is wrong in one page if one byte is changed after it", () => {
    const signed = signProgram(createProgram(12_288), "dev.example");
    signed[5000] = (signed[5000] ?? 0) ^ 1;
    expect(checkSignature(signed)).toMatchObject({ pages: 3, wrongPages: 1 });
  });

  test("is not looked for in a program for another system", () => {
    expect(() => signProgram(readFileSync(process.execPath).subarray(0, 4096), "dev.example")).toThrow(
      "not a 64-bit program for macOS",
    );
  });
});
