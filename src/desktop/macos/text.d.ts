/** Imported `with { type: "text" }`. */
declare module "*.jxa.js" {
  const text: string;
  export default text;
}
