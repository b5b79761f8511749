/**
 * Answers the direct message `digest CHANNEL` with what was written in the channel since yesterday: how much in which topic, and by
 * whom. It keeps nothing: what it counts is on the server, and a question that came during a restart of the server is answered after it.
 *
 *   node examples/bots/digest-bot.mjs [zuliprc]
 */
import { ApiError, answerTo, connect } from "colloquy-client";
import { WebSocket } from "ws";

const [zuliprc = "zuliprc"] = process.argv.slice(2);
const client = await connect(zuliprc, { webSocket: WebSocket, userAgent: "digest-bot" });
const me = await client.call("GET /users/me");
const dayMs = 24 * 60 * 60 * 1000;
const messagesMax = 5000;
const pageSize = 500;

/** The channel's messages of the last day, newest first; at most 5,000. */
async function* recentMessages(channel) {
  const since = (Date.now() - dayMs) / 1000;
  const narrow = [{ operator: "channel", operand: channel }];
  let anchor = "newest";
  for (let seen = 0; seen < messagesMax; seen += pageSize) {
    const page = { anchor, include_anchor: anchor === "newest", num_before: pageSize, num_after: 0, narrow };
    const { messages, found_oldest: isEnd } = await client.call("GET /messages", { ...page, apply_markdown: false });
    for (const message of messages.toReversed()) {
      if (message.timestamp < since) return;
      yield message;
    }
    if (isEnd || messages.length === 0) return;
    anchor = String(messages[0].id);
  }
}

async function digestOf(channel) {
  const topics = new Map();
  for await (const { subject, sender_full_name: name } of recentMessages(channel)) {
    const topic = topics.get(subject) ?? { count: 0, names: new Set() };
    topics.set(subject, { count: topic.count + 1, names: topic.names.add(name) });
  }
  if (topics.size === 0) return `Nobody wrote in #**${channel}** since yesterday.`;
  const lines = [...topics]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([topic, { count, names }]) => `* **${topic}**: ${count} by ${[...names].toSorted().join(", ")}`);
  return `In #**${channel}** since yesterday:\n\n${lines.join("\n")}`;
}

async function answer(question) {
  const [, channel] = /^digest\s+#?(?:\*\*)?([^*]+?)(?:\*\*)?$/.exec(question.trim()) ?? [];
  if (channel === undefined) return "Write `digest CHANNEL`.";
  try {
    return await digestOf(channel);
  } catch (error) {
    if (error instanceof ApiError) return `There is no digest of ${channel}: ${error.message}`;
    throw error;
  }
}

const events = client.events({
  event_types: ["message"],
  narrow: [["is", "dm"]],
  onConnected: () => process.stdout.write(`${me.full_name} listens\n`),
  onGap: () => process.stderr.write("Ask again what was not answered\n"),
});

for await (const { message } of events) {
  if (message.sender_id === me.user_id) continue;
  const content = await answer(message.content);
  await client.call("POST /messages", { ...answerTo(message), content }, { idempotencyKey: `digest-${message.id}` });
}
