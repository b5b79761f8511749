/**
 * GET /streams and the events of a new channel: which users may see it (behaviour 3.8, 2.3; S1), and that no user
 * receives an event twice.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { named } from "../support/channels.ts";
import { type Client, expects, type Follower, type Params } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member, guest } = await startServerWithUsers(t, [
  "administrator",
  "member",
  "guest",
]);
server.setRealm({ enable_spectator_access: true });

await owner.createChannel("public", []);
await owner.createChannel("private joined", [member, guest], { invite_only: true });
await owner.createChannel("private foreign", [owner], { invite_only: true });
await owner.createChannel("private open", [owner], { invite_only: true, can_subscribe_group: named(member) });
await owner.createChannel("private run", [owner], { invite_only: true, can_administer_channel_group: named(member) });
await owner.createChannel("web", [], { is_web_public: true });
const archivedId = await owner.createChannel("archived", []);
const archived = server.realm.view.channels.get(archivedId);
if (archived !== undefined) server.write("channels", archivedId, { ...archived, isArchived: true });

/** Names of this file's first channels only; other tests add theirs. */
async function names(client: Client, params: Params = {}): Promise<string[]> {
  const { body } = await client.get("/streams", params);
  return body.streams
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => /^(general|public|private|web|archived)/.test(name));
}

const none = { include_public: false, include_subscribed: false };

t.test("[behaviour 3.8] a member gets public channels and their own private ones, by name", async (t) => {
  t.strictSame(await names(member), ["general", "private joined", "public", "web"]);
  t.strictSame(await names(member, { include_public: false }), ["general", "private joined"]);
  t.strictSame(await names(member, { include_subscribed: false }), ["general", "public", "web"]);
  t.strictSame(await names(member, none), []);
  t.strictSame(await names(member, { ...none, include_web_public: true }), ["web"]);
});

t.test("[behaviour 3.8] parameters request channels with content access or metadata access", async (t) => {
  t.strictSame(await names(member, { ...none, include_can_access_content: true }), [
    "general",
    "private joined",
    "private open",
    "public",
    "web",
  ]);
  t.strictSame(await names(member, { ...none, include_all: true }), [
    "general",
    "private joined",
    "private open",
    "private run",
    "public",
    "web",
  ]);
});

t.test("[S1] a guest gets their own and web-public channels, whatever they request", async (t) => {
  t.strictSame(await names(guest, { include_public: false }), ["private joined"]);
  t.strictSame(await names(guest, { include_all: true, include_can_access_content: true, include_web_public: true }), [
    "private joined",
    "web",
  ]);
});

t.test("[behaviour 3.8] an administrator gets every channel on request", async (t) => {
  t.strictSame(await names(administrator), ["general", "public", "web"]);
  const all = ["general", "private foreign", "private joined", "private open", "private run", "public", "web"];
  t.strictSame(await names(administrator, { include_all: true }), all);
  t.strictSame(await names(administrator, { ...none, include_can_access_content: true }), ["general", "public", "web"]);
});

t.test("archived channels are returned on request", async (t) => {
  t.strictSame(await names(member, { ...none, include_public: true, exclude_archived: false }), [
    "archived",
    "general",
    "public",
    "web",
  ]);
});

t.test("[behaviour 2.3] is_default is in the record only on request", async (t) => {
  const { body } = await member.get("/streams", { include_default: true });
  const flags = body.streams.map(({ name, is_default }: { name: string; is_default: boolean }) => [name, is_default]);
  const found = flags.filter(([name]: [string]) => name === "general" || name === "public");
  t.strictSame(found, [
    ["general", true],
    ["public", false],
  ]);
  t.notOk("is_default" in (await member.channel(1)));
});

t.test("[behaviour 2.3] the list is in the order of code points", async (t) => {
  const letters = ["Z", "a", "\uff5e", "😀"];
  for (const letter of [...letters].reverse()) await owner.createChannel(`${letter} sorted`, []);
  const { body } = await owner.get("/streams");
  const sorted = body.streams.map(({ name }: { name: string }) => name).filter((name: string) => /sorted$/.test(name));
  t.strictSame(
    sorted,
    letters.map((letter) => `${letter} sorted`),
  );
});

t.test("[spec 2.1] a parameter of a wrong type is rejected", async (t) => {
  await expects(t, member.get("/streams", { include_public: "yes" }), "include_public is not valid JSON");
});

/** The events of a queue about one channel, in order: `create`, `add`, and so on. */
function receivedEvents(follower: Follower, channelId: number): string[] {
  return follower.events.flatMap((event) => {
    if (event.type === "stream" && event.op === "create") {
      return event.streams.some((stream: { stream_id: number }) => stream.stream_id === channelId) ? ["create"] : [];
    }
    if (event.type === "stream" && event.op === "delete") return event.stream_ids.includes(channelId) ? ["delete"] : [];
    if (event.type !== "subscription") return [];
    const ids = event.stream_ids ?? event.subscriptions.map((own: { stream_id: number }) => own.stream_id);
    return ids.includes(channelId) ? [event.op as string] : [];
  });
}

async function followAll(people: Readonly<Record<string, Client>>) {
  const followers = new Map<string, Follower>();
  for (const [name, client] of Object.entries(people)) followers.set(name, await client.follow());
  return {
    async received(channelId: number) {
      const all: Record<string, string[]> = {};
      for (const [name, follower] of followers) {
        await follower.settled();
        all[name] = receivedEvents(follower, channelId);
      }
      return all;
    },
    of: (name: string) => followers.get(name)?.events ?? [],
  };
}

t.test("[behaviour 2.3] a public channel is announced once to all but guests who are not subscribed", async (t) => {
  const joining = await server.user("joining");
  const guestIn = await server.user("guestin", roles.guest);
  const watch = await followAll({ owner, member, joining, guest, guestIn });
  const id = await member.createChannel("event public", [joining, guestIn]);
  t.strictSame(await watch.received(id), {
    owner: ["create", "peer_add"],
    member: ["create", "peer_add"],
    joining: ["create", "add"],
    guest: [],
    guestIn: ["create", "add"],
  });
  const ofType = (name: string, op: string) => watch.of(name).find((event) => event.op === op);
  t.match(ofType("owner", "peer_add"), { stream_ids: [id], user_ids: [joining.userId, guestIn.userId] });
  const record = await owner.channel(id);
  t.strictSame(ofType("owner", "create").streams, [{ ...record, subscriber_count: 0 }], "peer_add counts up from 0");
  t.match(ofType("joining", "add").subscriptions, [{ ...record, in_home_view: true, is_muted: false }]);
});

t.test("[behaviour 2.3, S1] a private channel is announced once to everybody who may see it", async (t) => {
  const joining = await server.user("joining2");
  const holder = await server.user("holder");
  const bystander = await server.user("bystander");
  const watch = await followAll({ member, joining, holder, administrator, bystander, guest });
  const id = await member.createChannel("event private", [member, joining, holder], {
    invite_only: true,
    can_subscribe_group: named(holder),
  });
  t.strictSame(await watch.received(id), {
    member: ["create", "add"],
    joining: ["create", "add"],
    holder: ["create", "add"],
    administrator: ["create", "peer_add"],
    bystander: [],
    guest: [],
  });
});

t.test("[behaviour 2.3] a new subscriber of a private channel first receives the channel", async (t) => {
  const late = await server.user("late");
  const watch = await followAll({ late, administrator, owner });
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "private foreign" }],
    principals: [late.userId, administrator.userId],
  });
  const id = server.realm.view.channels.byName("private foreign")?.id ?? 0;
  t.strictSame(await watch.received(id), {
    late: ["create", "add"],
    administrator: ["add"],
    owner: ["peer_add"],
  });
});

t.test("[S1] a user who leaves a private channel and may no longer see it receives its deletion", async (t) => {
  const leaver = await server.user("leaver");
  const holder = await server.user("holder2");
  const secret = await owner.createChannel("event secret", [owner, leaver, holder, administrator], {
    invite_only: true,
    can_subscribe_group: named(holder),
  });
  const open = await owner.createChannel("event open", [owner, leaver]);
  const watch = await followAll({ leaver, holder, administrator, owner });
  for (const client of [leaver, holder, administrator]) {
    await client.delete("/users/me/subscriptions", { subscriptions: ["event secret"] });
  }
  await leaver.delete("/users/me/subscriptions", { subscriptions: ["event open"] });
  t.strictSame(await watch.received(secret), {
    leaver: ["remove", "delete"],
    holder: ["peer_remove", "remove", "peer_remove"],
    administrator: ["peer_remove", "peer_remove", "remove"],
    owner: ["peer_remove", "peer_remove", "peer_remove"],
  });
  t.strictSame(await watch.received(open), {
    leaver: ["remove"],
    holder: ["peer_remove"],
    administrator: ["peer_remove"],
    owner: ["peer_remove"],
  });
  t.equal(await leaver.channel(secret), undefined);
});
