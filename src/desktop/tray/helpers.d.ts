declare module "systray2/traybin/*" {
  /** Where the file lies, also inside the binary. */
  const path: string;
  export default path;
}
