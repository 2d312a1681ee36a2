// An OpenAI-compatible server in the test process: a provider that requires a key.

import * as http from "node:http";
import type { AddressInfo } from "node:net";

export interface Provider {
  base: string;
  /** The `authorization` header of each request. */
  keys: string[];
  close(): void;
}

/** Answers every request with `text`, streamed; rejects any key but `key`. */
export async function startProvider(key: string, text: string): Promise<Provider> {
  const keys: string[] = [];
  const server = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (request.method !== "POST") {
        // How many requests it answers at once is asked of the server, which may not say.
        response.writeHead(404).end();
        return;
      }
      keys.push(request.headers.authorization ?? "");
      if (keys.at(-1) !== `Bearer ${key}`) {
        response.writeHead(401, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: "Incorrect API key.", type: "invalid_request_error" } }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const [delta, finish] of [[{ role: "assistant", content: text }, null], [{}, "stop"]] as const) {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${String(port)}/v1`, keys, close: () => server.close() };
}
