/** Asks of the real Claude Code CLI are answered through ntfy. */
import { testChannelWithCli } from "./channel-scenarios.ts";

testChannelWithCli("ntfy");
