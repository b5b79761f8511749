/**
 * DELETE /messages/{id} (public API: delete-message; spec 4.4, 7; behaviour 5.7, 7): permissions, time limits, and
 * everything deleted with it.
 */
import t from "tap";
import { auditRealm } from "../support/audit.ts";
import { type Client, expects, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { rowsOf } from "../support/runtime.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest, moderator, administrator } = await startServerWithUsers(t, [
  ...everyRole,
  "other",
]);
const everybody = [owner, member, other, guest, moderator, administrator];
const channelId = await owner.createChannel("deletions", everybody);

const done = success();
const forbidden = refusal("You don't have permission to delete this message");
const missing = refusal("Invalid message(s)");

function remove(by: Client, id: number | string) {
  return by.delete(`/messages/${id}`);
}

t.test("[spec 4.4] deleting one's own message removes its history and reactions and updates its topic", async (t) => {
  const id = await owner.createChannel("alone", [owner, member]);
  const first = await member.say(id, "t", "x");
  await member.patch(`/messages/${first}`, { content: "y" });
  await owner.post(`/messages/${first}/reactions`, { emoji_name: "smile" });
  const second = await member.say(id, "t", "z");
  await expects(t, remove(member, first), done);
  await expects(t, member.get(`/messages/${first}`), missing);
  t.equal((await owner.channel(id)).first_message_id, second);
  await expects(t, remove(member, second), done);
  t.equal((await owner.channel(id)).first_message_id, null);
  t.equal(server.realm.view.row("topicNames", [id, "t"]), undefined, "the topic's name is free");
  const { lmdb } = server.realm;
  t.strictSame(auditRealm(lmdb), []);
  t.strictSame([rowsOf(lmdb, "messageEdits"), rowsOf(lmdb, "reactions")], [[], []]);
});

t.test("[spec 7, D24] missing, deleted, hidden and archived messages get the same answer", async (t) => {
  const gone = await member.say(channelId, "t", "x");
  await remove(member, gone);
  const sealed = await member.createChannel("sealed", [member], { invite_only: true });
  const hidden = await member.say(sealed, "t", "x");
  const archived = await member.createChannel("archived", [member]);
  const late = await member.say(archived, "t", "x");
  const record = server.realm.view.channels.get(archived);
  if (record !== undefined) server.write("channels", archived, { ...record, isArchived: true });
  for (const [by, id] of [
    [member, gone],
    [owner, 999_999],
    [owner, hidden],
    [member, late],
  ] as const) {
    await expects(t, remove(by, id), missing);
  }
  t.equal((await remove(member, "x")).status, 404);
  t.equal((await remove(member.anonymous(), 1)).status, 401);
});

/** The users who may delete the member's message with each permission; `role:nobody` everywhere else. */
const grants: readonly {
  realm?: Readonly<Record<string, string>>;
  channel?: Readonly<Record<string, string>>;
  may: readonly Client[];
}[] = [
  { may: [] },
  { realm: { can_delete_any_message_group: "role:administrators" }, may: [owner, administrator] },
  { realm: { can_delete_own_message_group: "role:everyone" }, may: [member] },
  { channel: { can_delete_any_message_group: "role:moderators" }, may: [owner, administrator, moderator] },
  { channel: { can_delete_own_message_group: "role:members" }, may: [member] },
  { channel: { can_delete_own_message_group: "role:moderators" }, may: [] },
];

t.test("[spec 4.4, behaviour 5.7] groups of organization and channel decide which roles may delete", async (t) => {
  const ids = (names: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(names).map(([name, value]) => [name, server.group(value)]));
  const none = { can_delete_any_message_group: "role:nobody", can_delete_own_message_group: "role:nobody" };
  for (const { realm = {}, channel = {}, may } of grants) {
    server.setRealm(ids({ ...none, ...realm }));
    const id = await owner.createChannel(`g${grants.findIndex((grant) => grant.may === may)}`, everybody, ids(channel));
    for (const by of everybody) {
      const message = await member.say(id, "t", "x");
      const expected = may.includes(by) ? done : forbidden;
      await expects(t, remove(by, message), expected, JSON.stringify({ realm, channel, by: by.userId }));
    }
  }
  server.setRealm({ can_delete_any_message_group: undefined, can_delete_own_message_group: undefined });
});

t.test("[behaviour 5.7] an owner may delete their bot's messages; direct ones follow the organization", async (t) => {
  const bot = await server.bot("helper", member);
  const sent = async () => (await bot.post("/messages", { type: "direct", to: [member.userId], content: "x" })).body.id;
  await expects(t, remove(member, await sent()), done);
  const direct = await member.post("/messages", { type: "direct", to: [other.userId], content: "x" });
  await expects(t, remove(other, direct.body.id), forbidden);
  const watcher = await other.follow({
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  await expects(t, remove(member, direct.body.id), done);
  await watcher.settled();
  t.strictSame(watcher.ofType("delete_message"), [
    { type: "delete_message", message_type: "private", message_ids: [direct.body.id] },
  ]);
  t.strictSame(auditRealm(server.realm.lmdb), []);
});

t.test("[behaviour 4.4, 7] readers of the channel get the event in their client's form, others none", async (t) => {
  const sealed = await member.createChannel("told", [member, other], { invite_only: true });
  const id = await member.say(sealed, "", "x");
  const [inside, outside] = [await other.follow(), await owner.follow()];
  await remove(member, id);
  await inside.settled();
  await outside.settled();
  const event = { type: "delete_message", message_type: "stream", stream_id: sealed, topic: "general chat" };
  t.strictSame(inside.ofType("delete_message"), [{ ...event, message_id: id }]);
  t.strictSame(outside.ofType("delete_message"), []);
});

t.test("[behaviour 5.7] deleting one's own message has a time limit, deleting any has none", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const member = await server.user("m");
  server.setRealm({ message_content_delete_limit_seconds: 60 });
  const sent = await Promise.all([0, 1, 2].map(() => member.say(1, "t", "x").catch(() => 0)));
  const ids = sent.some((id) => id === 0) ? [] : sent;
  t.equal(ids.length, 3);
  clock.advance(60_000);
  await expects(t, remove(member, ids[0] ?? 0), done, "at the bound");
  clock.advance(1);
  await expects(t, remove(member, ids[1] ?? 0), "The time limit for deleting this message has passed", "one over");
  await expects(t, remove(owner, ids[1] ?? 0), done);
  server.setRealm({ message_content_delete_limit_seconds: null });
  await expects(t, remove(member, ids[2] ?? 0), done, "no limit");
});

t.test("[M1, D25] a deletion survives a restart, and its key gets the same answer", async (t) => {
  const before = await startTestServer(t);
  const id = await before.owner.say("general", "t", "x");
  const key = { "Idempotency-Key": "delete-1" };
  await expects(t, before.owner.delete(`/messages/${id}`, {}, key), done);
  const { server, as } = await restart(t, before);
  await expects(t, as(server.owner).get(`/messages/${id}`), missing);
  await expects(t, as(server.owner).delete(`/messages/${id}`, {}, key), done);
});
