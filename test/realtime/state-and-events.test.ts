/**
 * State before + events = fresh fetch (architecture, Event log): people with different rights register, much happens, and
 * what they know by events is what a new /register says; live over a socket, by long-poll, and repeated at the end.
 */
import t from "tap";
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import {
  createChannel,
  crowd,
  personOf,
  setRealmSettings,
  setUserSettings,
  systemGroup,
  write,
} from "../support/conversation.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { realmOf } from "../support/realtime.ts";
import { type Stage, watch } from "../support/watch.ts";

t.test("[architecture] messages in channels and directly", (t) =>
  watch(t, async ({ owner, member, other }) => {
    await member.say("before", "new", "more");
    await other.post("/messages", { type: "direct", to: [member.userId], content: "again" });
    await other.post("/messages", { type: "direct", to: [member.userId, owner.userId], content: "to both" });
    await member.post("/messages", { type: "direct", to: [member.userId], content: "to oneself" });
    await createChannel(other, "fresh", [owner, member]);
    await member.say("fresh", "", "its first message");
    await member.say("fresh", "", "its second");
  }),
);

t.test("[architecture] joining and leaving public channels, by oneself and by others", (t) =>
  watch(t, async ({ owner, member, other }) => {
    await other.post("/users/me/subscriptions", { subscriptions: [{ name: "new one", description: "made" }] });
    await member.post("/users/me/subscriptions", { subscriptions: [{ name: "new one" }] });
    await member.delete("/users/me/subscriptions", { subscriptions: ["before"] });
    await other.delete("/users/me/subscriptions", { subscriptions: ["new one"] });
    await owner.post("/users/me/subscriptions", {
      subscriptions: [{ name: "new one" }, { name: "and another" }],
      principals: [owner.userId, member.userId, other.userId],
    });
    await owner.delete("/users/me/subscriptions", { subscriptions: ["and another"], principals: [member.userId] });
    await member.post("/users/me/subscriptions", { subscriptions: [{ name: "before" }] });
    // Of each other, too: a public channel that one has left says still who is in it.
    const together = { subscriptions: ["before"], principals: [owner.userId, member.userId, other.userId] };
    await owner.delete("/users/me/subscriptions", together);
  }),
);

t.test(
  "[behaviour 4.4] a person's own settings of channels, default channels, joining and leaving in one request",
  (t) =>
    watch(t, async ({ owner, member }) => {
      const properties = "/users/me/subscriptions/properties";
      const { body } = await member.get("/users/me/subscriptions");
      const ids: number[] = body.subscriptions.map(({ stream_id: id }: { stream_id: number }) => id);
      for (const [property, value] of Object.entries({ color: "#123abc", is_muted: true, pin_to_top: true })) {
        await member.post(properties, { subscription_data: ids.map((id) => ({ stream_id: id, property, value })) });
      }
      const change = { stream_id: ids[0], property: "email_notifications", value: true };
      await member.post(properties, { subscription_data: [change, { ...change, property: "in_home_view" }] });
      await member.patch("/users/me/subscriptions", { add: [{ name: "made" }], delete: ["before", "private before"] });
      const made = await member.get("/users/me/subscriptions");
      const last = made.body.subscriptions.find(({ name }: { name: string }) => name === "made");
      await owner.post("/default_streams", { stream_id: last.stream_id });
      await owner.delete("/default_streams", { stream_id: ids[0] });
      await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "before" }], principals: [member.userId] });
    }),
);

t.test("[architecture] scheduled messages and reminders, changed, deleted and not delivered yet", (t) =>
  watch(t, async ({ member, other }) => {
    const later = { scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 86_400 };
    const draft = { type: "channel", to: await idOf(member, "before"), topic: "", content: "x", ...later };
    const ids = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await member.post("/scheduled_messages", draft)).body.scheduled_message_id);
    }
    await member.patch(`/scheduled_messages/${ids[0]}`, { type: "direct", to: [other.userId], content: "y" });
    await member.delete(`/scheduled_messages/${ids[1]}`);
    const message = await other.say("before", "t", "remember");
    const reminders = [];
    for (const note of ["a", "b"]) {
      const answer = await member.post("/reminders", { message_id: message, note, ...later });
      reminders.push(answer.body.reminder_id);
    }
    await member.delete(`/reminders/${reminders[0]}`);
  }),
);

async function idOf(client: Client, channel: string): Promise<number> {
  return (await client.get("/get_stream_id", { stream: channel })).body.stream_id;
}

for (const older of [false, true]) {
  const types = older ? "muted_topics" : "user_topic";
  t.test(`[behaviour 4.3] policies for topics, for clients that follow ${types}`, (t) =>
    watch(
      t,
      async ({ server, member, other }) => {
        const { body } = await member.get("/users/me/subscriptions");
        const id = body.subscriptions.find(({ name }: { name: string }) => name === "before").stream_id;
        const set = (topic: string, policy: number) =>
          member.post("/user_topics", { stream_id: id, topic, visibility_policy: policy });
        for (const topic of ["old", "new", "", "Fresh"]) await set(topic, 1);
        await set("FRESH", 3);
        await set("new", 0);
        await member.patch("/users/me/subscriptions/muted_topics", { stream: "before", topic: "legacy", op: "add" });
        await other.post("/user_topics", { stream_id: id, topic: "theirs", visibility_policy: 1 });
        const places = { from: { channelId: id, topic: "old" }, to: { channelId: id, topic: "moved" } };
        const move = { ...places, isMerge: false, phase: "target" as const, afterUserId: 0 };
        await realmOf(server).dispatcher.ask(command({ actor: "realm" }, "user-topics.move", move, null));
        // One topic, differently composed: to clients, which compare without case alone, these are two.
        for (const topic of ["cafe\u0301 one", "cafe\u0301 two", "away"]) await set(topic, 1);
        for (const [topic, target] of [
          ["caf\u00e9 one", "gone"],
          ["away", "CAF\u00c9 two"],
        ] as const) {
          const to = { channelId: id, topic: target };
          const other = { ...move, from: { channelId: id, topic }, to, isMerge: true };
          await realmOf(server).dispatcher.ask(command({ actor: "realm" }, "user-topics.move", other, null));
        }
      },
      async () => undefined,
      older ? mirroredTypes.map((type) => (type === "user_topic" ? "muted_topics" : type)) : mirroredTypes,
    ),
  );
}

t.test("[architecture] private channels: made with one, joined later, left", (t) =>
  watch(t, async ({ owner, member, other }) => {
    const invited = { invite_only: true };
    await createChannel(owner, "private with", [owner, member], invited);
    await createChannel(owner, "private without", [owner, other], invited);
    await createChannel(member, "private own", [member], invited);
    await createChannel(owner, "private empty", [], invited);
    const invite = (name: string) =>
      owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [member.userId] });
    await invite("private without");
    await owner.delete("/users/me/subscriptions", { subscriptions: ["private with"], principals: [member.userId] });
    await member.delete("/users/me/subscriptions", { subscriptions: ["private before"] });
    await other.delete("/users/me/subscriptions", { subscriptions: ["private without"] });
    await owner.delete("/users/me/subscriptions", { subscriptions: ["private before"] });
  }),
);

t.test("[architecture] channels for newcomers, and newcomers", (t) =>
  watch(t, async ({ server, owner }) => {
    await createChannel(owner, "welcome", [owner], { is_default_stream: true });
    await server.person("Newcomer");
    await createChannel(owner, "welcome back", [], { is_default_stream: true });
    await server.person("Second Newcomer");
  }),
);

t.test("[spec 2.3] settings, names, time zones and who sees which address; defaults, and who comes after", (t) =>
  watch(t, async ({ server, owner, member, other }) => {
    await member.patch("/settings", { color_scheme: 3, full_name: "Renamed", timezone: "Asia/Calcutta" });
    await owner.patch("/settings", { email_address_visibility: 2, default_language: "de" });
    await other.patch("/settings", { email_address_visibility: 4, full_name: "Other", timezone: "UTC" });
    await member.patch("/settings", { color_scheme: 1, email_address_visibility: 3 });
    await owner.patch("/realm/user_settings_defaults", { color_scheme: 2, email_address_visibility: 5 });
    await server.person("Latecomer");
    await other.patch("/settings", { email_address_visibility: 1 });
  }),
);

t.test("[architecture] deactivation takes a person out of every channel", (t) =>
  watch(t, async ({ owner, other }) => {
    await other.post("/users/me/subscriptions", { subscriptions: [{ name: "theirs" }] });
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "theirs" }] });
    await owner.post("/messages", { type: "direct", to: [other.userId], content: "bye" });
    await owner.delete(`/users/${other.userId}`);
  }),
);

t.test("[behaviour 2.20] who comes back is in every channel, group and permission again", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.post(`/users/${other.userId}/reactivate`);
      await owner.delete(`/users/${other.userId}`);
      await owner.post(`/users/${other.userId}/reactivate`);
    },
    async ({ owner, other }) => {
      await other.post("/users/me/subscriptions", { subscriptions: [{ name: "theirs" }] });
      await owner.delete(`/users/${other.userId}`);
    },
  ),
);

t.test("[behaviour 2.20] whoever is deactivated is in no group, whatever their role becomes", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.patch(`/users/${other.userId}`, { role: 300 });
    },
    async ({ owner, other }) => {
      await owner.delete(`/users/${other.userId}`);
    },
  ),
);

t.test("[behaviour 2.8] names, addresses and roles of others", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.patch(`/users/${other.userId}`, { full_name: "Another", role: 600 });
      await owner.patch(`/users/${other.userId}`, { role: 100, new_email: "another@example.com" });
    },
    async ({ server, owner }) => {
      const user = realmOf(server).view.users.get(owner.userId);
      if (user !== undefined) write(server, "users", owner.userId, { ...user, canChangeUserEmails: true });
    },
  ),
);

t.test("[S1] a hidden address that changes", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.patch(`/users/${other.userId}`, { new_email: "hidden@example.com" });
    },
    async ({ server, owner, other }) => {
      const user = realmOf(server).view.users.get(owner.userId);
      if (user !== undefined) write(server, "users", owner.userId, { ...user, canChangeUserEmails: true });
      setUserSettings(server, other.userId, { email_address_visibility: 3 });
    },
  ),
);

/** People whose addresses some roles see, channels that some roles see. */
async function furnish({ server, owner, other }: Stage): Promise<void> {
  const shy = await crowd(server, "shy", 5);
  for (const [index, id] of shy.entries()) setUserSettings(server, id, { email_address_visibility: index + 1 });
  await createChannel(owner, "private without", [owner, other], { invite_only: true });
  await createChannel(owner, "public without", [owner, other]);
  await createChannel(owner, "public without anybody", []);
  await other.say("public without", "news", "the first");
}

for (const [before, after] of [
  [400, 600],
  [600, 400],
  [400, 200],
  [600, 100],
  [200, 300],
] as const) {
  t.test(`[S1] a change of one's own role from ${before} to ${after} shows and hides channels and addresses`, (t) =>
    watch(
      t,
      async ({ owner, member, other }) => {
        await owner.patch(`/users/${member.userId}`, { role: after });
        await other.say("public without", "news", "after the change");
        await createChannel(owner, "later", [owner]);
      },
      async (stage) => {
        await furnish(stage);
        await stage.owner.patch(`/users/${stage.member.userId}`, { role: before });
      },
    ),
  );
}

t.test("[S1] restricted guests know whom they meet, in channels and directly, and forget whom they part from", (t) =>
  watch(
    t,
    async ({ server, owner, member, other }) => {
      await createChannel(other, "meeting", [member, other]);
      const [stranger = 0, second = 0] = await crowd(server, "stranger", 2);
      const join = (name: string, ids: readonly number[]) =>
        owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: ids });
      await join("meeting", [stranger, second]);
      await owner.patch(`/users/${stranger}`, { full_name: "Known" });
      await owner.patch(`/users/${second}`, { full_name: "Known, too" });
      const part = { subscriptions: ["meeting"], principals: [stranger] };
      await owner.delete("/users/me/subscriptions", part);
      await owner.patch(`/users/${stranger}`, { full_name: "Unknown again" });
      await owner.delete(`/users/${second}`);
      await owner.post(`/users/${second}/reactivate`);
      const writer = await personOf(server, "writer");
      await writer.post("/messages", { type: "direct", to: [member.userId], content: "hello" });
      await owner.patch(`/users/${writer.userId}`, { full_name: "Pen pal" });
      await join("crowded", await crowd(server, "crowd", 3));
      await join("crowded", [member.userId]);
      await member.delete("/users/me/subscriptions", { subscriptions: ["before", "meeting"] });
    },
    async ({ server, owner, member }) => {
      await crowd(server, "hidden", 2);
      await owner.patch(`/users/${member.userId}`, { role: 600 });
      setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });
    },
  ),
);

t.test(
  "[behaviour 3.2] a permission of a channel shows active people only, to guests who know none of them, too",
  (t) => {
    let strangers: number[] = [];
    return watch(
      t,
      async ({ owner }) => {
        for (const id of strangers) await owner.delete(`/users/${id}`);
      },
      async ({ server, owner, member }) => {
        strangers = await crowd(server, "trusted", 2);
        const value = { direct_members: strangers, direct_subgroups: [] };
        await createChannel(owner, "trusting", [owner, member], { can_remove_subscribers_group: value });
        await createChannel(owner, "trusting in private", [owner, member], {
          invite_only: true,
          can_administer_channel_group: value,
        });
        await owner.patch(`/users/${member.userId}`, { role: 600 });
        setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });
      },
    );
  },
);

t.test("[behaviour 7] deletion of a topic moves the channel's first message", (t) =>
  watch(t, async ({ owner }) => {
    const { body } = await owner.get("/streams");
    const channel = body.streams.find((record: { name: string }) => record.name === "before");
    await owner.post(`/streams/${channel.stream_id}/delete_topic`, { topic_name: "old" });
  }),
);

t.test("[spec 2.8] presence, in the modern and in the legacy form", (t) =>
  watch(t, async ({ clock, owner, member, other }) => {
    await other.post("/users/me/presence", { status: "active" });
    clock.advance(limits.presence_coalesce_ms + 200);
    await member.post("/users/me/presence", { status: "idle" });
    await owner.post("/users/me/presence", { status: "active" });
  }),
);
