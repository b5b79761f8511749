/**
 * POST /channels/create, line by line: spec 4.3 with 2.4, 8, D8, D9, D15, D19 (behaviour 2.3). Group-setting values are
 * tested in channel-groups.test.ts, visibility and events in streams.test.ts.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, moderator, guest } = await startServerWithUsers(t, ["member", "moderator", "guest"]);

const nobody = 1;
const administrators = 3;
const everyone = 7;

function create(params: Params, by = owner) {
  return by.post("/channels/create", { subscribers: [], ...params });
}

/** A rejected request leaves nothing behind: the name is still free. */
async function isFree(name: string): Promise<boolean> {
  const { body } = await owner.get("/streams", { include_all: true });
  return !body.streams.some((stream: { name: string }) => stream.name === name);
}

t.test("[spec 4.3] name and subscribers are enough; every other setting has its default", async (t) => {
  const made = await owner.post("/channels/create", { name: "plain", subscribers: [member.userId] });
  t.strictSame(outcome(made), success({ id: made.body.id }));
  const record = await owner.channel(made.body.id);
  t.ok(Number.isSafeInteger(record.date_created));
  t.strictSame(record, {
    stream_id: made.body.id,
    name: "plain",
    description: "",
    rendered_description: "",
    creator_id: owner.userId,
    date_created: record.date_created,
    invite_only: false,
    is_web_public: false,
    history_public_to_subscribers: true,
    is_archived: false,
    is_recently_active: true,
    is_announcement_only: false,
    stream_post_policy: 1,
    stream_weekly_traffic: null,
    subscriber_count: 1,
    first_message_id: null,
    folder_id: null,
    message_retention_days: null,
    topics_policy: "inherit",
    can_add_subscribers_group: nobody,
    can_administer_channel_group: { direct_members: [owner.userId], direct_subgroups: [] },
    can_delete_any_message_group: nobody,
    can_delete_own_message_group: nobody,
    can_move_messages_out_of_channel_group: nobody,
    can_move_messages_within_channel_group: nobody,
    can_remove_subscribers_group: administrators,
    can_send_message_group: everyone,
    can_subscribe_group: nobody,
    can_resolve_topics_group: nobody,
  });
});

t.test("[spec 2.4] the record holds the values sent", async (t) => {
  const sent = {
    description: "All about **tea**",
    invite_only: true,
    history_public_to_subscribers: true,
    topics_policy: "disable_empty_topic",
    message_retention_days: 30,
    can_send_message_group: administrators,
  };
  const made = await create({ name: "tea", subscribers: [owner.userId], ...sent });
  t.match(await owner.channel(made.body.id), {
    name: "tea",
    description: "All about **tea**",
    rendered_description: "<p>All about <strong>tea</strong></p>",
    invite_only: true,
    history_public_to_subscribers: true,
    topics_policy: "disable_empty_topic",
    message_retention_days: 30,
    can_send_message_group: administrators,
    stream_post_policy: 2,
    is_announcement_only: true,
    subscriber_count: 1,
  });
});

t.test("[spec 4.3] name and subscribers are required, and each parameter has its type", async (t) => {
  const missing = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  await expects(t, owner.post("/channels/create", { subscribers: [] }), missing("name"));
  await expects(t, owner.post("/channels/create", { name: "x" }), missing("subscribers"));
  const wrong: [Params, string][] = [
    [{ subscribers: "2" }, "subscribers is not a list"],
    [{ subscribers: "[2" }, "subscribers is not valid JSON"],
    [{ subscribers: ["2"] }, "subscribers[0] is not an integer"],
    [{ subscribers: [2, 1.5] }, "subscribers[1] is not an integer"],
    [{ announce: "True" }, "announce is not valid JSON"],
    [{ invite_only: 1 }, "invite_only is not a boolean"],
    [{ is_default_stream: "" }, "is_default_stream is not valid JSON"],
    [{ folder_id: '"1"' }, "folder_id is not an integer"],
    [{ topics_policy: "sometimes" }, "Invalid topics_policy"],
    [{ can_subscribe_group: "[]" }, "can_subscribe_group is not an integer"],
  ];
  for (const [params, msg] of wrong) {
    await expects(t, create({ name: "mistyped", ...params }), msg, msg);
  }
  t.ok(await isFree("mistyped"));
});

t.test("[spec 2.1] unknown parameters are listed and ignored", async (t) => {
  const { body } = await create({ name: "listed", zebra: "1", is_announcement_only: true });
  t.strictSame(body.ignored_parameters_unsupported, ["is_announcement_only", "zebra"]);
});

t.test("folder_id=null and send_new_subscription_messages are accepted", async (t) => {
  for (const tells of [true, false]) {
    const params = { name: `understood ${tells}`, folder_id: null, send_new_subscription_messages: tells };
    const { status, body } = await create(params);
    t.equal(status, 200);
    t.notOk("ignored_parameters_unsupported" in body);
    t.equal((await owner.get(`/streams/${body.id}`)).body.stream.folder_id, null);
  }
  t.match(await create({ name: "wrong", folder_id: "none" }), { status: 400 });
});

t.test("[spec 5] a request without credentials creates nothing", async (t) => {
  const refused = await create({ name: "anonymous" }, owner.anonymous());
  t.match(refused, { status: 401, body: { code: "UNAUTHORIZED" } });
  t.ok(await isFree("anonymous"));
});

t.test("[spec 7, D1] a name in use is rejected with 409 CHANNEL_ALREADY_EXISTS, whatever its case", async (t) => {
  await owner.createChannel("Straße und Äpfel", []);
  for (const name of ["Straße und Äpfel", "straße und äpfel", "  STRAßE UND ÄPFEL ", "straße und A\u0308pfel"]) {
    const taken = name.trim();
    await expects(
      t,
      create({ name }, member),
      refusal(`Channel '${taken}' already exists`, "CHANNEL_ALREADY_EXISTS", 409, { channel_name: taken }),
      taken,
    );
  }
});

t.test("[M7] of two concurrent creations of one name, one succeeds and the other is rejected", async (t) => {
  const answers = await Promise.all([create({ name: "Once" }), create({ name: "once" }, member)]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409]);
});

t.test("[S1] as the only exception, the name of a private channel is in use for those who cannot see it", async (t) => {
  await owner.createChannel("hidden place", [owner], { invite_only: true });
  await expects(
    t,
    create({ name: "Hidden Place" }, member),
    refusal("Channel 'Hidden Place' already exists", "CHANNEL_ALREADY_EXISTS", 409, { channel_name: "Hidden Place" }),
  );
});

t.test("[spec 8, D8] a name has at most 60 code points, in any Unicode plane", async (t) => {
  for (const letter of ["n", "ü", "🦜"]) {
    const longest = letter.repeat(60);
    const made = await create({ name: longest });
    t.equal(made.status, 200, letter);
    t.equal((await owner.channel(made.body.id)).name, longest);
    await expects(t, create({ name: letter.repeat(61) }), "Channel name too long (limit: 60 characters).");
  }
  const { body } = await owner.post("/register", { event_types: [], fetch_event_types: ["realm"] });
  t.match(body, { max_stream_name_length: 60, max_stream_description_length: 1024 });
});

t.test("[spec 8, D8] a description has at most 1024 code points", async (t) => {
  for (const letter of ["d", "🦜"]) {
    const longest = letter.repeat(1024);
    const made = await create({ name: `described ${letter}`, description: longest });
    t.equal((await owner.channel(made.body.id)).description, longest);
    await expects(
      t,
      create({ name: `too much ${letter}`, description: letter.repeat(1025) }),
      "description is too long (limit: 1024 characters)",
    );
    t.ok(await isFree(`too much ${letter}`));
  }
});

t.test("[spec 4.3] a name is trimmed, not blank, and printable", async (t) => {
  const made = await create({ name: " \t roomy  " });
  t.equal((await owner.channel(made.body.id)).name, "roomy");
  for (const name of ["", "   "]) await expects(t, create({ name }), "name cannot be blank");
  for (const [name, position] of [
    ["a\u0000b", 2],
    ["tab\there", 4],
    ["🦜\u007f", 2],
    ["\ufdd0", 1],
    ["ab\uffff", 3],
    ["abc\u{1fffe}", 4],
  ] as const) {
    await expects(t, create({ name }), `Invalid character in channel name, at position ${position}.`);
  }
});

t.test("[spec 4.3] line breaks in a description become spaces", async (t) => {
  const made = await create({ name: "lines", description: "one\ntwo\r\nthree\rfour" });
  t.equal((await owner.channel(made.body.id)).description, "one two three four");
});

t.test("[spec 2.4, D9] retention is a number, realm_default or unlimited, raw or as a JSON string", async (t) => {
  const forms: [unknown, number | null][] = [
    [1, 1],
    ['"7"', 7],
    ["realm_default", null],
    ['"realm_default"', null],
    ["unlimited", -1],
    ['"unlimited"', -1],
  ];
  for (const [index, [form, stored]] of forms.entries()) {
    const made = await create({ name: `kept ${index}`, message_retention_days: form });
    t.equal(made.status, 200, String(form));
    t.equal((await owner.channel(made.body.id)).message_retention_days, stored, String(form));
  }
  for (const form of ["forever", "0", "-1", '"soon"']) {
    const value = form.replaceAll('"', "");
    await expects(
      t,
      create({ name: "kept badly", message_retention_days: form }),
      refusal(`Bad value for 'message_retention_days': ${value}`, "REQUEST_VARIABLE_INVALID", 400, {
        var_name: "message_retention_days",
        bad_value: value,
      }),
    );
  }
});

t.test("[D19] only organization administrators set retention; others may send realm_default", async (t) => {
  const administrator = await server.user("administrator", roles.administrator);
  t.equal((await create({ name: "kept by admin", message_retention_days: 5 }, administrator)).status, 200);
  t.equal((await create({ name: "kept default", message_retention_days: "realm_default" }, member)).status, 200);
  for (const by of [member, moderator]) {
    await expects(
      t,
      create({ name: "kept by member", message_retention_days: "unlimited" }, by),
      refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"),
    );
  }
});

t.test("[spec 2.4, D9] topics_policy is one of four values, raw or as a JSON string", async (t) => {
  for (const policy of ["inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only"]) {
    for (const form of [policy, `"${policy}"`]) {
      const made = await create({ name: `topics ${form}`, topics_policy: form }, member);
      t.equal((await owner.channel(made.body.id)).topics_policy, policy);
    }
  }
});

t.test("[spec 4.3] history is protected by default in a private channel, always shared in a public one", async (t) => {
  const shared = async (name: string, params: Params) => {
    const made = await create({ name, subscribers: [owner.userId], ...params });
    t.equal(made.status, 200, name);
    return (await owner.channel(made.body.id))?.history_public_to_subscribers;
  };
  t.equal(await shared("private default", { invite_only: true }), false);
  t.equal(await shared("private shared", { invite_only: true, history_public_to_subscribers: true }), true);
  t.equal(await shared("public default", {}), true);
  t.equal(await shared("public forced", { history_public_to_subscribers: false }), true);
});

t.test("[spec 4.3] only administrators create default channels, public and joined by new users", async (t) => {
  const follower = await member.follow();
  await expects(t, create({ name: "for all", is_default_stream: true }, moderator), "Insufficient permission");
  await expects(
    t,
    create({ name: "for all", is_default_stream: true, invite_only: true }),
    "A default channel cannot be private.",
  );
  const made = await create({ name: "for all", is_default_stream: true });
  await follower.settled();
  t.strictSame(follower.ofType("default_streams"), [{ type: "default_streams", default_streams: [1, made.body.id] }]);
  const newcomer = await server.user("newcomer");
  const { body } = await newcomer.get("/users/me/subscriptions");
  const names = body.subscriptions.map(({ name }: { name: string }) => name);
  t.strictSame(names, ["for all", "general"]);
  const latecomer = await server.user("foreigner", roles.guest);
  t.strictSame((await latecomer.get("/users/me/subscriptions")).body.subscriptions, []);
});

t.test("[spec 4.3] web-public needs the server and organization settings and a subscribed creator", async (t) => {
  const webPublic = { is_web_public: true };
  const disabled = refusal("Web-public channels are not enabled.");
  await expects(t, create({ name: "web", ...webPublic }), disabled, "the organization setting is off");

  const open = await startTestServer(t);
  open.setRealm({ enable_spectator_access: true });
  const outsider = await open.user("outsider");
  await expects(t, create({ name: "web", ...webPublic }, outsider), "Insufficient permission");
  const made = await create({ name: "web", ...webPublic }, open.owner);
  t.match(await outsider.channel(made.body.id), {
    is_web_public: true,
    invite_only: false,
    history_public_to_subscribers: true,
  });
  t.equal((await create({ name: "private web", invite_only: true, ...webPublic }, open.owner)).status, 400);

  const closed = await startTestServer(t, { environment: { WEB_PUBLIC_STREAMS_ENABLED: "false" } });
  closed.setRealm({ enable_spectator_access: true });
  await expects(t, create({ name: "web", ...webPublic }, closed.owner), disabled, "the server setting is off");
});

t.test("[spec 4.3] subscribers must be active users; one who is not rejects the whole creation", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const refused: [number[], string][] = [
    [[member.userId, 999_999], "No such user"],
    [[member.userId, gone.userId], "User is deactivated"],
  ];
  for (const [subscribers, msg] of refused) {
    await expects(t, create({ name: "undone", subscribers }), msg);
    t.ok(await isFree("undone"));
  }
  const made = await create({ name: "done", subscribers: [member.userId, guest.userId, member.userId] });
  t.equal((await owner.channel(made.body.id)).subscriber_count, 2, "a user named twice is subscribed once");
  t.equal((await member.get("/users/me/subscriptions")).body.subscriptions.length, 3);
});

t.test("[S3] a request names at most 20,000 subscribers", async (t) => {
  const most = Array.from({ length: 20_000 }, (_, index) => 1_000_000 + index);
  await expects(t, create({ name: "crowded", subscribers: most }), "No such user");
  await expects(
    t,
    create({ name: "crowded", subscribers: [...most, 3] }),
    "subscribers is too long (limit: 20000 items)",
  );
});

t.test("[spec 4.3] announce posts a notice for a channel with subscribers, and none for an empty one", async (t) => {
  const follower = await owner.follow({ apply_markdown: true });
  await create({ name: "unannounced", subscribers: [member.userId] }, member);
  await create({ name: "empty", announce: true }, member);
  await create({ name: "secretly", announce: true, invite_only: true, subscribers: [member.userId] }, member);
  const made = await create({ name: "hear hear", announce: true, subscribers: [guest.userId] }, member);
  await follower.settled();
  const messages = follower.ofType("message");
  t.equal(messages.length, 1);
  t.match(messages[0]?.message, {
    display_recipient: "general",
    subject: "new channels",
    sender_full_name: "Notification Bot",
    content:
      `<p><span class="user-mention silent" data-user-id="${member.userId}">member 0</span> created a new channel ` +
      `<a class="stream" data-stream-id="${made.body.id}" href="/#narrow/channel/${made.body.id}-hear-hear">` +
      "#hear hear</a>.</p>",
  });
});
