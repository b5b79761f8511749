/**
 * Permissions and time limits for renaming, resolving and moving topics (spec 2.4, 3.5, D24, D30; public API:
 * update-message).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, refusal } from "../support/client.ts";
import { audit, idsOf, move, moved, placeMaker, quietly, read, say } from "../support/message-moves.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest, moderator, administrator } = await startServerWithUsers(t, [
  ...everyRole,
  "other",
]);
const everybody = [owner, member, other, guest, moderator, administrator];
const { place, nameOf } = placeMaker(everybody);

t.test("[D24] an unreadable, archived or missing target channel is rejected with Invalid channel ID", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "t", 1);
  const sealed = await place({ invite_only: true }, [other]);
  const archived = await place();
  const record = server.realm.view.channels.get(archived);
  if (record !== undefined) server.write("channels", archived, { ...record, isArchived: true });
  for (const by of [member, owner]) {
    for (const target of [999_999, sealed, archived]) {
      await expects(t, move(by, a, { stream_id: target }), "Invalid channel ID", String(target));
    }
  }
  t.strictSame(await idsOf(member, id, "t"), [a]);
});

interface Grant {
  readonly realm?: Readonly<Record<string, string>>;
  readonly channel?: Readonly<Record<string, string>>;
  readonly target?: Readonly<Record<string, string>>;
}

/** The users who may make each change with each permission; `role:nobody` everywhere else. */
const grants: readonly {
  title: string;
  change: "rename" | "resolve" | "channel";
  grant: Grant;
  may: readonly Client[];
}[] = [
  { title: "nobody is asked", change: "rename", grant: {}, may: [owner, administrator] },
  { title: "nobody is asked", change: "resolve", grant: {}, may: [] },
  { title: "nobody is asked", change: "channel", grant: {}, may: [owner, administrator] },
  {
    title: "the organization's group",
    change: "rename",
    grant: { realm: { can_move_messages_between_topics_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "the organization's group",
    change: "resolve",
    grant: { realm: { can_resolve_topics_group: "role:everyone" } },
    may: [owner, administrator, moderator, member, guest],
  },
  {
    title: "the organization's group",
    change: "channel",
    grant: { realm: { can_move_messages_between_channels_group: "role:moderators" } },
    may: [owner, administrator, moderator],
  },
  {
    title: "the channel's group",
    change: "rename",
    grant: { channel: { can_move_messages_within_channel_group: "role:everyone" } },
    may: [owner, administrator, moderator, member, guest],
  },
  {
    title: "the channel's group",
    change: "resolve",
    grant: { channel: { can_resolve_topics_group: "role:moderators" } },
    may: [owner, administrator, moderator],
  },
  {
    title: "the channel's group",
    change: "channel",
    grant: { channel: { can_move_messages_out_of_channel_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "the user who administers the channel",
    change: "rename",
    grant: { channel: { can_administer_channel_group: "role:members" } },
    may: [owner, administrator, moderator, member],
  },
  {
    title: "but may not post there",
    change: "channel",
    grant: {
      realm: { can_move_messages_between_channels_group: "role:members" },
      target: { can_send_message_group: "role:moderators" },
    },
    may: [owner, administrator, moderator],
  },
];

const refusedTexts = {
  rename: "You don't have permission to edit this message",
  resolve: "You don't have permission to resolve topics in this channel.",
  channel: /^(?:You don't have permission to move this message|You do not have permission to post in this channel\.)$/,
};

t.test("[spec 2.4, behaviour 3.5] each permission decides which roles may rename, resolve and move", async (t) => {
  const group = (name: string) => server.group(name);
  const none = group("role:nobody");
  const asIds = (names: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(names).map(([name, value]) => [name, group(value)]));
  for (const { title, change, grant, may } of grants) {
    const id = await place({ can_administer_channel_group: none, ...asIds(grant.channel) });
    const to = await place({ can_administer_channel_group: none, ...asIds(grant.target) });
    const [a = 0] = await say(owner, id, "topic", 1);
    server.setRealm({
      can_move_messages_between_topics_group: none,
      can_move_messages_between_channels_group: none,
      can_resolve_topics_group: none,
      ...asIds(grant.realm),
    });
    for (const by of everybody.filter((person) => person !== other)) {
      const { stream_id: where, subject } = await read(owner, a);
      const isHere = where === id;
      const wishes = {
        rename: { topic: subject === "topic" ? "another" : "topic" },
        resolve: { topic: subject.startsWith("✔ ") ? "topic" : "✔ topic", propagate_mode: "change_all" },
        channel: { stream_id: to },
      };
      if (!isHere) await owner.patch(`/messages/${a}`, { ...quietly, stream_id: id });
      const { status, body } = await move(by, a, wishes[change]);
      const name = `${change}, ${title}: user ${by.userId}`;
      if (may.includes(by)) t.equal(status, 200, name);
      else t.match(body, { code: "BAD_REQUEST", msg: refusedTexts[change] }, name);
    }
  }
  server.setRealm({
    can_move_messages_between_topics_group: undefined,
    can_move_messages_between_channels_group: undefined,
    can_resolve_topics_group: undefined,
  });
});

t.test("time limits apply to topics, to channels, and to the rest of a whole topic", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const [member, moderator] = [await server.user("m"), await server.user("mod", roles.moderator)];
  const to = await owner.createChannel("to", [owner, member, moderator]);
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "general" }],
    principals: [member.userId, moderator.userId],
  });
  const grace = limits.edit_grace_s * 1000;
  server.setRealm({
    move_messages_within_stream_limit_seconds: 100,
    move_messages_between_streams_limit_seconds: 50,
  });
  const [old = 0] = await say(member, 1, "t", 1);
  clock.advance(50_000 + grace);
  t.equal((await move(member, old, { stream_id: to })).status, 200, "at the bound");
  t.equal((await move(owner, old, { stream_id: 1 })).status, 200);
  clock.advance(1);
  await expects(
    t,
    move(member, old, { stream_id: to }),
    "The time limit for editing this message's channel has passed",
  );
  clock.advance(49_999);
  t.equal((await move(member, old, { topic: "t2" })).status, 200, "at the bound");
  t.equal((await move(member, old, { topic: "t" })).status, 200);
  clock.advance(1);
  await expects(t, move(member, old, { topic: "t2" }), "The time limit for editing this message's topic has passed.");
  t.equal(
    (await move(member, old, { topic: "✔ t", propagate_mode: "change_all" })).status,
    200,
    "resolving has no time limit",
  );
  t.equal((await move(moderator, old, { topic: "t", propagate_mode: "change_all" })).status, 200);
  const fresh = await say(member, 1, "t", 2);
  const exceeded = (allowed: number, total: number, firstId: number) =>
    refusal(
      `You only have permission to move the ${allowed}/${total} most recent messages in this topic.`,
      "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
      400,
      {
        first_message_id_allowed_to_move: firstId,
        total_messages_allowed_to_move: allowed,
        total_messages_in_topic: total,
      },
    );
  await expects(
    t,
    move(member, fresh[1] ?? 0, { topic: "t2", propagate_mode: "change_all" }),
    exceeded(2, 3, fresh[0] ?? 0),
  );
  await expects(
    t,
    move(member, fresh[1] ?? 0, { topic: "T" }),
    exceeded(2, 3, fresh[0] ?? 0),
    "the change of case would apply to the old message, too",
  );
  t.equal((await move(member, fresh[0] ?? 0, { topic: "t2", propagate_mode: "change_later" })).status, 200);
  t.strictSame(await idsOf(member, 1, "t2"), fresh);
  t.equal(
    (await move(moderator, old, { topic: "t2", propagate_mode: "change_all" })).status,
    200,
    "moderators have no time limit",
  );
});

t.test("[D30] in protected history, messages unseen by the mover stay", async (t) => {
  const sealed = await place({ invite_only: true }, [other]);
  const [hidden = 0] = await say(other, sealed, "t", 1);
  await other.post("/users/me/subscriptions", {
    subscriptions: [{ name: nameOf() }],
    principals: [member.userId],
  });
  const seen = await say(other, sealed, "t", 2);
  await expects(t, move(member, seen[0] ?? 0, { topic: "t2", propagate_mode: "change_all" }), moved);
  t.strictSame(await idsOf(other, sealed, "t"), [hidden]);
  t.strictSame(await idsOf(other, sealed, "t2"), seen);
  const watcher = await member.follow();
  await expects(t, move(other, hidden, { topic: "t2" }), moved);
  await watcher.settled();
  t.strictSame(
    watcher.ofType("update_message"),
    [],
    "the answer reveals nothing about messages that the caller cannot see",
  );
  audit(t, server);
});
