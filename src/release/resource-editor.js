// Their own types bring those of browsers into the whole program, where WebSocket is then another one than Bun's.
export { NtExecutable, NtExecutableResource } from "pe-library";
export { Data, Resource } from "resedit";
