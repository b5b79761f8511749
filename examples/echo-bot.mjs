/**
 * A bot of an outgoing webhook, with node:http alone: it answers whoever mentions it, or writes to it, with their own words. Make one
 * with POST /bots (bot_type 3, payload_url this address), and start it with the token from `services` in `realm_bots` of /register:
 *
 *   TOKEN=... PORT=5002 node examples/echo-bot.mjs
 */
import { createServer } from "node:http";

const { TOKEN, PORT = "5002" } = process.env;

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  const { token, bot_full_name: name, data, message } = JSON.parse(body);
  if (token !== TOKEN) return response.writeHead(403).end();
  const words = data.replaceAll(`@**${name}**`, "").trim();
  const content = words === "" ? "Yes?" : `${message.sender_full_name} said: ${words}`;
  return response.setHeader("Content-Type", "application/json").end(JSON.stringify({ content }));
});

server.listen(Number(PORT), "127.0.0.1", () => {
  process.stdout.write(`echo-bot is at http://127.0.0.1:${server.address().port}/\n`);
});
