/** Notices of the notification bot in a channel (behaviour 2.3 e, 2.4), where the organization enables them. */
import t from "tap";
import { named, startChannelServer } from "../support/channels.ts";
import type { Client } from "../support/client.ts";

const { server, owner, administrator, member, group, channel, patch } = await startChannelServer(t);
server.setRealm({ send_channel_events_messages: true });
const { full_name: ownerName } = (await owner.get("/users/me")).body;
const who = `@_**${ownerName}|${owner.userId}**`;

interface Said {
  readonly subject: string;
  readonly content: string;
  readonly sender_full_name: string;
}

async function messages(id: number, by: Client = owner): Promise<Said[]> {
  const { body } = await by.get("/messages", {
    anchor: "newest",
    num_before: 50,
    num_after: 0,
    narrow: [{ operator: "channel", operand: id }],
    apply_markdown: false,
    allow_empty_topic_name: true,
  });
  return body.messages;
}

/** Contents of the notices, oldest first, without the first `skip`. */
async function notices(id: number, skip = 1): Promise<string[]> {
  return (await messages(id)).map(({ content }) => content).slice(skip);
}

t.test("[behaviour 2.3] a new channel gets a notice unless it has no subscribers", async (t) => {
  const kinds: [Record<string, unknown>, string][] = [
    [{}, "Public"],
    [{ is_web_public: true }, "Web-public"],
    [{ invite_only: true }, "Private, protected history"],
    [{ invite_only: true, history_public_to_subscribers: true }, "Private, shared history"],
  ];
  for (const [params, name] of kinds) {
    const [notice, ...more] = await messages(await channel(params));
    t.equal(more.length, 0);
    t.match(notice, { subject: "channel events", sender_full_name: "Notification Bot" });
    const received = `**${name}** channel created by ${who}. **Description:**\n\`\`\`\` quote\n*No description.*\n\`\`\`\``;
    t.equal(notice?.content, received);
  }
  const described = await notices(await channel({ description: "see `````x" }), 0);
  t.match(described[0], /\n`````` quote\nsee `````x\n``````$/, "the description cannot close its quotation");
  const [empty] = await messages(await channel({ topics_policy: "empty_topic_only" }));
  t.equal(empty?.subject, "", "in the empty topic if that is the only allowed one");
  t.strictSame(await messages(await channel({}, [])), []);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "by subscribing" }] });
  const { stream_id: id } = (await owner.get("/get_stream_id", { stream: "by subscribing" })).body;
  t.match(await notices(id, 0), [/^\*\*Public\*\* channel created by/]);
});

t.test("[behaviour 2.3] the notice of a new channel is marked as read for its creator alone", async (t) => {
  const unreadIn = async (id: number, by: Client) => {
    const { unread_msgs: unread } = await by.register({ fetch_event_types: ["message", "update_message_flags"] });
    const { streams } = unread as { streams: { stream_id: number; unread_message_ids: number[] }[] };
    return streams.filter((place) => place.stream_id === id).flatMap((place) => place.unread_message_ids);
  };
  const follower = await owner.follow();
  const id = await channel({}, [owner, member]);
  const [notice] = (await owner.get("/messages", { anchor: "newest", num_before: 1, num_after: 0 })).body.messages;
  t.strictSame(await unreadIn(id, owner), []);
  t.strictSame(await unreadIn(id, member), [notice.id]);
  await follower.settled();
  const found = follower.ofType("message").map(({ message, flags }) => [message.id, flags]);
  t.strictSame(found, [[notice.id, ["read"]]]);
});

t.test("[behaviour 2.4] each change of a channel gets its own notice", async (t) => {
  const id = await channel({ description: "old" });
  await patch(id, { new_name: "renamed", description: "new" });
  await patch(id, { is_private: true });
  await patch(id, { message_retention_days: 30 });
  await patch(id, { message_retention_days: "unlimited" });
  await patch(id, { topics_policy: "disable_empty_topic" });
  await patch(id, { can_send_message_group: { new: group("moderators") } });
  await patch(id, { can_send_message_group: { new: named(owner) } });
  t.match(await notices(id), [
    `${who} changed the description for this channel.`,
    `${who} renamed channel **channel 9** to **renamed**.`,
    `${who} changed the [access permissions](/help/channel-permissions) for this channel from **Public** to **Private, protected history**.`,
    /\* \*\*Old retention period\*\*: that of the organization\n\* \*\*New retention period\*\*: 30 days$/,
    /\* \*\*New retention period\*\*: forever$/,
    `${who} changed the "Allow posting to the *general chat* topic?" setting from **Automatic** to **No, the empty topic is not allowed**.`,
    /posting permissions.*\n\n\* \*\*Old\*\*: @_\*role:everyone\*\n\* \*\*New\*\*: @_\*role:moderators\*$/s,
    `* **New**: ${who}`,
  ]);
});

t.test("[behaviour 2.4] the bot posts where no user may: in archived, private and moderators' channels", async (t) => {
  const id = await channel({ invite_only: true, can_send_message_group: group("nobody") });
  await owner.delete(`/streams/${id}`);
  await patch(id, { is_archived: false });
  t.match(await notices(id), [/^Channel #\*\*.*\*\* has been archived\.$/, /has been unarchived\.$/]);
});

t.test("[behaviour 2.4] no notice without a change, for a rejected request, or for other permissions", async (t) => {
  const id = await channel({ description: "same" });
  await patch(id, { description: "same", is_private: false });
  await patch(id, { description: "refused", folder_id: 99 });
  await patch(id, { can_subscribe_group: { new: named(member) }, is_default_stream: true });
  t.strictSame(await notices(id), []);
});

t.test("[D5] an organization that disables the notices has none", async (t) => {
  server.setRealm({ send_channel_events_messages: false });
  const id = await channel();
  await patch(id, { new_name: "quietly", is_private: true });
  await owner.delete(`/streams/${id}`);
  t.strictSame(await messages(id), []);
});

t.test("[spec 4.3] announce posts to the announcement channel, which may have been archived meanwhile", async (t) => {
  const place = await channel();
  server.setRealm({ new_stream_announcements_stream_id: place });
  await administrator.createChannel("announced", [administrator], { announce: true });
  await administrator.createChannel("not announced", [administrator]);
  await administrator.createChannel("private announced", [administrator], { announce: true, invite_only: true });
  const name = (await administrator.get("/users/me")).body.full_name;
  t.match(await messages(place), [
    { subject: "new channels", content: `@_**${name}|${administrator.userId}** created a new channel #**announced**.` },
  ]);
  t.equal((await messages(place)).length, 1);
  await owner.delete(`/streams/${place}`);
  server.setRealm({ new_stream_announcements_stream_id: place });
  await administrator.createChannel("announced nowhere", [administrator], { announce: true });
  t.equal((await messages(place)).length, 1);
});
