/** Asks of the real Claude Code CLI are answered through Discord. */
import { testChannelWithCli } from "./channel-scenarios.ts";

testChannelWithCli("discord");
