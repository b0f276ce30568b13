/** gzip and xz, by the programs of those names: they run beside each other, and Bun has no xz. */

export interface Compression {
  readonly gzip: number;
  readonly xz: string;
  /** What dpkg-deb and rpmbuild are told. */
  readonly deb: readonly string[];
  readonly rpm: string;
}

export const smallest: Compression = { gzip: 9, xz: "-9e", deb: ["-Zxz", "-z9"], rpm: "w9.xzdio" };
/** For tests: a tenth of the time. */
export const quickest: Compression = { gzip: 1, xz: "-0", deb: ["-Znone"], rpm: "w0.ufdio" };

async function pipe(command: readonly string[], bytes: Buffer): Promise<Buffer> {
  const child = Bun.spawn([...command], { stdin: bytes, stdout: "pipe", stderr: "inherit" });
  const [output, code] = await Promise.all([child.stdout.bytes(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
  return Buffer.from(output);
}

/** -n: neither name nor time, which would differ. */
export const gzip = (bytes: Buffer, { gzip: level }: Compression): Promise<Buffer> =>
  pipe(["gzip", "-n", `-${level}`, "-c"], bytes);

/** One thread: with more, the bytes depend on how many there are. */
export const xz = (bytes: Buffer, { xz: level }: Compression): Promise<Buffer> =>
  pipe(["xz", level, "-T1", "-c"], bytes);
