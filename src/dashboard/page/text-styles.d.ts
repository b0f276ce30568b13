/** Styles of a part that is loaded later: imported `with { type: "text" }`. */
declare module "*.css" {
  const text: string;
  export default text;
}
