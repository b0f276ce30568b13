/** podman where there is no docker. */
export const findContainerEngine = (): string => (Bun.which("docker") === null ? "podman" : "docker");
