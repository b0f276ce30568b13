/** The form in which Claude Code takes a prompt of beckon's, and shows it as "Message from @beckon". Hooks and transcripts report it so. */
const start = '<cross-session-message from-name="beckon">';
const end = "</cross-session-message>";

/** The text cannot end the frame. */
export const frameMessage = (text: string): string =>
  `${start}\n${text.replaceAll(/<(?=\/cross-session-message)/gi, "<\u200b")}\n${end}`;

/** What the user wrote, of a prompt that may be framed and cut. */
export function readMessage(prompt: string): string {
  if (!prompt.startsWith(`${start}\n`)) return prompt;
  const text = prompt.slice(start.length + 1);
  const whole = text.endsWith(`\n${end}`) ? text.slice(0, -end.length - 1) : text;
  return whole.replaceAll(/<\u200b(?=\/cross-session-message)/gi, "<");
}
