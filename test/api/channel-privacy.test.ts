/** Changing the privacy of a channel with PATCH /streams/{stream_id} (spec 4.4, D18; behaviour 2.4). */
import t from "tap";
import { named, startChannelServer } from "../support/channels.ts";
import { expects, type Params, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const { server, owner, administrator, moderator, member, guest, group, channel, patch, record, refuses } =
  await startChannelServer(t);
const insufficient = "Insufficient permission";
const contentNeeded = "Channel content access is required.";

t.test("[spec 4.4] invalid combinations of privacy settings are rejected", async (t) => {
  const open = await channel();
  const web = await channel({ is_web_public: true });
  const hidden = await channel({ invite_only: true });
  const standard = await channel({ is_default_stream: true });
  const cannot: [number, Params][] = [
    [open, { history_public_to_subscribers: false }],
    [web, { history_public_to_subscribers: false }],
    [hidden, { is_private: false, history_public_to_subscribers: false }],
    [open, { is_private: true, is_web_public: true }],
    [hidden, { is_web_public: true }],
    [web, { is_private: true }],
    [open, { is_web_public: true, history_public_to_subscribers: false }],
  ];
  for (const [id, params] of cannot) await refuses(t, id, params, "Invalid parameters");
  await refuses(t, standard, { is_private: true }, "A default channel cannot be private.");
  await refuses(t, hidden, { is_default_stream: true }, "A default channel cannot be private.");
  t.equal((await patch(standard, { is_private: true, is_default_stream: false })).status, 200);
  server.setRealm({ moderation_request_channel_id: hidden });
  await refuses(t, hidden, { is_private: false }, "A moderation request channel cannot be public.");
  server.setRealm({ moderation_request_channel_id: -1 });
});

t.test("[spec 4.4] by default a private channel's history is protected, a public one's shared", async (t) => {
  const id = await channel();
  const steps: [Params, Params][] = [
    [{ is_private: true }, { invite_only: true, history_public_to_subscribers: false }],
    [{ history_public_to_subscribers: true }, { invite_only: true, history_public_to_subscribers: true }],
    [{ history_public_to_subscribers: false }, { invite_only: true, history_public_to_subscribers: false }],
    [{ is_private: false }, { invite_only: false, history_public_to_subscribers: true }],
    [
      { is_private: true, history_public_to_subscribers: true },
      { invite_only: true, history_public_to_subscribers: true },
    ],
    [
      { is_private: false, is_web_public: true },
      { invite_only: false, is_web_public: true },
    ],
    [
      { is_private: true, is_web_public: false },
      { invite_only: true, is_web_public: false },
    ],
  ];
  for (const [params, expected] of steps) {
    await expects(t, patch(id, params), success(), JSON.stringify(params));
    t.match(await record(id), expected, JSON.stringify(params));
  }
});

t.test("[spec 4.4] a later subscriber can read shared history, but not protected history", async (t) => {
  const id = await channel({ invite_only: true });
  const said = await owner.say(id, "early", "before you came");
  const { name } = await record(id);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [member.userId] });
  t.equal((await member.get(`/messages/${said}`)).status, 400);
  await patch(id, { history_public_to_subscribers: true });
  t.equal((await member.get(`/messages/${said}`)).status, 200);
  await patch(id, { history_public_to_subscribers: false });
  t.equal((await member.get(`/messages/${said}`)).status, 400);
  await patch(id, { is_private: false });
  t.equal((await moderator.get(`/messages/${said}`)).status, 200, "everybody can read public history");
});

t.test("[D18] even administrators need content access to open written messages to others", async (t) => {
  const id = await channel({ invite_only: true }, [owner, member]);
  const opening: Params[] = [
    { is_private: false },
    { is_private: true },
    { history_public_to_subscribers: true },
    { can_add_subscribers_group: { new: named(administrator) } },
    { can_subscribe_group: { new: group("members") } },
    { can_subscribe_group: { new: 9999 } },
  ];
  for (const params of opening) await refuses(t, id, params, contentNeeded, administrator);
  const others: Params = {
    description: "metadata",
    new_name: `metadata ${id}`,
    topics_policy: "allow_empty_topic",
    message_retention_days: 5,
    can_administer_channel_group: { new: named(administrator) },
    can_send_message_group: { new: group("members") },
    can_remove_subscribers_group: { new: named(member) },
    can_delete_any_message_group: { new: group("moderators") },
    can_move_messages_out_of_channel_group: { new: group("members") },
    can_subscribe_group: { new: group("nobody") },
  };
  await expects(
    t,
    patch(id, others, administrator),
    success(),
    "a request that changes nothing requires no permission",
  );
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: `metadata ${id}` }],
    principals: [administrator.userId],
  });
  for (const params of opening.slice(1, 5)) t.equal((await patch(id, params, administrator)).status, 200);
});

t.test("[spec 4.4] changing the privacy needs the permission to create such channels", async (t) => {
  const id = await channel({ can_administer_channel_group: named(member) }, [member]);
  server.setRealm({ can_create_private_channel_group: group("moderators") });
  await refuses(t, id, { is_private: true }, insufficient, member);
  server.setRealm({ can_create_private_channel_group: group("members") });
  t.equal((await patch(id, { is_private: true }, member)).status, 200);
  server.setRealm({ can_create_public_channel_group: group("moderators") });
  await refuses(t, id, { is_private: false }, insufficient, member);
  server.setRealm({ can_create_public_channel_group: group("members") });
  t.equal((await patch(id, { is_private: false }, member)).status, 200);
});

t.test("[spec 4.4] web-public needs the server setting, the organization setting and content access", async (t) => {
  const id = await channel({ can_administer_channel_group: named(member) }, [member]);
  await refuses(t, id, { is_web_public: true }, insufficient, member);
  await refuses(t, id, { is_web_public: true }, insufficient, administrator);
  server.setRealm({ enable_spectator_access: false });
  await refuses(t, id, { is_web_public: true }, "Web-public channels are not enabled.");
  t.equal((await patch(id, { is_web_public: false })).status, 200, "making it less open needs none of them");
  server.setRealm({ enable_spectator_access: true });
  t.equal((await patch(id, { is_web_public: true })).status, 200);
  t.match(await guest.channel(id), { is_web_public: true });

  const closed = await startTestServer(t, { environment: { WEB_PUBLIC_STREAMS_ENABLED: "false" } });
  closed.setRealm({ enable_spectator_access: true });
  const there = await closed.owner.createChannel("there", []);
  await expects(
    t,
    closed.owner.patch(`/streams/${there}`, { is_web_public: true }),
    "Web-public channels are not enabled.",
  );
});
