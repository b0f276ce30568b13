import { describe, expect, test } from "bun:test";
import type { Exec, ExecResult } from "../../../src/core/ports.ts";
import { dataVariable, type ToastJob } from "../../../src/desktop/windows/toast.ts";
import { createToasts } from "../../../src/desktop/windows/toasts.ts";
import { until } from "../../world.ts";

/** PowerShell is not to be had here: this one answers when it is told to. */
function slowPowershell() {
  const runs: { jobs: ToastJob[]; answer: (ran: Partial<ExecResult>) => void }[] = [];
  const exec: Exec = (_argv, options) => {
    const { promise, resolve } = Promise.withResolvers<ExecResult>();
    const { jobs } = JSON.parse(Buffer.from(options?.env?.[dataVariable] ?? "", "base64").toString());
    runs.push({ jobs, answer: (ran) => resolve({ code: 0, stdout: "", stderr: "", ...ran }) });
    return promise;
  };
  return { runs, exec };
}
const tags = (run: { jobs: ToastJob[] } | undefined) => run?.jobs.map(({ tag }) => tag);

describe("toasts on their way", () => {
  test("wait for the PowerShell that runs, and go with the next one", async () => {
    const { runs, exec } = slowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const sent = ["a", "b", "c"].map((tag) => toasts.send({ tag, xml: "<toast/>" }));
    expect(runs.map(tags)).toEqual([["a"]]);
    runs[0]?.answer({ stdout: "ok\r\n" });
    expect(await sent[0]).toBeNull();
    expect(tags(runs[1])).toEqual(["b", "c"]);
    runs[1]?.answer({ stdout: "ok\r\nfailed because\r\n" });
    expect(await Promise.all(sent)).toEqual([null, null, "because"]);
    expect(runs).toHaveLength(2);
  });

  test("beckon's end takes back what is on the screen, and shows nothing more", async () => {
    const { runs, exec } = slowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const ok = async (job: ToastJob) => {
      const sent = toasts.send(job);
      runs.at(-1)?.answer({ stdout: "ok" });
      await sent;
    };
    await ok({ tag: "seen", xml: "<toast/>" });
    await ok({ tag: "closed", xml: "<toast/>" });
    await ok({ tag: "closed", xml: null });
    void toasts.send({ tag: "on its way", xml: "<toast/>" });
    void toasts.send({ tag: "waiting", xml: "<toast/>" });
    const stopped = toasts.stop();
    runs.at(-1)?.answer({ stdout: "ok" });
    await until(() => runs.length === 5, 1_000);
    expect(runs.at(-1)?.jobs).toEqual(["seen", "on its way", "waiting"].map((tag) => ({ tag, xml: null })));
    runs.at(-1)?.answer({ stdout: "ok\nok\nok" });
    await stopped;
    expect(runs).toHaveLength(5);
  });

  test("without a toast on the screen its end needs no PowerShell", async () => {
    const { runs, exec } = slowPowershell();
    await createToasts(["powershell.exe"], exec).stop();
    expect(runs).toHaveLength(0);
  });

  test("a PowerShell that hangs does not keep beckon from its end", async () => {
    const { exec } = slowPowershell();
    const toasts = createToasts(["powershell.exe"], exec, { stopMs: 50 });
    void toasts.send({ tag: "a", xml: "<toast/>" });
    await toasts.stop();
  }, 2_000);

  test("one that is closed before it was shown is not shown", async () => {
    const { runs, exec } = slowPowershell();
    const toasts = createToasts(["powershell.exe"], exec);
    const first = toasts.send({ tag: "a", xml: "<toast/>" });
    const shown = toasts.send({ tag: "b", xml: "<toast/>" });
    const closed = toasts.send({ tag: "b", xml: null });
    expect(await shown).toBeNull();
    runs[0]?.answer({ stdout: "ok" });
    await first;
    expect(runs[1]?.jobs).toEqual([{ tag: "b", xml: null }]);
    runs[1]?.answer({ stdout: "ok" });
    expect(await closed).toBeNull();
  });

  test("a PowerShell that cannot be run is said to be missing", async () => {
    const { runs, exec } = slowPowershell();
    const sent = createToasts(["powershell.exe"], exec).send({ tag: "a", xml: "<toast/>" });
    runs[0]?.answer({ code: null, stderr: "ENOENT\n" });
    expect(await sent).toBe("PowerShell cannot be run: ENOENT");
  });
});
