/**
 * Readers that poll late (E2, S1): between an event and its delivery its channel became visible by another right, was
 * archived and unarchived, or was left, or email addresses were hidden. The client ends up with the fresh state,
 * receives each fact once, and nothing that it may no longer see. Live delivery is compared, too.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import type { Client, Event, Params } from "../support/client.ts";
import { createGroup } from "../support/groups.ts";
import { queueOf } from "../support/realtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { type Fixture, watch } from "../support/watch.ts";

const quietly = { send_new_subscription_messages: false };

async function done(answer: Promise<{ readonly status: number; readonly body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
}

function invite(by: Client, name: string, person: Client) {
  return done(
    by.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [person.userId], ...quietly }),
  );
}

function change(by: Client, id: number, params: Params) {
  return done(by.patch(`/streams/${id}`, params));
}

function setRole(by: Client, person: Client, role: number) {
  return done(by.patch(`/users/${person.userId}`, { role }));
}

const as = (role: number) => (stage: Fixture) => setRole(stage.owner, stage.member, role);

t.test(
  "[E2, S1] a user who can already see a channel and gets another right to see it receives one create event",
  (t) =>
    watch(t, async ({ owner, member, other }) => {
      const secret = { invite_only: true };
      const opened = await owner.createChannel("opened", [owner, other], secret);
      await change(owner, opened, { description: "among us" });
      await change(owner, opened, { is_private: false });
      const joined = await owner.createChannel("joined", [owner, other], secret);
      await change(owner, joined, { new_name: "joined later" });
      await invite(owner, "joined later", member);
      await change(owner, joined, { description: "with all" });
      await setRole(owner, member, roles.administrator);
      await change(owner, joined, { description: "with an administrator" });
    }),
);

t.test(
  "[E2, S1] a user to whom a second group with a permission makes a channel visible receives one create event",
  (t) =>
    watch(t, async ({ owner, member, other }) => {
      const holders = await createGroup(owner, "holders", [owner]);
      const secret = { invite_only: true, can_administer_channel_group: holders };
      const joined = await owner.createChannel("held", [owner, other], secret);
      await change(owner, joined, { description: "before" });
      await invite(owner, "held", member);
      const opened = await owner.createChannel("held and opened", [owner, other], secret);
      await change(owner, opened, { is_private: false });
      await done(owner.post(`/user_groups/${holders}/members`, { add: [member.userId] }));
      await change(owner, opened, { description: "after" });
    }),
);

t.test("[E2, S1] a guest who joins a public channel and later becomes a member gets one create event", (t) =>
  watch(
    t,
    async ({ owner, member, other }) => {
      const joined = await owner.createChannel("joined", [owner]);
      await invite(owner, "joined", other);
      await invite(owner, "joined", member);
      const web = await owner.createChannel("web", [owner, other]);
      await change(owner, web, { is_web_public: true });
      await setRole(owner, member, roles.member);
      await change(owner, joined, { description: "known to members" });
    },
    async (stage) => {
      stage.server.setRealm({ enable_spectator_access: true });
      await as(roles.guest)(stage);
    },
  ),
);

t.test("[E2] a user who saw a channel by role, and then as a subscriber, misses no event of before", (t) => {
  let id = 0;
  return watch(
    t,
    async ({ owner, member }) => {
      await change(owner, id, { new_name: "known by another name", description: "to administrators" });
      await invite(owner, "known by another name", member);
      await setRole(owner, member, roles.member);
      await change(owner, id, { message_retention_days: 7 });
    },
    async (stage) => {
      id = await stage.owner.createChannel("known", [stage.owner, stage.other], { invite_only: true });
      await as(roles.administrator)(stage);
    },
  );
});

t.test("[behaviour 4.3] changes made while a channel was archived are not sent after it is unarchived", (t) => {
  let [ids, hidden]: [number[], number] = [[], 0];
  return watch(
    t,
    async ({ server, owner, member, other }) => {
      for (const id of [...ids, hidden]) await done(owner.delete(`/streams/${id}`));
      await invite(owner, "slept in", member);
      await invite(owner, "slept in", other);
      await change(owner, hidden, { can_subscribe_group: { new: server.group("role:members") } });
      await setRole(owner, member, roles.guest);
      await setRole(owner, member, roles.member);
      for (const id of [...ids, hidden]) await change(owner, id, { is_archived: false });
      await change(owner, hidden, { description: "awake" });
    },
    async ({ owner, other }) => {
      ids = [await owner.createChannel("slept in", [owner]), await owner.createChannel("asleep", [owner, other])];
      hidden = await owner.createChannel("hidden", [owner, other], { invite_only: true });
    },
  );
});

t.test("[S1] a queue for all public channels does not receive messages from before a channel was public", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const reader = await server.user("reader");
  const id = await owner.createChannel("private", [owner], { invite_only: true });
  const queue = await reader.openQueue(["message"], { all_public_streams: true });
  await owner.say("general", "waiting", "everything from here on is read from the log");
  await owner.say(id, "t", "among us");
  await change(owner, id, { is_private: false });
  await owner.say(id, "t", "to all");
  const received = (await reader.readNow(queue)).map(({ message }: Event) => message.content);
  const found = received.filter((content: string) => /among us|to all/.test(content));
  t.strictSame(found, ["to all"]);
});

/** Hides the user's email address from everyone from now on. */
function hideAddress(person: Client) {
  return done(person.patch("/settings", { email_address_visibility: 4 }));
}

async function pair(server: TestServer) {
  return [await server.user("reader"), await server.user("shy")] as const;
}

t.test("[S1] a replayed reaction or typing event omits an email address that was hidden meanwhile", async (t) => {
  const server = await startTestServer(t);
  const [reader, shy] = await pair(server);
  await server.owner.createChannel("here", [reader, shy]);
  const message = await reader.say("here", "t", "hello");
  const queue = await reader.openQueue(["reaction", "typing"]);
  await done(shy.post(`/messages/${message}/reactions`, { emoji_name: "tada" }));
  await done(shy.post("/typing", { op: "start", to: [reader.userId] }));
  t.ok(queueOf(server, queue)?.hasVolatile, "the notice waits");
  await hideAddress(shy);
  const received = await reader.readNow(queue);
  const address = `user${shy.userId}@colloquy.invalid`;
  t.match(received, [
    { type: "reaction", op: "add", user: { user_id: shy.userId, email: address, full_name: "shy 0" } },
    {
      type: "typing",
      sender: { user_id: shy.userId, email: address },
      recipients: [{ user_id: reader.userId }, { user_id: shy.userId, email: address }],
    },
  ]);
  t.notMatch(JSON.stringify(received), /shy0@/);
});

t.test("[S1] a user removed from a private channel receives none of its unread typing events", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const reader = await server.user("reader");
  const id = await owner.createChannel("inside", [owner, reader], { invite_only: true });
  const message = await owner.say(id, "secret", "hello");
  const capable = { client_capabilities: { stream_typing_notifications: true } };
  const queue = await reader.openQueue(["typing", "typing_edit_message"], capable);
  await done(owner.post("/typing", { type: "stream", op: "start", stream_id: id, topic: "secret" }));
  await done(owner.post(`/messages/${message}/typing`, { op: "start" }));
  t.ok(queueOf(server, queue)?.hasVolatile, "the notices wait");
  await done(owner.delete("/users/me/subscriptions", { subscriptions: ["inside"], principals: [reader.userId] }));
  t.strictSame(await reader.readNow(queue), []);
});

t.test("[S1] a guest receives no email address of a user they may not see by then", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const [reader, shy] = await pair(server);
  const { body } = await shy.get("/users/me/subscriptions");
  const own = body.subscriptions.map(({ name }: { name: string }) => name);
  await done(shy.delete("/users/me/subscriptions", { subscriptions: own }));
  await done(shy.patch("/settings", { email_address_visibility: 2 }));
  const queue = await reader.openQueue(["realm_user"], { client_capabilities: { user_list_incomplete: true } });
  await setRole(owner, reader, roles.guest);
  const restricted = { new: server.group("role:members") };
  await done(owner.patch("/realm", { can_access_all_users_group: restricted }));
  await done(shy.patch("/settings", { email_address_visibility: 1 }));
  const received = (await reader.readNow(queue)).filter(({ person }: Event) => person.user_id === shy.userId);
  const ops = received.map(({ op }: Event) => op);
  t.match(ops, ["remove"]);
});
