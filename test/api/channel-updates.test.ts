/**
 * PATCH /streams/{stream_id}, rule by rule: spec 4.4 with 2.4, 7, 8, D9, D14, D15, D19 (behaviour 2.4). Other files
 * test privacy (channel-privacy.test.ts), permissions (channel-permissions.test.ts) and archiving
 * (channel-archive.test.ts).
 */
import t from "tap";
import { named, startChannelServer } from "../support/channels.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";

const { server, owner, administrator, moderator, member, guest, group, channel, patch, record, refuses } =
  await startChannelServer(t);
const insufficient = "Insufficient permission";

t.test("[spec 4.4] one request changes all parameters sent and keeps the others", async (t) => {
  const id = await channel();
  server.write("channelFolders", 7, folder(7, false));
  const sent = {
    description: "All about\r\n**tea**",
    new_name: "  Tea  ",
    is_private: true,
    history_public_to_subscribers: true,
    message_retention_days: 30,
    folder_id: 7,
    topics_policy: "disable_empty_topic",
    can_send_message_group: { new: group("administrators"), old: group("everyone") },
  };
  await expects(t, patch(id, sent), success());
  const { is_default: _none, ...seen } = await record(id);
  t.match(seen, {
    name: "Tea",
    description: "All about **tea**",
    rendered_description: "<p>All about <strong>tea</strong></p>",
    invite_only: true,
    history_public_to_subscribers: true,
    message_retention_days: 30,
    folder_id: 7,
    topics_policy: "disable_empty_topic",
    can_send_message_group: group("administrators"),
    stream_post_policy: 2,
    is_announcement_only: true,
    is_archived: false,
    is_web_public: false,
  });
  await expects(t, patch(id, {}), success(), "an empty request changes nothing");
  t.strictSame(await record(id), seen);
});

t.test("[spec 2.1] each parameter has its type; unknown ones are listed", async (t) => {
  const id = await channel();
  const wrong: [Params, string][] = [
    [{ is_private: "yes" }, "is_private is not valid JSON"],
    [{ is_web_public: 1 }, "is_web_public is not a boolean"],
    [{ history_public_to_subscribers: null }, "history_public_to_subscribers is not a boolean"],
    [{ is_default_stream: '"true"' }, "is_default_stream is not a boolean"],
    [{ is_archived: "False" }, "is_archived is not valid JSON"],
    [{ folder_id: '"7"' }, "folder_id is not an integer"],
    [{ folder_id: 1.5 }, "folder_id is not an integer"],
    [{ topics_policy: "sometimes" }, "Invalid topics_policy"],
    [{ topics_policy: "" }, "Invalid topics_policy"],
    [{ message_retention_days: [] }, "message_retention_days is not an integer"],
    [{ can_subscribe_group: 3 }, "can_subscribe_group is not a dict"],
    [{ can_subscribe_group: { old: 3 } }, 'can_subscribe_group["new"] field is missing'],
  ];
  for (const [params, msg] of wrong) await refuses(t, id, params, msg);
  await expects(t, owner.patch("/streams/one", {}), refusal("Invalid URL", "NOT_FOUND", 404));
  const { body } = await patch(id, { is_announcement_only: true, stream_post_policy: 2, description: "listed" });
  t.strictSame(body.ignored_parameters_unsupported, ["is_announcement_only", "stream_post_policy"]);
  t.match(await owner.anonymous().patch(`/streams/${id}`, {}), { status: 401, body: { code: "UNAUTHORIZED" } });
});

t.test("[spec 4.4, D24] only users who administer a channel can change it, by role or by permission", async (t) => {
  const holder = await server.user("holder");
  const bot = await server.bot("helper", owner);
  const kinds = {
    public: await channel({ can_administer_channel_group: named(holder) }, [owner]),
    "private, in it": await channel({ invite_only: true, can_administer_channel_group: named(holder) }, [
      owner,
      administrator,
      moderator,
      member,
      guest,
      holder,
      bot,
    ]),
    "private, not in it": await channel({ invite_only: true, can_administer_channel_group: named(holder) }),
  };
  const may = "success";
  const mayNot = "You do not have permission to administer this channel.";
  const unknown = "Invalid channel ID";
  const expected: [Client, string, Record<keyof typeof kinds, string>][] = [
    [owner, "owner", { public: may, "private, in it": may, "private, not in it": may }],
    [administrator, "administrator", { public: may, "private, in it": may, "private, not in it": may }],
    [moderator, "moderator", { public: mayNot, "private, in it": mayNot, "private, not in it": unknown }],
    [member, "member", { public: mayNot, "private, in it": mayNot, "private, not in it": unknown }],
    [guest, "guest", { public: unknown, "private, in it": mayNot, "private, not in it": unknown }],
    [bot, "an owner's bot", { public: mayNot, "private, in it": mayNot, "private, not in it": unknown }],
    [holder, "who holds it", { public: may, "private, in it": may, "private, not in it": may }],
  ];
  for (const [client, who, answers] of expected) {
    for (const [kind, id] of Object.entries(kinds)) {
      const { body } = await patch(id, { description: `by ${who}` }, client);
      t.equal(body.result === "success" ? may : body.msg, answers[kind as keyof typeof kinds], `${who}: ${kind}`);
    }
  }
  await expects(t, patch(9999, { description: "x" }), unknown);
  await patch(kinds["public"], { can_administer_channel_group: { new: named(guest) } });
  await expects(t, patch(kinds["public"], {}, guest), unknown, "guests never hold the permission");
});

t.test("[spec 8, D8] a name has at most 60 code points, a description at most 1024", async (t) => {
  const id = await channel();
  for (const letter of ["n", "🦜"]) {
    t.equal((await patch(id, { new_name: letter.repeat(60), description: letter.repeat(1024) })).status, 200);
    t.match(await record(id), { name: letter.repeat(60), description: letter.repeat(1024) });
    await refuses(t, id, { new_name: letter.repeat(61) }, "Channel name too long (limit: 60 characters).");
    const long = { description: letter.repeat(1025) };
    await refuses(t, id, long, "description is too long (limit: 1024 characters)");
  }
});

t.test("[spec 4.4, D15] a name must be free, printable and different", async (t) => {
  const id = await channel({}, [owner, member]);
  await owner.createChannel("Taken Name", [owner], { invite_only: true });
  const gone = await owner.createChannel("archived name", []);
  await owner.delete(`/streams/${gone}`);
  for (const name of ["Taken Name", "taken name", " TAKEN NAME ", "Archived Name"]) {
    const taken = name.trim();
    await expects(
      t,
      patch(id, { new_name: name, description: "not kept" }),
      refusal(`Channel '${taken}' already exists`, "CHANNEL_ALREADY_EXISTS", 409, { channel_name: taken }),
    );
  }
  t.equal((await record(id)).description, "", "all or nothing");
  await refuses(t, id, { new_name: "  " }, "Channel name can't be empty.");
  await refuses(t, id, { new_name: "a\u0007" }, "Invalid character in channel name, at position 2.");
  const { name } = await record(id);
  await refuses(t, id, { new_name: name }, "Channel already has that name.");
  t.equal(
    (await patch(id, { new_name: name.toUpperCase() })).status,
    200,
    "the channel's own name in another case is allowed",
  );
  t.equal((await record(id)).name, name.toUpperCase());
  await owner.createChannel(`${name} again`, []);
  t.equal((await patch(id, { new_name: `${name} moved` })).status, 200);
  t.equal((await owner.post("/channels/create", { name, subscribers: [] })).status, 200, "the old name is free again");
});

t.test("[spec 2.4, D9, D19] administrators set retention: a number, realm_default or unlimited", async (t) => {
  const id = await channel({ can_administer_channel_group: named(moderator) });
  const forms: [unknown, number | null][] = [
    [1, 1],
    ['"7"', 7],
    ["unlimited", -1],
    ['"realm_default"', null],
    ['"unlimited"', -1],
    ["realm_default", null],
  ];
  for (const [form, stored] of forms) {
    t.equal((await patch(id, { message_retention_days: form }, administrator)).status, 200, String(form));
    t.equal((await record(id)).message_retention_days, stored, String(form));
  }
  for (const form of ["forever", "0", "-1", '"soon"']) {
    const value = form.replaceAll('"', "");
    await expects(
      t,
      patch(id, { message_retention_days: form }),
      refusal(`Bad value for 'message_retention_days': ${value}`, "REQUEST_VARIABLE_INVALID", 400, {
        var_name: "message_retention_days",
        bad_value: value,
      }),
    );
  }
  const mayNot = "Must be an organization administrator";
  for (const days of [5, "realm_default", 0]) {
    await refuses(t, id, { message_retention_days: days }, mayNot, moderator, "UNAUTHORIZED_PRINCIPAL");
  }
});

t.test("[spec 2.4] topics_policy needs a permission, and empty_topic_only no other topics there", async (t) => {
  const id = await channel({ can_administer_channel_group: named(member) }, [owner, member]);
  for (const policy of ["allow_empty_topic", '"disable_empty_topic"', "inherit", "empty_topic_only"]) {
    t.equal((await patch(id, { topics_policy: policy }, member)).status, 200, policy);
    t.equal((await record(id)).topics_policy, policy.replaceAll('"', ""));
  }
  await owner.say(id, "", "nowhere in particular");
  await patch(id, { topics_policy: "inherit" });
  t.equal((await patch(id, { topics_policy: "empty_topic_only" })).status, 200, "all messages are in the empty topic");
  await patch(id, { topics_policy: "inherit" });
  await owner.say(id, "somewhere", "in particular");
  server.setRealm({ empty_topic_display_name: "lounge" });
  const msg =
    "To enable this configuration, all messages in this channel must be in the lounge topic. Consider renaming or deleting other topics.";
  await expects(
    t,
    patch(id, { topics_policy: "empty_topic_only" }),
    refusal(msg, "BAD_REQUEST", 400, { empty_topic_display_name: "lounge" }),
  );
  await owner.post(`/streams/${id}/delete_topic`, { topic_name: "somewhere" });
  t.equal((await patch(id, { topics_policy: "empty_topic_only" })).status, 200, "the other topic is deleted");
  t.equal((await owner.post("/messages", { type: "channel", to: id, topic: "x", content: "x" })).status, 400);
  server.setRealm({ empty_topic_display_name: "general chat" });

  server.setRealm({ can_set_topics_policy_group: group("moderators") });
  await refuses(t, id, { topics_policy: "allow_empty_topic" }, insufficient, member);
  t.equal(
    (await patch(id, { topics_policy: "inherit" }, member)).status,
    200,
    "inheriting needs no further permission",
  );
  server.setRealm({ can_set_topics_policy_group: group("members") });
});

t.test("[spec 4.4] only administrators change default channels", async (t) => {
  const id = await channel({ can_administer_channel_group: named(moderator) });
  const mayNot = "You do not have permission to change default channels.";
  await refuses(t, id, { is_default_stream: true }, mayNot, moderator);
  const follower = await member.follow();
  t.equal((await patch(id, { is_default_stream: true }, administrator)).status, 200);
  const newcomer = await server.user("newcomer");
  const { body } = await newcomer.get("/users/me/subscriptions");
  t.ok(body.subscriptions.some(({ stream_id: joined }: { stream_id: number }) => joined === id));
  t.equal((await patch(id, { is_default_stream: true }, administrator)).status, 200);
  t.equal((await patch(id, { is_default_stream: false }, administrator)).status, 200);
  await follower.settled();
  t.equal(follower.ofType("default_streams").length, 2, "an event is sent when it changes");
});

function folder(id: number, isArchived: boolean) {
  const texts = { name: `folder ${id}`, description: "", renderedDescription: "" };
  return { id, ...texts, creatorId: null, createdAt: 0, isArchived, order: id };
}

t.test("[spec 4.3, 4.4] a folder must exist and not be archived; null removes the channel from it", async (t) => {
  server.write("channelFolders", 11, folder(11, false));
  server.write("channelFolders", 12, folder(12, true));
  const id = await channel({ folder_id: 11 });
  t.equal((await record(id)).folder_id, 11);
  for (const folderId of [12, 999]) {
    await refuses(t, id, { folder_id: folderId }, "Invalid channel folder ID");
    const tried = await owner.post("/channels/create", { name: "foldered", subscribers: [], folder_id: folderId });
    t.strictSame(outcome(tried), refusal("Invalid channel folder ID"));
  }
  t.equal((await patch(id, { description: "still there" })).status, 200);
  t.equal((await record(id)).folder_id, 11, "a missing parameter is not null");
  t.equal((await patch(id, { folder_id: null })).status, 200);
  t.equal((await record(id)).folder_id, null);
});

t.test("[behaviour 2.4] if a request breaks several rules, the first in order is reported", async (t) => {
  const id = await channel({ can_administer_channel_group: named(member) }, [member]);
  await member.say(id, "named", "a topic");
  const rules: [Params, RegExp][] = [
    [{ description: "d".repeat(1025) }, /^description is too long/],
    [{ history_public_to_subscribers: false }, /^Invalid parameters$/],
    [{ is_web_public: true }, /^Insufficient permission$/],
    [{ topics_policy: "empty_topic_only" }, /^To enable this configuration/],
    [{ is_default_stream: true }, /^You do not have permission to change default channels\.$/],
    [{ message_retention_days: 0 }, /^Must be an organization administrator$/],
    [{ is_archived: false }, /^Channel is not currently deactivated$/],
    [{ can_delete_any_message_group: { new: 9999 } }, /^Insufficient permission$/],
    [{ new_name: "general" }, /^Channel 'general' already exists$/],
    [{ folder_id: 999 }, /^Invalid channel folder ID$/],
    [{ can_send_message_group: { new: 9999 } }, /^Invalid user group$/],
  ];
  for (const [index, [broken, msg]] of rules.entries()) {
    const later = Object.assign({}, ...rules.slice(index + 1).map(([params]) => params));
    t.match((await patch(id, { ...later, ...broken }, member)).body.msg, msg, JSON.stringify(broken));
  }
});

t.test("[D25] a repeated request with the same key gets the first answer", async (t) => {
  const id = await channel();
  const headers = { "Idempotency-Key": "rename once" };
  const first = await owner.patch(`/streams/${id}`, { new_name: `once ${id}` }, headers);
  const again = await owner.patch(`/streams/${id}`, { new_name: `once ${id}` }, headers);
  t.strictSame([outcome(first), outcome(again)], [success(), success()]);
});
