/** Muted users: POST and DELETE /users/me/muted_users/{muted_user_id} (public API: mute-user, unmute-user). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import {
  botOf,
  Follower,
  outcome,
  personOf,
  refusal,
  setRealmSettings,
  success,
  systemGroup,
} from "../support/conversation.ts";
import { watchChanges } from "../support/http.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { writeMany } from "../support/rows.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { newUsers, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);
const bot = await botOf(server, "helper", member);
const former = await personOf(server, "former");
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
  const [person, other] = [await personOf(clocked, "person"), await personOf(clocked, "other")];
  const [own, others] = [await Follower.of(person, wanted), await Follower.of(other, wanted)];
  const now = () => Math.floor(clock.now() / 1000);
  t.strictSame(await mutedBy(person), []);
  t.strictSame(outcome(await person.post(pathOf(other.userId))), success());
  const first = { id: other.userId, timestamp: now() };
  clock.advance(7000);
  t.strictSame(outcome(await person.post(pathOf(clocked.owner.userId))), success());
  const second = { id: clocked.owner.userId, timestamp: now() };
  t.strictSame(await mutedBy(person), [second, first], "in order of ids");
  t.strictSame(outcome(await person.delete(pathOf(other.userId))), success());
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
  const changes = await watchChanges(person);
  const self = refusal("Cannot mute self");
  t.strictSame(outcome(await person.post(pathOf(person.userId))), self);
  t.strictSame(outcome(await person.delete(pathOf(person.userId))), notMuted);
  t.strictSame(outcome(await person.post(pathOf(member.userId))), refusal("User already muted"));
  t.strictSame(outcome(await person.delete(pathOf(owner.userId))), notMuted);
  for (const id of [0, 999_999, 999_999_999_999]) {
    t.strictSame(outcome(await person.post(pathOf(id))), missing);
    t.strictSame(outcome(await person.delete(pathOf(id))), missing);
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
    t.strictSame(outcome(await person.post(pathOf(id))), success(), `${id}`);
    t.strictSame(outcome(await person.delete(pathOf(id))), success(), `${id}`);
  }
});

t.test("users of every role can mute users of every role", async (t) => {
  const everybody: readonly Client[] = [
    owner,
    await personOf(server, "administrator", roles.administrator),
    await personOf(server, "moderator", roles.moderator),
    member,
    guest,
    bot,
  ];
  for (const client of everybody) {
    for (const other of everybody) {
      if (other === client) continue;
      t.strictSame(outcome(await client.post(pathOf(other.userId))), success(), `${client.userId}: ${other.userId}`);
      t.strictSame(outcome(await client.delete(pathOf(other.userId))), success());
    }
  }
});

t.test("[S1] a user whom a guest may not see is reported as missing", async (t) => {
  const person = await newUser();
  setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });
  t.strictSame(outcome(await guest.post(pathOf(person.userId))), missing);
  t.strictSame(outcome(await guest.delete(pathOf(person.userId))), missing);
  setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:everyone") });
  t.strictSame(outcome(await guest.post(pathOf(person.userId))), success());
});

t.test("[S3] muted_users_per_user_max: one more is rejected until one is unmuted", async (t) => {
  const person = await newUser();
  const countMax = limits.muted_users_per_user_max;
  const others = Array.from({ length: countMax - 1 }, (_, index) => 1_000_000 + index);
  writeMany(
    server,
    "mutedUsers",
    others.map((id) => [[person.userId, id], { mutedAt: 0 }] as const),
  );
  t.strictSame(outcome(await person.post(pathOf(member.userId))), success());
  t.strictSame(outcome(await person.post(pathOf(owner.userId))), refusal("Too many muted users"));
  t.strictSame(outcome(await person.delete(pathOf(member.userId))), success());
  t.strictSame(outcome(await person.post(pathOf(owner.userId))), success());
});

t.test("[M1] muted users stay muted after a restart", async (t) => {
  const before = await startTestServer(t, { dataDir: temporaryFolder(t) });
  const person = await personOf(before, "person");
  await person.post(pathOf(2));
  const known = await mutedBy(person);
  const after = await restart(t, before);
  t.strictSame(await mutedBy(after.as(person)), known);
  t.strictSame(outcome(await after.as(person).post(pathOf(2))), refusal("User already muted"));
});
