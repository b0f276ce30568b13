/** Imported `with { type: "file" }`: the file's path, which lies inside the binary in a compiled beckon. */
declare module "*.pack" {
  const path: string;
  export default path;
}
declare module "*.png" {
  const path: string;
  export default path;
}
declare module "systray2/traybin/*" {
  const path: string;
  export default path;
}
declare module "node-notifier/vendor/*" {
  const path: string;
  export default path;
}
/** Imported `with { type: "text" }`. */
declare module "*.jxa.js" {
  const text: string;
  export default text;
}
