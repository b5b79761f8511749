/**
 * New members become full members when time passes (spec 3; behaviour 3.1; M8): durable timers notify clients once,
 * also of private channels that full members see, and again when the organization changes the threshold.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { Client, expects, Follower, success } from "../support/client.ts";
import { stateOf } from "../support/realm-state.ts";
import { firstMoment, startClockedServer } from "../support/realtime-clock.ts";
import { watch } from "../support/watch.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Queues survive days without a reader. */
const patient = { environment: { IDLE_QUEUE_TIMEOUT_MS: String(7 * dayMs) } };

async function fullMembers(client: Client, groupId: number): Promise<number[]> {
  const { realm_user_groups: groups } = await stateOf(client, ["realm_user_groups"]);
  return groups.find(({ id }: { id: number }) => id === groupId).members;
}

t.test("[behaviour 3.1] each user becomes a full member at their own time, if their role then allows it", async (t) => {
  const { server, clock } = await startClockedServer(t, patient);
  const { owner } = server;
  const full = server.group("role:fullmembers");
  const old = await server.user("old");
  clock.jump(dayMs);
  const reader = await owner.follow();
  const expectedEvent = (op: string, ...ids: number[]) => ({ type: "user_group", op, group_id: full, user_ids: ids });
  const news = async () => {
    await reader.settled();
    const events = reader.ofType("user_group").filter((event) => event.group_id === full);
    reader.events.splice(0);
    return events;
  };
  await expects(t, owner.patch("/realm", { waiting_period_threshold: 2 }), success());
  t.strictSame(await news(), [expectedEvent("remove_members", 1, old.userId)]);
  const [young = 0] = await server.users("young", 1);
  const [moderator = 0, guest = 0, leaver = 0] = [
    ...(await server.users("moderator", 1)),
    ...(await server.users("guest", 1, roles.guest)),
    ...(await server.users("leaver", 1)),
  ];
  t.strictSame(await news(), [], "no new user is a full member yet");
  clock.jump(dayMs - 1);
  t.strictSame(await news(), []);
  clock.advance(1);
  t.strictSame(await news(), [expectedEvent("add_members", 1, old.userId)]);
  t.strictSame(await fullMembers(owner, full), [1, old.userId]);
  await owner.patch(`/users/${moderator}`, { role: roles.moderator });
  await owner.delete(`/users/${leaver}`);
  await news();
  clock.jump(dayMs);
  t.strictSame(await news(), [expectedEvent("add_members", young)], "no moderators, no guests, no deactivated users");
  await owner.post(`/users/${leaver}/reactivate`);
  await owner.patch(`/users/${guest}`, { role: roles.member });
  t.strictSame(
    await news(),
    [expectedEvent("add_members", leaver), expectedEvent("add_members", guest)],
    "they are full members when they return",
  );
  clock.jump(3 * dayMs);
  t.strictSame(await news(), [], "announced once");
  const [late = 0] = await server.users("late", 1);
  clock.jump(2 * dayMs);
  t.strictSame(await news(), [expectedEvent("add_members", late)], "also where nobody else was waiting");
});

t.test("[D5] a new threshold recomputes the full members: higher, lower and none", async (t) => {
  const { server, clock } = await startClockedServer(t, patient);
  const { owner } = server;
  const full = server.group("role:fullmembers");
  const ids: number[] = [];
  for (let day = 0; day < 4; day++) {
    ids.push(...(await server.users(`day${day}.`, 1)));
    clock.jump(dayMs);
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = ids;
  const reader = await owner.follow();
  const changes = async (days: number) => {
    await owner.patch("/realm", { waiting_period_threshold: days });
    await reader.settled();
    const events = reader.ofType("user_group").map(({ op, user_ids: users }) => [op, ...users]);
    reader.events.splice(0);
    return events;
  };
  t.strictSame(await changes(3), [["remove_members", third, fourth]]);
  t.strictSame(await fullMembers(owner, full), [1, first, second]);
  t.strictSame(await changes(3), []);
  t.strictSame(await changes(2), [["add_members", third]]);
  t.strictSame(await changes(7), [["remove_members", 1, first, second, third]]);
  t.strictSame(await changes(0), [["add_members", 1, first, second, third, fourth]]);
  t.strictSame(await changes(7), [["remove_members", 1, first, second, third, fourth]]);
  clock.jump(3 * dayMs - 1);
  clock.advance(1);
  await reader.settled();
  clock.jump(dayMs);
  await reader.settled();
  t.strictSame(
    reader.ofType("user_group").map(({ op, user_ids: users }) => [op, ...users]),
    [
      ["add_members", 1, first],
      ["add_members", second],
    ],
    "timers of earlier thresholds send nothing",
  );
});

t.test("[M8] a user who became a full member while the server was down is announced late, but once", async (t) => {
  const first = await startClockedServer(t, patient);
  await first.server.owner.patch("/realm", { waiting_period_threshold: 1 });
  const young = await first.server.user("young");
  const full = first.server.group("role:fullmembers");
  const queue = await first.server.owner.register({ event_types: ["user_group", "message"] });
  await first.server.stop();
  const later = await startClockedServer(t, { ...patient, dataDir: first.server.dataDir }, firstMoment + 2 * dayMs);
  const owner = new Client(later.server.url, first.server.owner.account);
  later.clock.advance(1);
  const follower = new Follower(owner, queue);
  await follower.settled();
  later.clock.jump(dayMs);
  await follower.settled();
  const events = follower.ofType("user_group");
  const found = events.flatMap(({ op, group_id: id, user_ids: users }) => (id === full ? [[op, ...users]] : []));
  t.strictSame(found, [["add_members", 1, 2, young.userId].filter((id) => id !== 2)]);
});

t.test("[S1] a private channel visible to full members appears and vanishes with the waiting period", async (t) => {
  const { server, clock } = await startClockedServer(t, patient);
  const { owner } = server;
  const full = server.group("role:fullmembers");
  await owner.patch("/realm", { waiting_period_threshold: 5 });
  const young = await server.user("young");
  const guest = await server.user("guest", roles.guest);
  const channel = await owner.createChannel("for the known", [owner], {
    invite_only: true,
    can_administer_channel_group: full,
  });
  const hidden = await owner.createChannel("hidden", [owner], { invite_only: true });
  const followers = [await young.follow(), await guest.follow()];
  t.equal(await young.channel(channel), undefined);
  clock.jump(5 * dayMs);
  t.match(await young.channel(channel), { stream_id: channel });
  t.equal(await young.channel(hidden), undefined);
  // Read at once: for a channel that became invisible, only its removal is sent.
  for (const follower of followers) await follower.settled();
  await owner.patch("/realm", { waiting_period_threshold: 50 });
  t.equal(await young.channel(channel), undefined);
  for (const follower of followers) await follower.settled();
  const [own, others] = followers.map((follower) =>
    follower.events
      .filter(({ type }) => type === "stream" || type === "user_group")
      .map(({ type, op, streams, stream_ids: ids }) => [
        type,
        op,
        ids ?? streams?.map((record: { stream_id: number }) => record.stream_id),
      ]),
  );
  t.strictSame(own, [
    ["user_group", "add_members", undefined],
    ["stream", "create", [channel]],
    ["stream", "delete", [channel]],
    ["user_group", "remove_members", undefined],
  ]);
  t.strictSame(others, [
    ["user_group", "add_members", undefined],
    ["user_group", "remove_members", undefined],
  ]);
});

t.test("state before plus events equals fresh state, over settings, permissions and waiting periods", (t) => {
  const momentMs = 10_000;
  return watch(
    t,
    async ({ owner, member, other, server, clock }) => {
      const full = server.group("role:fullmembers");
      await owner.patch("/realm", { description: "changed", topics_policy: "disable_empty_topic" });
      const [young] = await server.users("young", 1);
      await owner.patch("/realm", {
        message_edit_history_visibility_policy: "none",
        message_content_edit_limit_seconds: "unlimited",
        can_create_groups: { new: { direct_members: [member.userId, other.userId], direct_subgroups: [full] } },
        can_create_bots_group: { new: { direct_members: [other.userId, young], direct_subgroups: [] } },
      });
      clock.advance(momentMs);
      await owner.delete(`/users/${other.userId}`);
      await owner.delete(`/users/${young}`);
      await owner.post(`/users/${young}/reactivate`);
      await owner.patch("/realm", { moderation_request_channel_id: 3, name: "Renamed" });
      await owner.patch("/realm", { waiting_period_threshold: 30 });
      await owner.patch("/realm", { waiting_period_threshold: 0 });
    },
    async ({ owner, server, clock }) => {
      await owner.createChannel("visible to the members who see it", [owner], {
        invite_only: true,
        can_administer_channel_group: server.group("role:fullmembers"),
      });
      await owner.patch("/realm", { waiting_period_threshold: 1 });
      clock.jump(dayMs - momentMs);
    },
  );
});
