/** Pushover: notifications on phones. One-way. Priority emergency repeats until it is confirmed on the phone, or the ask ends. */
import type { Service } from "../channel.ts";
import { isPrivateAddress } from "../check.ts";
import { isWhole } from "./message.ts";

const checkAddress = (value: unknown): string | null =>
  isPrivateAddress(value) ? null : "an address that starts with https://";

const keyForm = /^[A-Za-z0-9]{30}$/;
const checkKey = (value: unknown): string | null =>
  typeof value === "string" && keyForm.test(value) ? null : "30 letters and digits";

const checkName = (value: unknown): string | null =>
  value === null ||
  (typeof value === "string" && /^[A-Za-z0-9_-]{1,25}(?:,[A-Za-z0-9_-]{1,25})*$/.test(value))
    ? null
    : "a name, or null";

const priorities: readonly unknown[] = ["normal", "high", "emergency"];

export const pushover: Service = {
  type: "pushover",
  name: "Pushover",
  summary: "push notifications on phones, without answers",
  canAnswer: () => false,
  hasAccounts: false,
  isIdempotent: () => false,
  maxButtons: 0,
  fits: isWhole,
  settings: [
    {
      name: "token",
      question: "The API token of your application (create one at pushover.net/apps/build)",
      isSecret: true,
      check: checkKey,
    },
    {
      name: "user",
      question: "Your user key, or a group's key (pushover.net shows it when you are logged in)",
      isSecret: true,
      check: checkKey,
    },
    {
      name: "device",
      question: "Only one device? Its name, or empty for all",
      isSecret: false,
      default: null,
      check: checkName,
    },
    {
      name: "priority",
      question:
        "Priority of what blocks a session: normal, high (also in Pushover's quiet hours), or emergency (repeats until you confirm it)",
      isSecret: false,
      default: "high",
      check: (value) => (priorities.includes(value) ? null : '"normal", "high" or "emergency"'),
    },
    { name: "sound", question: "", isSecret: false, default: null, check: checkName },
    {
      name: "server",
      question: "",
      isSecret: false,
      default: "https://api.pushover.net",
      check: checkAddress,
    },
  ],
  load: async () => (await import("./client.ts")).openPushover,
};
