/**
 * A message is deleted in a private channel after a reader was removed from it and before that reader resumes.
 * Recipients of the message receive its deletion, otherwise it would stay unread or starred for ever (E2). They receive
 * nothing about messages that they could never read (S1).
 */
import t from "tap";
import type { Event } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const types = ["delete_message", "update_message_flags"];
const abilities = { client_capabilities: { notification_settings_null: true, bulk_message_deletion: true } };

async function deletedIdsAfterLeaving(isShared: boolean, starred: "what they had" | "before they joined") {
  const name = isShared ? "shared" : "protected";
  const reader = await server.user(`reader of ${name}`);
  const more = { invite_only: true, history_public_to_subscribers: isShared };
  const channel = await owner.createChannel(name, [owner], more);
  const early = await owner.say(channel, "hushed", "before they came");
  const add = { subscriptions: [{ name }], principals: [reader.userId] };
  await owner.post("/users/me/subscriptions", add);
  const had = await owner.say(channel, "hushed", "while they were subscribed");
  const messages = [starred === "what they had" ? had : early];
  await reader.post("/messages/flags", { op: "add", flag: "starred", messages });
  const queue = await reader.register({ event_types: types, fetch_event_types: [], ...abilities });
  await owner.post(`/streams/${channel}/delete_topic`, { topic_name: "hushed" });
  await owner.delete("/users/me/subscriptions", { subscriptions: [name], principals: [reader.userId] });
  const events = await reader.readNow(queue);
  const received = events.map((event: Event) => [
    event.type,
    event.op,
    event.flag,
    event.message_ids ?? event.messages,
  ]);
  return { early, had, told: received, text: JSON.stringify(events) };
}

t.test(
  "[E2, S1] with protected history, a former subscriber learns only that messages are read, not starred",
  async (t) => {
    const { had, told: received, text } = await deletedIdsAfterLeaving(false, "what they had");
    t.strictSame(received, [
      ["update_message_flags", "add", "read", [had]],
      ["update_message_flags", "remove", "starred", [had]],
    ]);
    t.notMatch(text, /hushed|stream_id/, "not in the place it was moved from");
  },
);

t.test("[E2] with shared history, a former subscriber receives deletions of received and starred ones", async (t) => {
  const { early, had, told: received } = await deletedIdsAfterLeaving(true, "before they joined");
  t.strictSame(received, [["delete_message", undefined, undefined, [early, had]]]);
});

t.test(
  "[E2] with shared history, a former subscriber learns that a message moved in and deleted is read",
  async (t) => {
    const reader = await server.user("follower");
    const more = { invite_only: true, history_public_to_subscribers: true };
    const channel = await owner.createChannel("target", [owner], more);
    const open = await owner.createChannel("source", [owner, reader]);
    // Older than the subscription to the channel where it is deleted.
    const moved = await owner.say(open, "lunch", "to be moved");
    const add = { subscriptions: [{ name: "target" }], principals: [reader.userId] };
    await owner.post("/users/me/subscriptions", add);
    const queue = await reader.register({ event_types: types, fetch_event_types: [], ...abilities });
    const quietly = { send_notification_to_new_thread: false, send_notification_to_old_thread: false };
    await owner.patch(`/messages/${moved}`, { stream_id: channel, propagate_mode: "change_all", ...quietly });
    await owner.delete(`/messages/${moved}`);
    await owner.delete("/users/me/subscriptions", { subscriptions: ["target"], principals: [reader.userId] });
    const events = await reader.readNow(queue);
    const read = events.filter((event: Event) => event.flag === "read" && event.op === "add");
    const found = read.flatMap((event: Event) => event.messages);
    t.strictSame(found, [moved]);
  },
);
