/** Prompts that make the fake API call an agent's tools. */
import { colourQuestion } from "../../colour-question.ts";

/** `input` is a text for a tool that takes text instead of JSON. */
export const callTool = (name: string, input: object | string): string =>
  `DO tool ${name} ${JSON.stringify(input)}`;

const { header, options } = colourQuestion;

/** The question that every agent asks, in the form that most of their tools take. */
export const askedQuestion = { question: "Which colour do you want?", header, options };
