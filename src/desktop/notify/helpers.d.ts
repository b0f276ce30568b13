declare module "node-notifier/vendor/*" {
  /** Where the file lies, also inside the binary. */
  const path: string;
  export default path;
}
