/** An MCP server on stdio with one tool, which asks the user for a name. Runs in the sandbox. */

export const formServer = import.meta.path;

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
  readonly result?: unknown;
}

const tool = { name: "ask", description: "Asks for a name", inputSchema: { type: "object", properties: {} } };
const form = {
  message: "What is your name?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", title: "Name" } },
    required: ["name"],
  },
};
/** The id of a form to the id of the tool call that opened it. */
const calls = new Map<string, Message["id"]>();

function answer({ id, method, params, result }: Message): object | null {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "form", version: "1.0.0" };
      return {
        id,
        result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      };
    }
    case "tools/list":
      return { id, result: { tools: [tool] } };
    case "tools/call":
      calls.set(`form-${id}`, id);
      return { id: `form-${id}`, method: "elicitation/create", params: form };
    case undefined:
      return {
        id: calls.get(String(id)),
        result: { content: [{ type: "text", text: JSON.stringify(result) }] },
      };
    default:
      return id === undefined ? null : { id, result: {} };
  }
}

if (import.meta.main) {
  for await (const line of console) {
    const message = JSON.parse(line) as Message;
    const response = answer(message);
    if (response) console.log(JSON.stringify({ jsonrpc: "2.0", ...response }));
    // The model can call the tool once the CLI has its list.
    if (message.method === "tools/list") await Bun.write(`${process.env.HOME}/form-server.ready`, "");
  }
}
