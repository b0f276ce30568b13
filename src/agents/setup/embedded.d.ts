/** Imported `with { type: "text" }`: a plugin that install writes. */
declare module "*.plugin.js" {
  const text: string;
  export default text;
}
