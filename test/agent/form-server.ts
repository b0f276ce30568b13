/** An MCP server with one tool, which asks the person for a name. Speaks JSON-RPC, one message a line. */

export const formServer = import.meta.path;

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
  readonly result?: unknown;
}

const schema = {
  type: "object",
  properties: { name: { type: "string", title: "Name" } },
  required: ["name"],
};
const tool = { name: "ask", description: "Asks for a name", inputSchema: { type: "object", properties: {} } };
const asked = new Map<string, Message["id"]>();

function send(message: object): void {
  console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function take({ id, method, params, result }: Message): void {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "form", version: "1.0.0" };
      return send({
        id,
        result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      });
    }
    case "tools/list":
      return send({ id, result: { tools: [tool] } });
    case "tools/call": {
      const question = `question-${id}`;
      asked.set(question, id);
      const wanted = { message: "What is your name?", requestedSchema: schema };
      return send({ id: question, method: "elicitation/create", params: wanted });
    }
    case undefined: {
      const content = [{ type: "text", text: JSON.stringify(result ?? null) }];
      return send({ id: asked.get(String(id)), result: { content } });
    }
    default:
      if (id !== undefined) send({ id, result: {} });
  }
}

if (import.meta.main) {
  for await (const line of console) take(JSON.parse(line) as Message);
}
