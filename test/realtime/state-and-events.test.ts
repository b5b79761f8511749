/**
 * State before plus events equals a fresh fetch (architecture, Event log): users with different rights register, many
 * things change, and the state they derive from events equals a new /register; live over a socket, by long-poll, and
 * replayed at the end.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { type Fixture, watch } from "../support/watch.ts";

t.test("state follows messages in channels and direct messages", (t) =>
  watch(t, async ({ owner, member, other }) => {
    await member.say("before", "new", "more");
    await other.post("/messages", { type: "direct", to: [member.userId], content: "again" });
    await other.post("/messages", { type: "direct", to: [member.userId, owner.userId], content: "to both" });
    await member.post("/messages", { type: "direct", to: [member.userId], content: "to oneself" });
    await other.createChannel("fresh", [owner, member]);
    await member.say("fresh", "", "its first message");
    await member.say("fresh", "", "its second");
  }),
);

t.test("state follows joining and leaving public channels, by oneself and by others", (t) =>
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
    // They see each other, too: a public channel that a user has left still shows its subscribers.
    const together = { subscriptions: ["before"], principals: [owner.userId, member.userId, other.userId] };
    await owner.delete("/users/me/subscriptions", together);
  }),
);

t.test(
  "[behaviour 4.4] state follows a user's own channel settings, default channels, and joining and leaving in one request",
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

t.test("state follows scheduled messages and reminders that are changed, deleted or still pending", (t) =>
  watch(t, async ({ clock, member, other }) => {
    const later = { scheduled_delivery_timestamp: Math.floor(clock.now() / 1000) + 86_400 };
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
    t.ok([...ids, ...reminders].every(Number.isInteger), "all are scheduled");
    await member.delete(`/reminders/${reminders[0]}`);
  }),
);

async function idOf(client: Client, channel: string): Promise<number> {
  return (await client.get("/get_stream_id", { stream: channel })).body.stream_id;
}

for (const older of [false, true]) {
  const types = older ? "muted_topics" : "user_topic";
  t.test(`[behaviour 4.3] state follows topic policies, for clients that follow ${types}`, (t) =>
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
        await server.realm.dispatcher.ask(command({ actor: "realm" }, "user-topics.move", move, null));
        // One topic in two Unicode compositions: clients compare only without case, so they see two topics.
        for (const topic of ["cafe\u0301 one", "cafe\u0301 two", "away"]) await set(topic, 1);
        for (const [topic, target] of [
          ["caf\u00e9 one", "gone"],
          ["away", "CAF\u00c9 two"],
        ] as const) {
          const to = { channelId: id, topic: target };
          const other = { ...move, from: { channelId: id, topic }, to, isMerge: true };
          await server.realm.dispatcher.ask(command({ actor: "realm" }, "user-topics.move", other, null));
        }
      },
      async () => undefined,
      older ? mirroredTypes.map((type) => (type === "user_topic" ? "muted_topics" : type)) : mirroredTypes,
    ),
  );
}

t.test("state follows private channels: created with the user, joined later, left", (t) =>
  watch(t, async ({ owner, member, other }) => {
    const invited = { invite_only: true };
    await owner.createChannel("private with", [owner, member], invited);
    await owner.createChannel("private without", [owner, other], invited);
    await member.createChannel("private own", [member], invited);
    await owner.createChannel("private empty", [], invited);
    const invite = (name: string) =>
      owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [member.userId] });
    await invite("private without");
    await owner.delete("/users/me/subscriptions", { subscriptions: ["private with"], principals: [member.userId] });
    await member.delete("/users/me/subscriptions", { subscriptions: ["private before"] });
    await other.delete("/users/me/subscriptions", { subscriptions: ["private without"] });
    await owner.delete("/users/me/subscriptions", { subscriptions: ["private before"] });
  }),
);

t.test("state follows default channels and new users", (t) =>
  watch(t, async ({ server, owner }) => {
    await owner.createChannel("welcome", [owner], { is_default_stream: true });
    await server.person("Newcomer");
    await owner.createChannel("welcome back", [], { is_default_stream: true });
    await server.person("Second Newcomer");
  }),
);

t.test("[spec 2.3] state follows settings, names, time zones, email visibility, defaults and later users", (t) =>
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

t.test("deactivation removes a user from every channel", (t) =>
  watch(t, async ({ owner, other }) => {
    await other.post("/users/me/subscriptions", { subscriptions: [{ name: "theirs" }] });
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "theirs" }] });
    await owner.post("/messages", { type: "direct", to: [other.userId], content: "bye" });
    await owner.delete(`/users/${other.userId}`);
  }),
);

t.test("[behaviour 2.20] reactivation restores a user in every channel, group and permission", (t) =>
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

t.test("[behaviour 2.20] a deactivated user is in no group, whatever their role becomes", (t) =>
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

t.test("[behaviour 2.8] state follows names, email addresses and roles of others", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.patch(`/users/${other.userId}`, { full_name: "Another", role: 600 });
      await owner.patch(`/users/${other.userId}`, { role: 100, new_email: "another@example.com" });
    },
    async ({ server, owner }) => {
      const user = server.realm.view.users.get(owner.userId);
      if (user !== undefined) server.write("users", owner.userId, { ...user, canChangeUserEmails: true });
    },
  ),
);

t.test("[S1] state follows a hidden email address that changes", (t) =>
  watch(
    t,
    async ({ owner, other }) => {
      await owner.patch(`/users/${other.userId}`, { new_email: "hidden@example.com" });
    },
    async ({ server, owner, other }) => {
      const user = server.realm.view.users.get(owner.userId);
      if (user !== undefined) server.write("users", owner.userId, { ...user, canChangeUserEmails: true });
      server.setUser(other.userId, { email_address_visibility: 3 });
    },
  ),
);

/** Users whose email addresses only some roles see, and channels that only some roles see. */
async function createFixture({ server, owner, other }: Fixture): Promise<void> {
  const shy = await server.users("shy", 5);
  for (const [index, id] of shy.entries()) server.setUser(id, { email_address_visibility: index + 1 });
  await owner.createChannel("private without", [owner, other], { invite_only: true });
  await owner.createChannel("public without", [owner, other]);
  await owner.createChannel("public without anybody", []);
  await other.say("public without", "news", "the first");
}

for (const [before, after] of [
  [400, 600],
  [600, 400],
  [400, 200],
  [600, 100],
  [200, 300],
] as const) {
  t.test(`[S1] a user's role change from ${before} to ${after} shows and hides channels and email addresses`, (t) =>
    watch(
      t,
      async ({ owner, member, other }) => {
        await owner.patch(`/users/${member.userId}`, { role: after });
        await other.say("public without", "news", "after the change");
        await owner.createChannel("later", [owner]);
      },
      async (fixture) => {
        await createFixture(fixture);
        await fixture.owner.patch(`/users/${fixture.member.userId}`, { role: before });
      },
    ),
  );
}

t.test(
  "[S1] restricted guests see the users they share a channel or direct conversation with, and lose the others",
  (t) =>
    watch(
      t,
      async ({ server, owner, member, other }) => {
        await other.createChannel("meeting", [member, other]);
        const [outsider = 0, second = 0] = await server.users("outsider", 2);
        const join = (name: string, ids: readonly number[]) =>
          owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: ids });
        await join("meeting", [outsider, second]);
        await owner.patch(`/users/${outsider}`, { full_name: "Known" });
        await owner.patch(`/users/${second}`, { full_name: "Known, too" });
        const part = { subscriptions: ["meeting"], principals: [outsider] };
        await owner.delete("/users/me/subscriptions", part);
        await owner.patch(`/users/${outsider}`, { full_name: "Unknown again" });
        await owner.delete(`/users/${second}`);
        await owner.post(`/users/${second}/reactivate`);
        const writer = await server.user("writer");
        await writer.post("/messages", { type: "direct", to: [member.userId], content: "hello" });
        await owner.patch(`/users/${writer.userId}`, { full_name: "Pen pal" });
        await join("crowded", await server.users("crowd", 3));
        await join("crowded", [member.userId]);
        await member.delete("/users/me/subscriptions", { subscriptions: ["before", "meeting"] });
      },
      async ({ server, owner, member }) => {
        await server.users("hidden", 2);
        await owner.patch(`/users/${member.userId}`, { role: 600 });
        server.setRealm({ can_access_all_users_group: server.group("role:members") });
      },
    ),
);

t.test("[behaviour 3.2] a channel permission lists only active users, also to guests who see none of them", (t) => {
  let strangers: number[] = [];
  return watch(
    t,
    async ({ owner }) => {
      for (const id of strangers) await owner.delete(`/users/${id}`);
    },
    async ({ server, owner, member }) => {
      strangers = await server.users("trusted", 2);
      const value = { direct_members: strangers, direct_subgroups: [] };
      await owner.createChannel("trusting", [owner, member], { can_remove_subscribers_group: value });
      await owner.createChannel("trusting in private", [owner, member], {
        invite_only: true,
        can_administer_channel_group: value,
      });
      await owner.patch(`/users/${member.userId}`, { role: 600 });
      server.setRealm({ can_access_all_users_group: server.group("role:members") });
    },
  );
});

t.test("[behaviour 7] deleting a topic updates the channel's first message", (t) =>
  watch(t, async ({ owner }) => {
    const { body } = await owner.get("/streams");
    const channel = body.streams.find((record: { name: string }) => record.name === "before");
    await owner.post(`/streams/${channel.stream_id}/delete_topic`, { topic_name: "old" });
  }),
);

t.test("[spec 2.8] state follows presence, in the modern and in the legacy format", (t) =>
  watch(t, async ({ clock, owner, member, other }) => {
    await other.post("/users/me/presence", { status: "active" });
    clock.advance(limits.presence_coalesce_ms + 200);
    await member.post("/users/me/presence", { status: "idle" });
    await owner.post("/users/me/presence", { status: "active" });
  }),
);
