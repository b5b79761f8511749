/**
 * A message that is deleted in a private channel whose reader is taken out of it before they ask: who had it is told that it is gone,
 * else it would count as unread, or as starred, for ever (E2); of what they never had they learn nothing (S1).
 */
import t from "tap";
import { createChannel, personOf } from "../support/conversation.ts";
import { type Event, readNow } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const types = ["delete_message", "update_message_flags"];
const abilities = { client_capabilities: { notification_settings_null: true, bulk_message_deletion: true } };

async function deletedIdsAfterLeaving(isShared: boolean, starred: "what they had" | "what was before them") {
  const name = isShared ? "shared" : "protected";
  const reader = await personOf(server, `reader of ${name}`);
  const more = { invite_only: true, history_public_to_subscribers: isShared };
  const channel = await createChannel(owner, name, [owner], more);
  const early = await owner.say(channel, "hushed", "before they came");
  const add = { subscriptions: [{ name }], principals: [reader.userId] };
  await owner.post("/users/me/subscriptions", add);
  const had = await owner.say(channel, "hushed", "while they were there");
  const messages = [starred === "what they had" ? had : early];
  await reader.post("/messages/flags", { op: "add", flag: "starred", messages });
  const queue = await reader.register({ event_types: types, fetch_event_types: [], ...abilities });
  await owner.post(`/streams/${channel}/delete_topic`, { topic_name: "hushed" });
  await owner.delete("/users/me/subscriptions", { subscriptions: [name], principals: [reader.userId] });
  const events = await readNow(reader, queue);
  const told = events.map((event: Event) => [event.type, event.op, event.flag, event.message_ids ?? event.messages]);
  return { early, had, told, text: JSON.stringify(events) };
}

t.test(
  "[E2, S1] in protected history: that what they received is read and not starred, and nothing else",
  async (t) => {
    const { had, told, text } = await deletedIdsAfterLeaving(false, "what they had");
    t.strictSame(told, [
      ["update_message_flags", "add", "read", [had]],
      ["update_message_flags", "remove", "starred", [had]],
    ]);
    t.notMatch(text, /hushed|stream_id/, "not where it was");
  },
);

t.test(
  "[E2] in shared history: what they received, and what they had starred without having received it",
  async (t) => {
    const { early, had, told } = await deletedIdsAfterLeaving(true, "what was before them");
    t.strictSame(told, [["delete_message", undefined, undefined, [early, had]]]);
  },
);
