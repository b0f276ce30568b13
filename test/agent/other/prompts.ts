/** Prompts that make the fake API call an agent's tools. */

/** `input` is a text for a tool that takes text instead of JSON. */
export const callTool = (name: string, input: object | string): string =>
  `DO tool ${name} ${JSON.stringify(input)}`;

/** The question that every agent asks, in the form that most of their tools take. */
export const colourQuestion = {
  question: "Which colour do you want?",
  header: "Colour",
  options: [
    { label: "Red", description: "the red one" },
    { label: "Blue", description: "the blue one" },
  ],
};
