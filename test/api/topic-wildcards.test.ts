/** `@**topic**` (public API: send-message, update-message): permission to mention all participants of a topic. */
import t from "tap";
import { type Client, expects, refusal } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");
const writers = await Promise.all(Array.from({ length: 16 }, (_, index) => server.user(`writer${index}x`)));
const channelId = await owner.createChannel("lectures", [owner, member, ...writers]);

const notAllowed = refusal(
  "You do not have permission to use topic wildcard mentions in this topic.",
  "TOPIC_WILDCARD_MENTION_NOT_ALLOWED",
);
const call = "@**topic** please read";

const send = (by: Client, topic: string) =>
  by.post("/messages", { type: "channel", to: channelId, topic, content: call });

/** Creates a topic with this number of participants. */
async function written(topic: string, people: number): Promise<void> {
  for (const writer of writers.slice(0, people)) await writer.say(channelId, topic, "I was here");
}

t.test("up to 15 participants may be mentioned by anybody, more only by members of a group", async (t) => {
  await written("fifteen", 15);
  t.equal((await send(member, "fifteen")).status, 200);
  await written("sixteen", 16);
  await expects(t, send(member, "sixteen"), notAllowed);
  t.equal((await send(owner, "sixteen")).status, 200, "administrators are in can_mention_many_users_group");
  t.equal((await send(member, "nobody yet")).status, 200, "a topic that begins with the mention");
  t.equal((await member.say(channelId, "sixteen", "`@**topic**` is quoted, @_**topic** silent")) > 0, true);
  const later = {
    type: "channel",
    to: channelId,
    topic: "sixteen",
    content: call,
    scheduled_delivery_timestamp: 4_000_000_000,
  };
  await expects(t, member.post("/scheduled_messages", later), notAllowed, "nor later");
  server.setRealm({ can_mention_many_users_group: server.group("role:members") });
  t.equal((await send(member, "sixteen")).status, 200);
  server.setRealm({ can_mention_many_users_group: server.group("role:administrators") });
});

t.test("the same applies to an edit; a rejected one changes nothing", async (t) => {
  await written("edited", 16);
  const id = await member.say(channelId, "edited", "x");
  await expects(t, member.patch(`/messages/${id}`, { content: call }), notAllowed);
  t.equal((await member.get(`/messages/${id}`)).body.raw_content, "x");
  const quiet = await member.say(channelId, "quiet", "x");
  t.equal((await member.patch(`/messages/${quiet}`, { content: call })).status, 200);
});
