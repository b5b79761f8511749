/** Muted users: POST and DELETE /users/me/muted_users/{muted_user_id} (public API: mute-user, unmute-user). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { newUsers, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);
const bot = await server.bot("helper", member);
const former = await server.user("former");
await owner.delete(`/users/${former.userId}`);

const wanted = { event_types: ["muted_users", "message"] };
const missing = refusal("No such user");
const notMuted = refusal("User is not muted");

const newUser = newUsers(server);

const pathOf = (id: number | string) => `/users/me/muted_users/${id}`;

async function mutedBy(client: Client): Promise<unknown> {
  return (await client.register({ fetch_event_types: ["muted_users"] }))["muted_users"];
}

t.test("only the caller receives the event of muting and unmuting", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const [person, other] = [await clocked.user("person"), await clocked.user("other")];
  const [own, others] = [await person.follow(wanted), await other.follow(wanted)];
  const now = () => Math.floor(clock.now() / 1000);
  t.strictSame(await mutedBy(person), []);
  await expects(t, person.post(pathOf(other.userId)), success());
  const first = { id: other.userId, timestamp: now() };
  clock.advance(7000);
  await expects(t, person.post(pathOf(clocked.owner.userId)), success());
  const second = { id: clocked.owner.userId, timestamp: now() };
  t.strictSame(await mutedBy(person), [second, first], "in order of ids");
  await expects(t, person.delete(pathOf(other.userId)), success());
  t.strictSame(await mutedBy(person), [second]);
  t.strictSame(await mutedBy(other), []);
  await own.settled();
  const received = [[first], [second, first], [second]].map((list) => ({ type: "muted_users", muted_users: list }));
  t.strictSame(own.ofType("muted_users"), received);
  await others.settled();
  t.strictSame(others.ofType("muted_users"), []);
});

t.test("each invalid request is rejected with its error message, and nothing changes", async (t) => {
  const person = await newUser();
  await person.post(pathOf(member.userId));
  const changes = await person.watchChanges();
  const self = refusal("Cannot mute self");
  await expects(t, person.post(pathOf(person.userId)), self);
  await expects(t, person.delete(pathOf(person.userId)), notMuted);
  await expects(t, person.post(pathOf(member.userId)), "User already muted");
  await expects(t, person.delete(pathOf(owner.userId)), notMuted);
  for (const id of [0, 999_999, 999_999_999_999]) {
    await expects(t, person.post(pathOf(id)), missing);
    await expects(t, person.delete(pathOf(id)), missing);
  }
  for (const id of ["me", "-1", "1.5", ""]) {
    t.equal((await person.post(pathOf(id))).status, 404, id);
    t.equal((await person.delete(pathOf(id))).status, 404, id);
  }
  t.strictSame(await changes(), []);
});

t.test("bots and deactivated users can be muted and unmuted", async (t) => {
  const person = await newUser();
  for (const id of [bot.userId, former.userId, 1]) {
    await expects(t, person.post(pathOf(id)), success(), `${id}`);
    await expects(t, person.delete(pathOf(id)), success(), `${id}`);
  }
});

t.test("users of every role can mute users of every role", async (t) => {
  const everybody: readonly Client[] = [
    owner,
    await server.user("administrator", roles.administrator),
    await server.user("moderator", roles.moderator),
    member,
    guest,
    bot,
  ];
  for (const client of everybody) {
    for (const other of everybody) {
      if (other === client) continue;
      await expects(t, client.post(pathOf(other.userId)), success(), `${client.userId}: ${other.userId}`);
      await expects(t, client.delete(pathOf(other.userId)), success());
    }
  }
});

t.test("[S1] a user whom a guest may not see is reported as missing", async (t) => {
  const person = await newUser();
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await expects(t, guest.post(pathOf(person.userId)), missing);
  await expects(t, guest.delete(pathOf(person.userId)), missing);
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
  await expects(t, guest.post(pathOf(person.userId)), success());
});

t.test("[S3] muted_users_per_user_max: one more is rejected until one is unmuted", async (t) => {
  const person = await newUser();
  const countMax = limits.muted_users_per_user_max;
  const others = Array.from({ length: countMax - 1 }, (_, index) => 1_000_000 + index);
  server.writeMany(
    "mutedUsers",
    others.map((id) => [[person.userId, id], { mutedAt: 0 }] as const),
  );
  await expects(t, person.post(pathOf(member.userId)), success());
  await expects(t, person.post(pathOf(owner.userId)), "Too many muted users");
  await expects(t, person.delete(pathOf(member.userId)), success());
  await expects(t, person.post(pathOf(owner.userId)), success());
});
