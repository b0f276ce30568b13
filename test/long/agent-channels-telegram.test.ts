/** Asks of the real Claude Code CLI are answered through Telegram. */
import { testChannelWithCli } from "../agent/channel-scenarios.ts";

testChannelWithCli("telegram");
