/** PATCH /realm (D5, D114): settings of the organization, alone and together, by administrators and owners. */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { channelRows, rows, wrong } from "../support/realm-settings.ts";
import { stateOf } from "../support/realm-state.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const admin = await server.user("admin", roles.administrator);
const ownerNeeded = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");
const adminNeeded = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");

t.test("[D5] each setting has its default, accepts its values, and is stored, published and sent once", async (t) => {
  const before = await stateOf(owner);
  const follower = await owner.follow();
  const most = Math.max(...Object.values(rows).map(({ values }) => values.length));
  for (const [name, { first }] of Object.entries(rows)) {
    if (name !== "name") t.strictSame(before[`realm_${name}`], first, name);
  }
  const current: Record<string, unknown> = Object.fromEntries(
    Object.keys(rows).map((name) => [name, before[`realm_${name}`]]),
  );
  for (let pass = 0; pass < most; pass++) {
    const chosen = Object.entries(rows).flatMap(([name, { values }]) => {
      const pair = values[pass];
      return pair === undefined ? [] : [[name, pair[0], pair[1]] as const];
    });
    const sent = Object.fromEntries(chosen.map(([name, value]) => [name, value]));
    await expects(t, owner.patch("/realm", sent), success(), `pass ${pass}`);
    const changed = Object.fromEntries(
      chosen.filter(([name, , value]) => current[name] !== value).map(([name, , value]) => [name, value]),
    );
    const older =
      changed["topics_policy"] === undefined
        ? {}
        : { mandatory_topics: changed["topics_policy"] === "disable_empty_topic" };
    await follower.settled();
    t.strictSame(follower.ofType("realm"), [
      { type: "realm", op: "update_dict", property: "default", data: { ...changed, ...older } },
    ]);
    follower.events.splice(0);
    Object.assign(current, changed);
    const state = await stateOf(owner);
    for (const [name, value] of Object.entries(current)) t.strictSame(state[`realm_${name}`], value, name);
    t.equal(state.realm_mandatory_topics, current["topics_policy"] === "disable_empty_topic");
    t.equal(state.realm_allow_edit_history, current["message_edit_history_visibility_policy"] !== "none");
  }
  t.strictSame(
    server.realm.view.realm.settings,
    { new_stream_announcements_stream_id: 1 },
    "a value equal to the default is not stored",
  );
});

t.test("[D5] an unchanged value and an empty request send no event", async (t) => {
  const follower = await owner.follow();
  const state = await stateOf(owner);
  const sent = Object.fromEntries(
    Object.keys(rows).map((name) => [
      name,
      state[`realm_${name}`] ?? (name === "jitsi_server_url" ? "default" : "unlimited"),
    ]),
  );
  const { message_retention_days: _days, ...others } = sent;
  await expects(t, owner.patch("/realm", { ...others, message_retention_days: "unlimited" }), success());
  await expects(t, owner.patch("/realm"), success());
  await expects(t, owner.patch("/realm", { new_stream_announcements_stream_id: 1 }), success());
  await follower.settled();
  t.strictSame(follower.ofType("realm"), []);
});

t.test("[D114] one invalid value rejects the whole request, and no event is sent", async (t) => {
  const before = await stateOf(owner);
  const follower = await owner.follow();
  for (const [name, value, expected] of wrong) {
    const params: Params = { description: "half", can_create_groups: { new: 2 }, [name]: value };
    await expects(t, owner.patch("/realm", params), expected, `${name} ${JSON.stringify(value)}`);
  }
  await follower.settled();
  t.strictSame(follower.ofType("realm"), []);
  t.strictSame(await stateOf(owner), before);
});

t.test("[spec 4] a parameter that cannot be set is ignored and listed", async (t) => {
  const names = ["authentication_methods", "empty_topic_display_name", "plan_type", "unheard_of"];
  const params = Object.fromEntries(names.map((name) => [name, "x"]));
  await expects(t, owner.patch("/realm", params), success({ ignored_parameters_unsupported: names }));
  t.equal((await stateOf(owner)).realm_empty_topic_display_name, "general chat");
});

t.test("[D5] administrators change settings, owners those reserved; this is checked first", async (t) => {
  const bot = await server.bot("a bot", owner);
  const others = [
    await server.user("moderator", roles.moderator),
    await server.user("member"),
    await server.user("guest", roles.guest),
    bot,
  ];
  for (const [name, { values, byOwner }] of Object.entries(rows)) {
    const [[sent] = [""]] = values;
    for (const other of others) await expects(t, other.patch("/realm", { [name]: sent }), adminNeeded, name);
    const byAdmin = outcome(await admin.patch("/realm", { [name]: sent }));
    t.strictSame(byAdmin, byOwner === true ? ownerNeeded : success(), name);
    await expects(t, owner.patch("/realm", { [name]: sent }), success(), name);
    const [back] = values.at(-1) ?? [""];
    await expects(t, owner.patch("/realm", { [name]: back }), success(), name);
  }
  for (const other of others) await expects(t, other.patch("/realm", { name: "" }), adminNeeded);
  t.equal((await owner.anonymous().patch("/realm", { name: "x" })).status, 401);
  await expects(
    t,
    admin.patch("/realm", { invite_required: true, description: "half" }),
    ownerNeeded,
    "also for the present value",
  );
  t.equal((await stateOf(owner)).realm_description, "");
});

t.test("[D5] everybody receives the event, guests and bots included; other organizations do not", async (t) => {
  const clients = [owner, await server.user("hearer"), await server.user("hearing.guest", roles.guest)];
  const followers = await Promise.all(clients.map((client) => client.follow()));
  await admin.patch("/realm", { description: "told", digest_weekday: 3 });
  for (const follower of followers) {
    await follower.settled();
    t.strictSame(follower.ofType("realm"), [
      { type: "realm", op: "update_dict", property: "default", data: { description: "told", digest_weekday: 3 } },
    ]);
  }
  await admin.patch("/realm", { description: "", digest_weekday: 1 });
});

t.test("[D24] an announcement channel must be visible to the caller; a negative id means none", async (t) => {
  const open = await owner.createChannel("open", []);
  const hidden = await (await server.user("hider")).createChannel("hidden", [], { invite_only: true });
  for (const name of channelRows) {
    const isPrivate = name === "moderation_request_channel_id";
    const [good, other] = isPrivate ? [hidden, open] : [open, hidden];
    await expects(t, admin.patch("/realm", { [name]: good }), success(), name);
    t.equal((await stateOf(owner))[`realm_${name}`], good);
    const otherKind = outcome(await admin.patch("/realm", { [name]: other }));
    t.strictSame(otherKind, isPrivate ? refusal("Moderation request channel must be private.") : success());
    for (const none of [-5, -1]) await expects(t, admin.patch("/realm", { [name]: none }), success());
    t.equal((await stateOf(owner))[`realm_${name}`], -1);
  }
  await admin.patch("/realm", { new_stream_announcements_stream_id: 1 });
});

t.test("[behaviour 2.3] new channels are announced in the configured channel, or nowhere", async (t) => {
  const place = await owner.createChannel("announcements", [owner]);
  const follower = await owner.follow();
  await owner.patch("/realm", { new_stream_announcements_stream_id: place });
  await owner.createChannel("announced", [owner], { announce: true });
  await owner.patch("/realm", { new_stream_announcements_stream_id: -1 });
  await owner.createChannel("unannounced", [owner], { announce: true });
  await follower.settled();
  t.match(follower.ofType("message"), [{ message: { stream_id: place, content: /announced/ } }]);
  t.equal(follower.ofType("message").length, 1);
  await owner.patch("/realm", { new_stream_announcements_stream_id: 1 });
});

t.test("[D6] spectator access cannot be enabled if the server does not allow it", async (t) => {
  const closed = await startTestServer(t, { environment: { WEB_PUBLIC_STREAMS_ENABLED: "false" } });
  await expects(
    t,
    closed.owner.patch("/realm", { enable_spectator_access: true }),
    "Web-public channels are not enabled.",
  );
  await expects(t, closed.owner.patch("/realm", { enable_spectator_access: false }), success());
  t.match(await stateOf(closed.owner), {
    server_web_public_streams_enabled: false,
    realm_enable_spectator_access: false,
  });
  t.equal((await stateOf(owner)).server_web_public_streams_enabled, true);
});

t.test("the section `realm` has every field with its type", async (t) => {
  const state = await stateOf(owner);
  const names = Object.keys(rows).filter((name) => name !== "name");
  t.equal(state.realm_name, "trimmed");
  for (const name of [...names, ...channelRows]) t.ok(`realm_${name}` in state, name);
  t.match(state, {
    realm_uri: server.url,
    realm_url: server.url,
    realm_icon_source: "G",
    realm_icon_url: "/avatar/realm-icon",
    realm_logo_source: "D",
    realm_logo_url: String,
    realm_night_logo_source: "D",
    realm_night_logo_url: String,
    max_icon_file_size_mib: 5,
    max_logo_file_size_mib: 5,
    max_file_upload_size_mib: 25,
    max_avatar_file_size_mib: 5,
    realm_bot_domain: String,
    realm_date_created: Number,
    realm_default_external_accounts: Object,
    realm_presence_disabled: false,
    realm_is_zephyr_mirror_realm: false,
    realm_authentication_methods: { Email: { enabled: true, available: true } },
    realm_email_auth_enabled: true,
    realm_password_auth_enabled: true,
    realm_push_notifications_enabled: false,
    realm_push_notifications_enabled_end_timestamp: null,
    realm_upload_quota_mib: 10_240,
    realm_plan_type: 1,
    zulip_plan_is_not_limited: true,
    upgrade_text_for_wide_organization_logo: "",
    jitsi_server_url: "https://meet.jit.si",
    server_jitsi_server_url: "https://meet.jit.si",
    realm_jitsi_server_url: null,
    realm_available_video_chat_providers: { disabled: { name: "None", id: 0 }, jitsi_meet: { id: 1 } },
    giphy_rating_options: {
      disabled: { id: 0 },
      y: { id: 1 },
      g: { id: 2 },
      pg: { id: 3 },
      "pg-13": { id: 4 },
      r: { id: 5 },
    },
    settings_send_digest_emails: false,
    development_environment: false,
    server_generation: Number,
    password_min_length: 8,
    password_max_length: 1024,
    password_min_guesses: 0,
    server_inline_image_preview: true,
    server_inline_url_embed_preview: false,
    server_thumbnail_formats: [
      { name: "840x560-anim.webp", max_width: 840, max_height: 560, format: "webp", animated: true },
      { name: "840x560.webp", max_width: 840, max_height: 560, format: "webp", animated: false },
    ],
    server_avatar_changes_disabled: false,
    server_name_changes_disabled: false,
    server_needs_upgrade: false,
    server_can_summarize_topics: false,
    server_min_deactivated_realm_deletion_days: null,
    server_max_deactivated_realm_deletion_days: null,
    event_queue_longpoll_timeout_seconds: Number,
    realm_create_public_stream_policy: 1,
    realm_create_private_stream_policy: 1,
    realm_create_web_public_stream_policy: 7,
    realm_wildcard_mention_policy: 5,
  });
  await owner.patch("/realm", { jitsi_server_url: "https://meet.example.org" });
  t.match(await stateOf(owner), { jitsi_server_url: "https://meet.example.org" });
  await owner.patch("/realm", { jitsi_server_url: "default" });
  const whole: Event = await owner.register();
  t.match(whole, {
    realm_billing: { has_pending_sponsorship_request: false },
    giphy_api_key: "",
    navigation_tour_video_url: null,
    push_devices: {},
  });
});

t.test("[M1] settings survive a restart; [D25] a repeated request gets the first answer", async (t) => {
  const first = await startTestServer(t);
  const key = { "Idempotency-Key": "realm-1" };
  const sent = {
    name: "Kept",
    message_retention_days: 30,
    can_create_groups: { new: { direct_members: [2], direct_subgroups: [] }, old: 6 },
  };
  const answered = outcome(await first.owner.patch("/realm", sent, key));
  t.strictSame(answered, success());
  await expects(t, first.owner.patch("/realm", sent, key), answered, "although `old` no longer matches");
  const before = await stateOf(first.owner);
  const again = await restart(t, first);
  const after = await stateOf(again.as(first.owner));
  for (const name of ["realm_name", "realm_message_retention_days", "realm_can_create_groups"]) {
    t.strictSame(after[name], before[name], name);
  }
  t.strictSame(after.realm_can_create_groups, { direct_members: [2], direct_subgroups: [] });
});
