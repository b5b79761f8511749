/**
 * DELETE /users/{user_id} and /users/me (spec 4.20, 7, behaviour 2.20; public API: deactivate-own-user). Sockets and
 * long polls of a deactivated user are in test/realtime; reactivation is in users-reactivation.test.ts.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { deactivateUser } from "../../actors/realm/user-deactivation.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { Client, type Event, expects, outcome, refusal, success } from "../support/client.ts";
import { outboxMails } from "../support/mail.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const general = 1;

/** All users in the list, as the client sees them, by id. */
async function membersSeenBy(client: Client): Promise<Map<number, Event>> {
  const { body } = await client.get("/users");
  return new Map(body.members.map((user: Event) => [user.user_id, user]));
}

t.test("[D279] a deactivated user is mentioned silently, by id and by name", async (t) => {
  const [gone, twin] = [await server.person("Una Gone"), await server.person("Una Twin")];
  await owner.delete(`/users/${gone.userId}`);
  await owner.delete(`/users/${twin.userId}`);
  const rendered = async (content: string) => (await member.post("/messages/render", { content })).body.rendered;
  const silent = `<p><span class="user-mention silent" data-user-id="${gone.userId}">Una Gone</span></p>`;
  for (const name of ["Una Gone", `Una Gone|${gone.userId}`, `|${gone.userId}`]) {
    t.equal(await rendered(`@**${name}**`), silent, name);
    t.equal(await rendered(`@_**${name}**`), silent, `${name}, silently`);
  }
  await owner.patch(`/users/${twin.userId}`, { full_name: "Una Gone" });
  t.equal(await rendered("@**Una Gone**"), "<p>@**Una Gone**</p>", "several people who are gone");
  const here = await server.person("Una Here");
  await owner.patch(`/users/${here.userId}`, { full_name: "Una Gone" });
  t.match(await rendered("@**Una Gone**"), `user-mention" data-user-id="${here.userId}"`, "who is here precedes them");
});

t.test("[spec 4.20] a deactivated account stays listed, its keys end at once, others get an event", async (t) => {
  const leaver = await server.user("leaver");
  const queue = await leaver.register({ fetch_event_types: [] });
  const follower = await member.follow({ event_types: ["realm_user", "subscription", "message"] });
  await expects(t, administrator.delete(`/users/${leaver.userId}`), success());
  const over = refusal("Account is deactivated", "USER_DEACTIVATED", 401);
  await expects(t, leaver.get("/users/me"), over);
  await expects(t, leaver.get("/events", { queue_id: queue.queue_id, last_event_id: -1, dont_block: true }), over);
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
  t.strictSame(outcome(taken), refusal("Email is already in use."), "the email is still taken");
});

t.test("[spec 4.20, 7] each invalid deactivation is rejected with its message and changes nothing", async (t) => {
  const [gone = 0] = await server.users("gone", 1);
  await owner.delete(`/users/${gone}`);
  const bot = await server.bot("machine", member);
  const noSuchUser = refusal("No such user");
  const changes = await owner.watchChanges();
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
  t.equal((await owner.delete("/users/abc")).status, 405, "by email, accounts can only be read and changed");
  t.strictSame(await changes(), []);
});

t.test("[spec 4.20] an owner can be deactivated while another one remains; the last one cannot", async (t) => {
  const second = await server.user("second", roles.owner);
  await expects(t, second.delete(`/users/${second.userId}`), success(), "an owner may deactivate their own account");
  const last = await owner.delete(`/users/${owner.userId}`);
  t.strictSame(outcome(last), refusal("Cannot deactivate the only organization owner"));
});

t.test("[M7] the accepted request of a user who is deactivated before its decision is rejected", async (t) => {
  const [third, fourth] = [await server.user("third", roles.owner), await server.user("fourth", roles.owner)];
  const { dispatcher } = server.realm;
  const remove = (by: Client, whom: Client) =>
    dispatcher.ask(command({ actor: "realm" }, "user.deactivate", { userId: whom.userId, comment: null }, by.userId));
  const account = { email: "ghost@example.com", fullName: "Ghost", passwordHash: "", role: roles.member };
  // One turn: all three requests were accepted while their callers were active.
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
});

const { view } = server.realm;

t.test("[spec 4.20] with a comment, even an empty one, the user gets an email; without one they do not", async (t) => {
  const comments = [undefined, "", " \n ", "Farewell!\n🙂", "🙂".repeat(limits.deactivation_comment_code_points_max)];
  const leavers: Client[] = [];
  for (const [index, comment] of comments.entries()) {
    const leaver = await server.user(`mailed${index}`);
    leavers.push(leaver);
    const gone = await administrator.delete(`/users/${leaver.userId}`, { deactivation_notification_comment: comment });
    t.strictSame(outcome(gone), success());
  }
  const mails = await outboxMails(server.dataDir, 4);
  const found = mails.map(({ email }) => email.to?.[0]?.address);
  t.strictSame(
    found,
    leavers.slice(1).map(({ account }) => account?.email),
  );
  const [plain, blank, short, long] = mails.map(({ email }) => email.text ?? "");
  for (const text of [plain, blank, short, long]) t.match(text, "Your account on Colloquy has been deactivated.");
  for (const text of [plain, blank]) t.notMatch(text, "comment");
  t.match(short, "Farewell!");
  t.equal(
    [...(long?.replaceAll(/\s/g, "").matchAll(/🙂/gu) ?? [])].length,
    limits.deactivation_comment_code_points_max,
  );
});

t.test("[spec 4.20] a comment has at most 2000 characters, which is checked first", async (t) => {
  const tooLong = "x".repeat(limits.deactivation_comment_code_points_max + 1);
  const params = { deactivation_notification_comment: tooLong };
  const refused = refusal("deactivation_notification_comment is too long (limit: 2000 characters)");
  for (const id of [member.userId, 999_999]) {
    await expects(t, owner.delete(`/users/${id}`, params), refused);
    await expects(t, guest.delete(`/users/${id}`, params), refused);
  }
  t.equal((await member.get("/users/me")).status, 200);
});

t.test("[behaviour 2.20] pending emails to the user and a pending email change are deleted", async (t) => {
  const leaver = await server.user("awaiting");
  const to = leaver.account?.email ?? "";
  const mail = { id: 901, template: "login", to, data: {}, createdAt: 0, attempts: 0, dueAt: Number.MAX_SAFE_INTEGER };
  server.write("mails", 901, mail);
  server.write("mails", 902, { ...mail, id: 902, to: member.account?.email ?? "" });
  const confirmation = { ...mail, template: "confirm-new-address", to: "a@example.com" };
  server.write("mails", 903, { ...confirmation, id: 903, data: { email: to } });
  server.write("mails", 904, { ...confirmation, id: 904, data: { email: member.account?.email } });
  server.write("emailChanges", "h1", { userId: leaver.userId, newEmail: "a@example.com", createdAt: 0 });
  server.write("emailChangeRequests", [leaver.userId, 0, "h1"], {});
  server.write("emailChanges", "h2", { userId: member.userId, newEmail: "b@example.com", createdAt: 0 });
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame([view.row("mails", 901), view.row("emailChanges", "h1")], [undefined, undefined]);
  t.ok(view.row("mails", 902) !== undefined && view.row("emailChanges", "h2") !== undefined, "other people's stay");
  t.equal(view.row("mails", 903), undefined, "no email asks to confirm an invalid link");
  t.not(view.row("mails", 904), undefined);
});

t.test("[S3] a deactivation checks a limited number of pending mails", async (t) => {
  // Its own server, because pending emails of other tests would change the count.
  const server = await startTestServer(t);
  const { owner } = server;
  const { view } = server.realm;
  const leaver = await server.user("swamped");
  const to = leaver.account?.email ?? "";
  const row = { template: "login", data: {}, createdAt: 0, attempts: 0, dueAt: Number.MAX_SAFE_INTEGER };
  const { lmdb } = server.realm;
  const [last, over] = [limits.pending_mails_scanned_max, limits.pending_mails_scanned_max + 1].map((n) => 10_000 + n);
  lmdb.transaction(() => {
    for (let index = 1; index <= limits.pending_mails_scanned_max + 1; index++) {
      const id = 10_000 + index;
      lmdb.put("mails", id, { ...row, id, to: id === last || id === over ? to : "other@example.com" });
    }
  });
  await owner.delete(`/users/${leaver.userId}`);
  t.equal(view.row("mails", last ?? 0), undefined, "the last one that is checked");
  t.not(view.row("mails", over ?? 0), undefined, "one over");
});

t.test("[S3] pending emails are scanned once, however many bots the user has", async (t) => {
  const leaver = await server.user("crowded");
  const { view } = server.realm;
  for (const name of ["first", "second", "third"]) await server.bot(`crowded ${name}`, leaver);
  let looks = 0;
  const counting = new Proxy(view, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "rows") looks++;
      return value.bind(target);
    },
  });
  const params = { userId: leaver.userId, comment: null };
  t.equal(deactivateUser(null, params, counting).kind, "done");
  t.equal(looks, 2, "emails and invitations");
});

t.test("[spec 4.20] the user's bots are deactivated first, with an event each; other bots are not", async (t) => {
  const leaver = await server.user("keeper");
  const [one, two] = [await server.bot("bot one", leaver), await server.bot("bot two", leaver)];
  const other = await server.bot("bot other", member);
  const follower = await administrator.follow({ event_types: ["realm_user", "realm_bot", "message"] });
  await expects(t, owner.delete(`/users/${leaver.userId}`), success());
  for (const bot of [one, two]) t.equal((await bot.get("/users/me")).status, 401);
  t.equal((await other.get("/users/me")).status, 200);
  await follower.settled();
  const found = follower.ofType("realm_user").map(({ person }) => [person.user_id, person.is_active]);
  t.strictSame(
    found,
    [one, two, leaver].map(({ userId }) => [userId, false]),
  );
  t.strictSame(
    follower.ofType("realm_bot"),
    [one, two].map(({ userId }) => ({ type: "realm_bot", op: "update", bot: { user_id: userId, is_active: false } })),
  );
});

t.test("[spec 4.20] several keys end together", async (t) => {
  const password = "correct horse battery";
  const email = "other.key@example.com";
  const made = await owner.post("/users", { email, password, full_name: "Keys" });
  const keys: string[] = [];
  for (let index = 0; index < 2; index++) {
    keys.push((await owner.anonymous().post("/fetch_api_key", { username: email, password })).body.api_key);
  }
  await owner.delete(`/users/${made.body.user_id}`);
  for (const key of keys) {
    const client = new Client(server.url, { email, key, userId: made.body.user_id });
    await expects(t, client.get("/users/me"), refusal("Account is deactivated", "USER_DEACTIVATED", 401));
  }
  const again = await owner.anonymous().post("/fetch_api_key", { username: email, password });
  t.strictSame([again.status, again.body.code], [401, "USER_DEACTIVATED"]);
});

t.test("users may deactivate their own account, bots may not", async (t) => {
  const bot = await server.bot("would be gone", member);
  await expects(t, bot.delete("/users/me"), "This endpoint does not accept bot requests.");
  for (const role of [roles.administrator, roles.moderator, roles.member, roles.guest]) {
    const leaver = await server.user(`leaving ${role}`, role);
    await expects(t, leaver.delete("/users/me"), success());
    t.equal((await leaver.get("/users/me")).body.code, "USER_DEACTIVATED");
    t.equal((await membersSeenBy(owner)).get(leaver.userId).is_active, false);
  }
  const second = await server.user("leaving owner", roles.owner);
  await expects(t, second.delete("/users/me"), success(), "another owner stays");
});

t.test("neither the last owner nor the last user can be deactivated", async (t) => {
  const changes = await member.watchChanges();
  await expects(
    t,
    owner.delete("/users/me"),
    refusal("Cannot deactivate the only organization owner", "CANNOT_DEACTIVATE_LAST_USER", 400, {
      is_last_owner: true,
      entity: "organization owner",
    }),
  );
  t.strictSame(await changes(), []);
  const alone = await startTestServer(t);
  await alone.bot("company", alone.owner);
  const [gone = 0] = await alone.users("gone", 1);
  await alone.owner.delete(`/users/${gone}`);
  await expects(
    t,
    alone.owner.delete("/users/me"),
    refusal("Cannot deactivate the only user", "CANNOT_DEACTIVATE_LAST_USER", 400, {
      is_last_owner: false,
      entity: "user",
    }),
  );
});
