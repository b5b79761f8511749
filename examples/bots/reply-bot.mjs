/**
 * Answers everybody who writes to it or mentions it. It keeps its position in a file and names each answer after its message, so
 * after a restart, its own or the server's, everything is answered once.
 *
 *   node examples/bots/reply-bot.mjs [zuliprc] [file of its position]
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { answerTo, connect } from "colloquy-client";
import { WebSocket } from "ws";

const [zuliprc = "zuliprc", memory = "reply-bot.json"] = process.argv.slice(2);
const client = await connect(zuliprc, { webSocket: WebSocket, userAgent: "reply-bot" });
const me = await client.call("GET /users/me");

/** Everything before the position is answered. */
function remember() {
  writeFileSync(`${memory}.draft`, JSON.stringify(events.position));
  renameSync(`${memory}.draft`, memory);
}

/** Two bots would answer each other for ever. */
async function isPerson(userId) {
  const { user } = await client.call("GET /users/{user_id}", { user_id: userId });
  return !user.is_bot;
}

const events = client.events({
  event_types: ["message"],
  from: existsSync(memory) ? JSON.parse(readFileSync(memory, "utf8")) : null,
  onRegistered: remember,
  onConnected: () => process.stdout.write(`${me.full_name} listens\n`),
  onGap: () => process.stderr.write("Messages of some hours may be without an answer\n"),
});

for await (const { message, flags } of events) {
  remember();
  const isForMe = message.type === "private" || flags.includes("mentioned");
  if (!isForMe || message.sender_id === me.user_id || !(await isPerson(message.sender_id))) continue;
  const words = message.content.replaceAll(`@**${me.full_name}**`, "").trim();
  const content = words === "" ? "Yes?" : `You said: ${words}`;
  await client.call("POST /messages", { ...answerTo(message), content }, { idempotencyKey: `reply-to-${message.id}` });
}
