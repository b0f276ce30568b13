/** Sessions in containers of a real podman: no network, no open port, no mounted socket. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAppFixture } from "../app-fixture.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { type Containers, containerNeeds, containerUser, openContainers } from "./containers.ts";

const soonMs = 20_000;
const testInContainer = testWith(...containerNeeds);
let containers: Containers;

beforeAll(async () => {
  if (hasAll(containerNeeds)) containers = await openContainers();
});
afterAll(async () => {
  await containers?.close();
});

/** An app of this machine that has the container linked. */
async function openLaptop(name: string) {
  const laptop = createAppFixture();
  const PATH = `${containers.bin}:${process.env.PATH}`;
  mkdirSync(dirname(laptop.paths.config), { recursive: true });
  writeFileSync(laptop.paths.config, JSON.stringify({ machines: { [name]: { container: name } } }));
  await laptop.startProcess({ PATH });
  const report = async () => {
    const { machines } = (await (await laptop.request("/api/machines")).json()) as {
      machines: { state: string; problem: string | null }[];
    };
    return machines[0];
  };
  return {
    ...laptop,
    report,
    isLinked: async () => (await report())?.state === "linked",
    async runBeckon(...args: string[]) {
      const { out, err, code } = await laptop.runBeckon(args, { PATH });
      return { code, text: out + err };
    },
    [Symbol.asyncDispose]: laptop.destroy,
  };
}

const asUser = ["--user", `${containerUser.id}:${containerUser.id}`, "--env", `HOME=${containerUser.home}`];

/** Asks for permission in the container, as an agent does. Resolves with the decision. */
async function ask(name: string, id: string): Promise<string> {
  const event = JSON.stringify({
    session_id: id,
    hook_event_name: "PermissionRequest",
    cwd: "/src",
    tool_name: "Bash",
    tool_input: { command: "npm test" },
  });
  const { text } = await containers.podman("exec", name, "sh", "-c", `echo '${event}' | beckon hook claude`);
  return text;
}

describe("a container", () => {
  testInContainer(
    "of a user who is not root is added by its name, listed, asked and answered",
    async () => {
      await containers.start("web", ...asUser);
      await using laptop = await openLaptop("none");
      const added = await laptop.runBeckon("machine", "add", "web", "--container", "web", "--yes");
      expect(added.text).toMatch(/beckon +\S+, \/usr\/local\/bin\/beckon\n/);
      expect(added.text).toMatch(
        /in \d+ ms: beckon \S+ there, with no session\. A test event from there arrived here\./,
      );
      await waitUntil(
        async () => (await laptop.request("/api/machines").then((r) => r.text())).includes('"linked"'),
        soonMs,
      );
      const decision = ask("web", "s");
      const findAsk = async () => (await laptop.fetchSession("s"))?.asks.find(({ answerable }) => answerable);
      await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
      expect(await laptop.fetchSession("s")).toMatchObject({ machine: "web", reachable: true, cwd: "/src" });
      const answered = await laptop.post(
        { by: "command line", do: "allow", ask: (await findAsk())?.answerId },
        "/api/sessions/web%2Fclaude%3As/answer",
      );
      expect(await answered.json()).toEqual({ ok: true, answered: "allowed" });
      expect(await decision).toContain('"behavior":"allow"');
    },
    60_000,
  );

  testInContainer(
    "that is stopped is not reachable, and is linked again when it is started",
    async () => {
      await containers.start("brief", ...asUser);
      await using laptop = await openLaptop("brief");
      await waitUntil(laptop.isLinked, soonMs);
      await containers.podman("stop", "--time", "0", "brief");
      await waitUntil(async () => !(await laptop.isLinked()), soonMs);
      await waitUntil(async () => (await laptop.report())?.problem != null, soonMs);
      expect((await laptop.report())?.problem).toMatch(/not running|state improper/);
      await containers.podman("start", "brief");
      await waitUntil(laptop.isLinked, soonMs);
    },
    60_000,
  );

  testInContainer(
    "that is read-only is linked if beckon's folder can be written, and otherwise says what to mount",
    async () => {
      const sealed = [...asUser, "--read-only", "--read-only-tmpfs=false"];
      await containers.start("sealed", ...sealed);
      await containers.start("tmpfs", ...sealed, "--tmpfs", `${containerUser.home}/.local/state:mode=1777`);
      await using laptop = await openLaptop("tmpfs");
      await waitUntil(laptop.isLinked, soonMs);
      const refused = await laptop.runBeckon("machine", "add", "sealed", "--container", "sealed", "--yes");
      expect(refused.code).toBe(1);
      expect(refused.text).toContain(
        "Starting beckon … not possible.\n   ~/.local/state/beckon cannot be written (EROFS): mount a tmpfs there.\n",
      );
    },
    60_000,
  );

  testInContainer(
    "of podman is found where docker has no daemon",
    async () => {
      await containers.start("pod", ...asUser);
      // As a docker whose daemon does not run.
      const refuse = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n";
      writeFileSync(join(containers.bin, "docker"), refuse, { mode: 0o755 });
      await using laptop = await openLaptop("pod");
      await waitUntil(laptop.isLinked, soonMs);
    },
    60_000,
  );

  testInContainer(
    "is shown by the one pane here that is in it; of several, none is chosen",
    async () => {
      await containers.start("shown", ...asUser);
      await using laptop = await openLaptop("shown");
      await waitUntil(laptop.isLinked, soonMs);
      const tmux = async (...args: string[]) => {
        const command = ["tmux", "-S", join(laptop.home, "tmux"), "-f", "/dev/null", ...args];
        const { TMUX: _, ...env } = process.env;
        const child = Bun.spawn(command, { env: { ...env, LANG: "C.UTF-8" }, stderr: "ignore" });
        return (await child.stdout.text()).trim();
      };
      const enter = `${join(containers.bin, "podman")} exec -it shown sh`;
      try {
        await tmux("new-session", "-d", "-x", "80", "-y", "24", enter);
        await tmux("new-window", "sleep 1000");
        const event = JSON.stringify({
          session_id: "s",
          hook_event_name: "UserPromptSubmit",
          prompt: "go",
          cwd: "/",
        });
        await tmux("send-keys", "-t", ":0", `echo '${event}' | claude`, "Enter");
        await waitUntil(async () => (await laptop.fetchSession("s")) !== undefined, soonMs);
        const focus = async () =>
          (await (await laptop.post({}, "/api/sessions/shown%2Fclaude%3As/focus")).json()) as {
            by: string;
            why: string;
          };
        // Nobody is attached to this tmux, so nothing can be raised: the pane is found nevertheless.
        expect((await focus()).by).toBe("podman, tmux");
        await tmux("new-window", enter);
        await waitUntil(
          async () => (await focus()).why.includes("2 terminals here are in the container shown"),
          soonMs,
        );
      } finally {
        await tmux("kill-server");
      }
    },
    60_000,
  );
});
