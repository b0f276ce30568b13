/**
 * A hook asks the system for the user's home folder, whatever HOME says. Tests have home folders of their own, which no system
 * knows. The system is asked all the same, so that a benchmark measures it.
 */
export const followHome: Bun.BunPlugin = {
  name: "follow HOME",
  setup(build) {
    build.onLoad({ filter: /src[\\/]system[\\/]own-home\.ts$/ }, () => ({
      contents: `
        import { findUserHome } from "./user-home.ts";
        export const findOwnHome = async (env, readText) => { await findUserHome(readText); return env.HOME; };`,
      loader: "js",
    }));
  },
};
