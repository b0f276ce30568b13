/** A server that only reads what a WebSocket client asks for, and refuses it. */
export function startHandshakeServer() {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      resolve(request.headers.get("sec-websocket-extensions"));
      return new Response("", { status: 400 });
    },
  });
  return {
    url: `ws://127.0.0.1:${server.port}`,
    /** The extensions that the first client offers; null if it offers none. */
    extensions: promise,
    stop: () => server.stop(true),
  };
}
