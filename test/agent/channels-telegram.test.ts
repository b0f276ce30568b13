/** Asks of the real Claude Code CLI are answered through Telegram. */
import { testChannelWithCli } from "./channel-scenarios.ts";

testChannelWithCli("telegram");
