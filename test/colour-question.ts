/** The question that agents ask in the tests. */
export const colourQuestion = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "the red one" },
    { label: "Blue", description: "the blue one" },
  ],
};
