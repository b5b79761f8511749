/** DELETE /users/{user_id} (spec 4.20, 7, behaviour 2.20). Sockets and long-polls of a deactivated person are in test/realtime. */
import t from "tap";
import { command } from "../../actors/commands.ts";
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import {
  botOf,
  crowd,
  type Event,
  Follower,
  outcome,
  personOf,
  realmOf,
  refusal,
  success,
} from "../support/conversation.ts";
import { watchChanges } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const administrator = await personOf(server, "administrator", roles.administrator);
const moderator = await personOf(server, "moderator", roles.moderator);
const member = await personOf(server, "member");
const guest = await personOf(server, "guest", roles.guest);
const general = 1;

/** Everybody in the list, as the client sees them, by id. */
async function membersSeenBy(client: Client): Promise<Map<number, Event>> {
  const { body } = await client.get("/users");
  return new Map(body.members.map((user: Event) => [user.user_id, user]));
}

t.test("[spec 4.20] deactivation: the account stays in the list, its keys end at once, others are told", async (t) => {
  const leaver = await personOf(server, "leaver");
  const queue = await leaver.register({ fetch_event_types: [] });
  const follower = await Follower.of(member, { event_types: ["realm_user", "subscription", "message"] });
  t.strictSame(outcome(await administrator.delete(`/users/${leaver.userId}`)), success());
  const over = refusal("Account is deactivated", "USER_DEACTIVATED", 401);
  t.strictSame(outcome(await leaver.get("/users/me")), over);
  t.strictSame(
    outcome(await leaver.get("/events", { queue_id: queue.queue_id, last_event_id: -1, dont_block: true })),
    over,
  );
  await follower.settled();
  t.strictSame(follower.ofType("realm_user"), [
    { type: "realm_user", op: "update", person: { user_id: leaver.userId, is_active: false } },
  ]);
  const removed = follower.ofType("subscription").filter((event) => event.op === "peer_remove");
  t.ok(removed.flatMap((event) => event.stream_ids).includes(general));
  t.ok(removed.every((event) => event.user_ids.join() === String(leaver.userId)));
  t.equal((await membersSeenBy(member)).get(leaver.userId).is_active, false);
  const taken = await owner.post("/users", {
    email: leaver.account?.email ?? "",
    password: "12345678",
    full_name: "New",
  });
  t.strictSame(outcome(taken), refusal("Email is already in use."), "the address is not free");
});

t.test(
  "[spec 4.20, 7] each refusal of a deactivation with its exact text, in their order; nothing happens",
  async (t) => {
    const [gone = 0] = await crowd(server, "gone", 1);
    await owner.delete(`/users/${gone}`);
    const bot = await botOf(server, "machine", member);
    const noSuchUser = refusal("No such user");
    const changes = await watchChanges(owner);
    const remove = async (by: Client, id: number) => outcome(await by.delete(`/users/${id}`));
    t.strictSame(await remove(owner, 999_999), noSuchUser);
    t.strictSame(await remove(owner, 0), noSuchUser);
    t.strictSame(await remove(owner, 1), noSuchUser, "the notification bot");
    t.strictSame(await remove(owner, bot.userId), noSuchUser, "a bot");
    t.strictSame(await remove(owner, gone), refusal("User is deactivated"));
    for (const client of [moderator, member, guest]) {
      t.strictSame(await remove(client, administrator.userId), refusal("Insufficient permission"));
      t.strictSame(await remove(client, client.userId), refusal("Insufficient permission"), "oneself, too");
    }
    t.strictSame(
      await remove(administrator, owner.userId),
      refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL"),
    );
    t.strictSame(await remove(owner, owner.userId), refusal("Cannot deactivate the only organization owner"));
    t.equal((await owner.delete("/users/abc")).status, 405, "by address, accounts are read and changed only");
    t.strictSame(await changes(), []);
  },
);

t.test("[spec 4.20] an owner can go while another one stays; the last one cannot", async (t) => {
  const second = await personOf(server, "second", roles.owner);
  t.strictSame(
    outcome(await second.delete(`/users/${second.userId}`)),
    success(),
    "an owner may end their own account",
  );
  const last = await owner.delete(`/users/${owner.userId}`);
  t.strictSame(outcome(last), refusal("Cannot deactivate the only organization owner"));
});

t.test(
  "[M7] who was deactivated before a command is decided is not obeyed, though the request was let in",
  async (t) => {
    const [third, fourth] = [
      await personOf(server, "third", roles.owner),
      await personOf(server, "fourth", roles.owner),
    ];
    const { dispatcher } = realmOf(server);
    const remove = (by: Client, whom: Client) =>
      dispatcher.ask(command({ actor: "realm" }, "user.deactivate", { userId: whom.userId, comment: null }, by.userId));
    const account = { email: "ghost@example.com", fullName: "Ghost", passwordHash: "", role: roles.member };
    // One turn: all three were let in while their callers were active.
    const [first, second, made] = await Promise.all([
      remove(third, fourth),
      remove(fourth, third),
      dispatcher.ask(command({ actor: "realm" }, "user.create", account, fourth.userId)),
    ]);
    t.equal(first.kind, "ok");
    t.match(second, { kind: "refused", code: "USER_DEACTIVATED" });
    t.match(made, { kind: "refused", code: "USER_DEACTIVATED" });
    const seen = await membersSeenBy(owner);
    t.equal(seen.get(third.userId).is_active, true);
    t.notOk([...seen.values()].some((user) => user.email === "ghost@example.com"));
    await owner.delete(`/users/${third.userId}`);
  },
);
