/**
 * The origin of moved messages (S1): a message that was moved out of a private channel reveals neither the channel nor
 * its topics to users who cannot see it, through any operation or event.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import { move } from "../support/message-moves.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const [insider, outsider] = [await server.user("insider"), await server.user("outsider")];
const administrator = await server.user("administrator", roles.administrator);
const sealed = await owner.createChannel("sealed", [owner, insider], { invite_only: true });
const open = await owner.createChannel("open", [owner, insider, outsider, administrator]);

/** Sent in public, moved into the private channel, renamed and edited there, then moved out again. */
async function travelled(): Promise<number> {
  const id = await owner.say(open, "begun", "first");
  await move(owner, id, { stream_id: sealed, topic: "secret one", propagate_mode: "change_all" });
  await move(owner, id, { topic: "secret two", propagate_mode: "change_all" });
  await owner.patch(`/messages/${id}`, { content: "second" });
  await move(owner, id, { stream_id: open, topic: "shown", propagate_mode: "change_all" });
  await move(owner, id, { topic: "shown now", propagate_mode: "change_all" });
  return id;
}

const withoutTimes = (entries: Record<string, unknown>[]) =>
  entries.map(
    ({ timestamp: _at, user_id: _by, prev_rendered_content: _html, rendered_content: _now, ...rest }) => rest,
  );

async function messageOf(client: Client, id: number) {
  return (await client.get(`/messages/${id}`)).body.message;
}

t.test("[S1] edit_history omits moves within a hidden channel and keeps the contents", async (t) => {
  const id = await travelled();
  const all = withoutTimes((await messageOf(insider, id)).edit_history);
  t.strictSame(all, [
    { prev_topic: "shown", topic: "shown now" },
    { prev_stream: sealed, stream: open, prev_topic: "secret two", topic: "shown" },
    { prev_content: "first" },
    { prev_topic: "secret one", topic: "secret two" },
    { prev_stream: open, stream: sealed, prev_topic: "begun", topic: "secret one" },
  ]);
  const message = await messageOf(outsider, id);
  t.strictSame(withoutTimes(message.edit_history), [
    { prev_topic: "shown", topic: "shown now" },
    { prev_content: "first" },
  ]);
  t.match(message, { last_moved_timestamp: Number, last_edit_timestamp: Number });
  const page = await outsider.get("/messages", { anchor: id, num_before: 0, num_after: 0 });
  t.strictSame(page.body.messages[0].edit_history, message.edit_history, "GET /messages");
});

const secondForFirst =
  '<div><p><span class="highlight_text_inserted">second</span> <span class="highlight_text_deleted">first</span></p></div>';

t.test("[S1] GET /messages/{id}/history shows the topic of the arrival for all earlier entries", async (t) => {
  const id = await travelled();
  const historyOf = async (client: Client) =>
    withoutTimes((await client.get(`/messages/${id}/history`)).body.message_history);
  t.equal((await historyOf(insider)).length, 6);
  const seen = await historyOf(outsider);
  t.notMatch(JSON.stringify(seen), /secret|prev_stream/);
  t.strictSame(seen, [
    { topic: "shown", content: "first" },
    { topic: "shown", content: "second", prev_content: "first", content_html_diff: secondForFirst },
    { topic: "shown now", content: "second", prev_topic: "shown" },
  ]);
});

t.test("[S1, E2] live and replayed events name no hidden channel and none of its topics", async (t) => {
  const all = { event_types: ["message", "update_message", "delete_message"], all_public_streams: true };
  const live = await outsider.follow(all);
  const late = await outsider.follow(all);
  const inside = await insider.follow(all);
  const id = await travelled();
  await owner.say(open, "shown now", "another");
  for (const [name, follower] of Object.entries({ live, late })) {
    await follower.settled();
    const text = JSON.stringify(follower.events);
    t.notMatch(text, /secret|sealed/, name);
    t.notMatch(text, new RegExp(`"(prev_)?stream(_id)?":${sealed}\\b`), name);
    t.notMatch(text, new RegExp(`"new_stream_id":${sealed}\\b`), name);
  }
  await inside.settled();
  const shown = inside.ofType("message").find(({ message }) => message.id === id);
  t.match(
    JSON.stringify(shown.message.edit_history),
    /secret two/,
    "a user who may see them receives them, at the same positions",
  );
});

t.test("[S1] administrators see the name of a private channel, but not its topics", async (t) => {
  const follower = await administrator.follow({ event_types: ["message", "update_message", "delete_message"] });
  const id = await travelled();
  t.equal((await administrator.get(`/users/me/${sealed}/topics`)).status, 400, "just as they may not list them");
  t.notMatch(JSON.stringify(await messageOf(administrator, id)), /secret/);
  t.notMatch(JSON.stringify((await administrator.get(`/messages/${id}/history`)).body), /secret/);
  await follower.settled();
  t.notMatch(JSON.stringify(follower.events), /secret/);
});

t.test("[S1] with protected history, a later subscriber does not see the earlier topic of a message", async (t) => {
  const guarded = await owner.createChannel("guarded", [owner, insider], {
    invite_only: true,
    history_public_to_subscribers: false,
  });
  const id = await owner.say(guarded, "secret before", "x");
  const subscriptions = [{ name: "guarded" }];
  await owner.post("/users/me/subscriptions", { subscriptions, principals: [outsider.userId] });
  const follower = await outsider.follow({ event_types: ["message", "update_message", "delete_message"] });
  await move(owner, id, { stream_id: open, topic: "shown", propagate_mode: "change_all" });
  t.notMatch(JSON.stringify(await messageOf(outsider, id)), /secret/);
  await follower.settled();
  t.notMatch(JSON.stringify(follower.events), /secret/);
  t.match(await messageOf(insider, id), { edit_history: [{ prev_topic: "secret before", prev_stream: guarded }] });
});
