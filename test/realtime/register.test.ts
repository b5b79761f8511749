/** POST /register (OpenAPI register-queue; behaviour 4.1): the state it returns and how its parameters shape events. */
import t from "tap";
import { featureLevel, serverVersion } from "../../schemas/server.ts";
import { roles } from "../../schemas/types.ts";
import { merged } from "../areas/index.ts";
import { type Client, type Event, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

/** Keys of every response, whatever state was requested. */
const always = [
  "idle_queue_timeout_secs",
  "last_event_id",
  "msg",
  "queue_id",
  "result",
  "zulip_feature_level",
  "zulip_merge_base",
  "zulip_version",
];

t.test("[behaviour 4.1] without state the response holds the queue id, its start and the versions", async (t) => {
  const { status, body } = await owner.post("/register", { fetch_event_types: [] });
  t.match(body, { queue_id: /^[0-9a-f]{12}-[0-9a-f]{24}$/, last_event_id: Number });
  t.strictSame(
    { status, body: { ...body, queue_id: "", last_event_id: 0 } },
    success({
      queue_id: "",
      last_event_id: 0,
      zulip_version: serverVersion,
      zulip_merge_base: serverVersion,
      zulip_feature_level: featureLevel,
      idle_queue_timeout_secs: 12 * 60 * 60,
    }),
  );
});

/** State keys that belong to one type alone (OpenAPI, register: "Present if ... in fetch_event_types"). */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  ...merged(({ state }) => state),
  default_stream_groups: ["realm_default_stream_groups"],
  realm_filters: ["realm_filters"],
  stop_words: ["stop_words"],
  video_calls: ["has_zoom_token"],
};

t.test("[behaviour 4.1] every state type returns its own keys and no others", async (t) => {
  for (const [type, keys] of Object.entries(keysOf)) {
    const state = await owner.register({ event_types: [], fetch_event_types: [type] });
    const extra = Object.keys(state).filter((key) => !always.includes(key));
    t.strictSame(extra.sort(), [...keys].sort(), type);
    await owner.delete("/events", { queue_id: state.queue_id });
  }
});

/** The caller's own account and permissions, in addition to the lists of users. */
const realmUserKeys = [
  "avatar_source",
  "avatar_url",
  "avatar_url_medium",
  "can_create_private_streams",
  "can_create_public_streams",
  "can_create_streams",
  "can_subscribe_other_users",
  "cross_realm_bots",
  "delivery_email",
  "email",
  "full_name",
  "is_admin",
  "is_guest",
  "is_moderator",
  "is_owner",
  "realm_non_active_users",
  "realm_users",
  "user_id",
];

t.test(
  "[behaviour 4.1] realm_user returns the caller, what the caller may create, and all users without is_active",
  async (t) => {
    const gone = await server.user("gone");
    await owner.delete(`/users/${gone.userId}`);
    const state = await owner.register({ event_types: [], fetch_event_types: ["realm_user"] });
    const found = realmUserKeys.filter((key) => !(key in state));
    t.strictSame(found, []);
    t.match(state, {
      user_id: owner.userId,
      is_owner: true,
      is_admin: true,
      is_guest: false,
      can_create_streams: true,
    });
    const people = state["realm_users"] as Record<string, unknown>[];
    const inactive = state["realm_non_active_users"] as Record<string, unknown>[];
    const seen = people.map((person) => person["user_id"]);
    t.same(
      seen,
      people.map((person) => person["user_id"]).sort((a, b) => Number(a) - Number(b)),
      "in order of ids",
    );
    t.ok(inactive.some((person) => person["user_id"] === gone.userId));
    t.notOk(people.some((person) => person["user_id"] === gone.userId));
    t.notOk([...people, ...inactive].some((person) => "is_active" in person));
  },
);

t.test(
  "[behaviour 4.1, D3, D8] realm returns published maxima, presence and typing constants and the announcement channel",
  async (t) => {
    const state = await owner.register({ event_types: [], fetch_event_types: ["realm"] });
    t.match(state, {
      realm_name: "Colloquy",
      realm_url: server.url,
      realm_uri: server.url,
      realm_topics_policy: "allow_empty_topic",
      realm_empty_topic_display_name: "general chat",
      realm_new_stream_announcements_stream_id: 1,
      max_stream_name_length: 60,
      max_stream_description_length: 1024,
      max_channel_folder_name_length: 60,
      max_channel_folder_description_length: 1024,
      max_topic_length: 60,
      max_message_length: 10_000,
      server_presence_ping_interval_seconds: 60,
      server_presence_offline_threshold_seconds: 200,
      server_typing_started_expiry_period_milliseconds: 45_000,
      server_typing_stopped_wait_period_milliseconds: 12_000,
      server_typing_started_wait_period_milliseconds: 30_000,
    });
    t.ok(Number(state["event_queue_longpoll_timeout_seconds"]) > 50, "longer than the longest heartbeat interval");
  },
);

t.test("[behaviour 4.1] without types all state is returned; unread_msgs needs two types of events", async (t) => {
  const whole = await owner.register();
  const known = [...Object.values(keysOf).flat(), ...realmUserKeys, "realm_name", "unread_msgs"];
  const found = known.filter((key) => !(key in whole));
  t.strictSame(found, []);
  const nulls = await owner.register({ event_types: null, fetch_event_types: null });
  t.strictSame(Object.keys(nulls).sort(), Object.keys(whole).sort(), "null means everything, too");
  const both = await owner.register({ fetch_event_types: ["message", "update_message_flags"] });
  t.match(both["unread_msgs"], { count: 0, pms: [], streams: [], huddles: [], mentions: [] });
});

t.test(
  "[behaviour 4.1] fetch_event_types selects the state; event_types selects events, and the state when given alone",
  async (t) => {
    const fetched = await owner.register({ event_types: ["message"], fetch_event_types: ["stream"] });
    t.ok("streams" in fetched);
    t.notOk("max_message_id" in fetched);
    const alone = await owner.register({ event_types: ["stream"] });
    t.ok("streams" in alone);
    const id = await owner.say("general", "types", "hello");
    const isMine = (event: { message?: { id: number } }) => event.message?.id === id;
    t.equal((await owner.readNow(fetched)).filter(isMine).length, 1);
    const found = (await owner.readNow(alone)).filter(({ type }) => type !== "stream");
    t.strictSame(found, []);
  },
);

t.test("max_message_id is the newest message that the user received, and reveals nothing of others", async (t) => {
  const newest = async (client: Client) => {
    const state = await client.register({ event_types: [], fetch_event_types: ["message"] });
    const { body } = await client.get("/users/me");
    t.equal(body.max_message_id, state["max_message_id"], "GET /users/me returns the same");
    return state["max_message_id"];
  };
  const newcomer = await server.user("receiver");
  await owner.createChannel("not theirs", [owner], { invite_only: true });
  await owner.say("not theirs", "x", "unheard");
  t.equal(await newest(newcomer), -1);
  const { body } = await owner.post("/messages", { type: "direct", to: [newcomer.userId], content: "heard" });
  t.equal(await newest(newcomer), body.id);
  const unheard = await owner.say("not theirs", "x", "unheard again");
  t.equal(await newest(newcomer), body.id);
  t.equal(await newest(owner), unheard);
});

t.test("types that the server does not know are ignored", async (t) => {
  const state = await owner.register({ event_types: ["moon_phase"], fetch_event_types: ["moon_phase", "__proto__"] });
  t.strictSame(Object.keys(state).sort(), always);
});

t.test("[behaviour 4.1] a narrow filters messages and leaves other events alone", async (t) => {
  const types = ["message", "stream"];
  const toChannel = await owner.openQueue(types, { narrow: [["channel", "general"]] });
  const toTopic = await owner.openQueue(types, { narrow: [["topic", "Narrow"]] });
  const toSender = await owner.openQueue(types, { narrow: [["sender", owner.account?.email ?? ""]] });
  const direct = await owner.openQueue(types, { narrow: [["is", "dm"]] });
  const other = await server.user("narrower");
  await owner.createChannel("narrowed", [owner, other]);
  const inTopic = await owner.say("general", "narrow", "one");
  const elsewhere = await other.say("narrowed", "elsewhere", "two");
  const { body } = await other.post("/messages", { type: "direct", to: [owner.userId], content: "three" });
  // Everyone who sees the channel receives the event that it has its first message.
  const isFirst = ({ property }: Event) => property === "first_message_id";
  const shown = async (queue: typeof toChannel) =>
    (await owner.readNow(queue))
      .filter((event) => !isFirst(event))
      .map((event) => (event.type === "message" ? event.message.id : event.type));
  t.strictSame(await shown(toChannel), ["stream", inTopic]);
  t.strictSame(await shown(toTopic), ["stream", inTopic], "topics are compared without case");
  t.strictSame(await shown(toSender), ["stream", inTopic]);
  t.strictSame(await shown(direct), ["stream", body.id]);
  t.notOk((await shown(toChannel)).includes(elsewhere));
});

t.test("[behaviour 4.1] all_public_streams delivers messages of public channels and no private ones", async (t) => {
  const listener = await server.user("listener");
  const all = await listener.openQueue(["message"], { all_public_streams: true });
  const own = await listener.openQueue(["message"]);
  await owner.createChannel("open to all", [owner]);
  await owner.createChannel("closed to all", [owner], { invite_only: true });
  const heard = await owner.say("open to all", "x", "in public");
  await owner.say("closed to all", "x", "in private");
  const events = await listener.readNow(all);
  const found = events.map((event) => [event.message.id, event.flags]);
  t.strictSame(found, [[heard, []]]);
  t.strictSame(await listener.readNow(own), []);
  const guest = await server.user("guest", roles.guest);
  const refused = await guest.post("/register", { all_public_streams: true });
  t.match(refused, { status: 400, body: { code: "BAD_REQUEST", msg: "User not authorized for this query" } });
});

const refusals: readonly (readonly [params: Record<string, unknown>, body: Record<string, unknown>])[] = [
  [{ event_types: "message" }, { code: "BAD_REQUEST", msg: "event_types is not valid JSON" }],
  [{ event_types: [1] }, { code: "BAD_REQUEST", msg: "event_types[0] is not a string" }],
  [{ apply_markdown: "yes" }, { code: "BAD_REQUEST", msg: "apply_markdown is not valid JSON" }],
  [{ include_subscribers: "maybe" }, { code: "BAD_REQUEST", msg: "Invalid include_subscribers" }],
  [{ queue_lifespan_secs: 604_801 }, { code: "BAD_REQUEST", msg: "queue_lifespan_secs is too large" }],
  [{ narrow: [["channel"]] }, { code: "BAD_REQUEST", msg: "narrow[0] is too short." }],
  [{ narrow: [["moon", "full"]] }, { code: "BAD_REQUEST", msg: "Operator moon not supported." }],
  ...["search", "has", "in", "near", "id", "with", "channels"].map(
    (operator) =>
      [
        {
          narrow: [
            ["channel", "general"],
            [operator, "home"],
          ],
        },
        { code: "BAD_REQUEST", msg: `Operator ${operator} not supported.` },
      ] as const,
  ),
  [{ narrow: [["channel", "nowhere"]] }, { code: "BAD_NARROW" }],
  [
    { narrow: Array.from({ length: 21 }, () => ["channel", "general"]) },
    { code: "BAD_REQUEST", msg: "narrow is too long (limit: 20 items)" },
  ],
  [{ event_types: Array.from({ length: 101 }, () => "message") }, { code: "BAD_REQUEST" }],
];

t.test("[S3] parameters at their bounds are accepted", async (t) => {
  const answer = await owner.post("/register", {
    fetch_event_types: Array.from({ length: 100 }, (_, index) => `type ${index}`),
    event_types: Array.from({ length: 100 }, (_, index) => `type ${index}`),
    narrow: Array.from({ length: 20 }, () => ["channel", "general"]),
    queue_lifespan_secs: 604_800,
    client_capabilities: { notification_settings_null: true, unheard_of: true },
  });
  t.equal(answer.status, 200);
});

t.test("[spec 7] wrong parameters are rejected and create no queue", async (t) => {
  const asker = await server.user("asker");
  for (const [params, body] of refusals) {
    const answer = await asker.post("/register", params);
    t.equal(answer.status, 400);
    t.match(answer.body, { result: "error", ...body });
  }
  const { body } = await asker.post("/register", { fetch_event_types: [], event_types: [], moon: "full" });
  t.strictSame(body.ignored_parameters_unsupported, ["moon"]);
  const rest = await Promise.all(Array.from({ length: 99 }, () => asker.post("/register", { fetch_event_types: [] })));
  t.ok(
    rest.every((answer) => answer.status === 200),
    "the rejected requests left no queue behind",
  );
});
