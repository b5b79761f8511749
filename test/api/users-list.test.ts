/**
 * GET /users from cached bytes (spec 4.15): every caller gets exactly the result of encoding each user anew, after any
 * number of changes; ETag and 304. users.test.ts tests the content of the list.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { EncodedUsers } from "../../src/queries/encoded-users.ts";
import type { Client, Event, Params } from "../support/client.ts";
import { fieldTypes, makeField } from "../support/profiles.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const viewers: Client[] = [owner];
for (const [name, role] of Object.entries(roles)) viewers.push(await server.user(`viewer ${name}`, role));
const [, , administrator, moderator, member, guest] = viewers as [Client, Client, Client, Client, Client, Client];
await server.bot("robot", member);
/** More than two chunks, which end at multiples of `encoded_users_per_piece`. */
const crowdIds = await server.users("many", 2 * limits.encoded_users_per_piece);
for (const [index, id] of crowdIds.slice(0, 5).entries()) {
  server.setUser(id, { email_address_visibility: index + 1 });
}

const optionSets: readonly Params[] = [
  {},
  { client_gravatar: false },
  { include_custom_profile_fields: true },
  { client_gravatar: false, include_custom_profile_fields: true },
];

function allIds(): number[] {
  return [...server.realm.view.users.all()].map(({ id }) => id);
}

/** Whether the cached list equals the same users requested by id, which are encoded anew. */
async function isRight(client: Client, params: Params): Promise<boolean> {
  const kept = await client.get("/users", params);
  const fresh = await client.get("/users", { ...params, user_ids: allIds() });
  return JSON.stringify(kept.body) === JSON.stringify(fresh.body) && kept.body.members.length === allIds().length;
}

async function checkAll(t: Test, title: string): Promise<void> {
  for (const viewer of viewers) {
    for (const params of optionSets) {
      const seenBy = `${viewer.account?.email}, ${JSON.stringify(params)}`;
      t.ok(await isRight(viewer, params), `${title}, seen by ${seenBy}`);
    }
  }
}

t.test("[spec 4.15] the cached list equals a fresh encoding for every viewer, after every change", async (t) => {
  await checkAll(t, "at first");
  for (const viewer of [administrator, moderator, member, guest]) {
    for (const visibility of [4, 3, 5, 2, 1]) {
      server.setUser(viewer.userId, { email_address_visibility: visibility });
      const title = `${viewer.account?.email}, visible to ${visibility}`;
      t.ok(await isRight(viewer, {}), `${title}, by themselves`);
      t.ok(await isRight(owner, {}), `${title}, by the owner`);
      const { body } = await viewer.get("/users");
      const own = body.members.find((user: Event) => user.user_id === viewer.userId);
      t.equal(own.delivery_email, viewer.account?.email, "users always see their own email");
    }
  }
  const last = crowdIds.at(-1) ?? 0;
  await owner.patch(`/users/${last}`, { full_name: "🦊 ß \\u2028 {\\" });
  await owner.delete(`/users/${crowdIds[100]}`);
  await owner.patch(`/users/${crowdIds[300]}`, { role: roles.guest });
  await server.users("late", 3);
  const field = await makeField(owner, "Cheese", fieldTypes.short);
  await owner.patch(`/users/${crowdIds[7]}`, { profile_data: [{ id: field, value: "Käse" }] });
  await checkAll(t, "after changes in several chunks");
  const profile = async () => {
    const { body } = await member.get("/users", { include_custom_profile_fields: true });
    return body.members.find((user: Event) => user.user_id === crowdIds[7]).profile_data;
  };
  t.strictSame(await profile(), { [field]: { value: "Käse", rendered_value: "<p>Käse</p>" } });
  await owner.delete(`/realm/profile_fields/${field}`);
  t.strictSame(await profile(), {}, "a removed field disappears from every chunk");
});

t.test("RFC 9110: an unchanged list has the same ETag, and a client with it gets 304 without a body", async (t) => {
  const first = await member.get("/users");
  const tag = first.headers.get("ETag") ?? "";
  t.match(tag, /^"[^"]+"$/);
  t.equal(first.headers.get("Cache-Control"), "private, no-cache");
  const again = await member.get("/users", {}, { "If-None-Match": tag });
  t.strictSame([again.status, again.body, again.headers.get("ETag")], [304, null, tag]);
  const listed = await member.get("/users", {}, { "If-None-Match": `"other", W/${tag}` });
  t.equal(listed.status, 304);
  t.equal((await member.get("/users", {}, { "If-None-Match": '"other"' })).status, 200);
  const fellow = await server.user("fellow");
  const theirs = await fellow.get("/users");
  t.not(theirs.headers.get("ETag"), tag, "somebody has come");
  const mine = await member.get("/users");
  t.equal(mine.headers.get("ETag"), theirs.headers.get("ETag"), "viewers with the same visibility share the list");
});

t.test("[S1] an ETag of a viewer with other permissions grants nothing", async (t) => {
  server.setUser(member.userId, { email_address_visibility: 4 });
  const tags = new Map<string, string>();
  for (const viewer of [owner, moderator, member, guest]) {
    for (const params of optionSets) {
      const { headers } = await viewer.get("/users", params);
      tags.set(`${viewer.userId} ${JSON.stringify(params)}`, headers.get("ETag") ?? "");
    }
  }
  t.equal(new Set(tags.values()).size, tags.size, "all differ");
  t.equal((await administrator.get("/users")).headers.get("ETag"), tags.get(`${owner.userId} {}`));
  server.setUser(member.userId, { email_address_visibility: 1 });
});

t.test("[spec 4.15] every change of a user's public data changes the list", async (t) => {
  const [id = 0] = await server.users("changing", 1);
  const bystander = await server.user("bystander");
  const changes: readonly (readonly [string, () => unknown])[] = [
    ["name", () => owner.patch(`/users/${id}`, { full_name: "Changed" })],
    ["role", () => owner.patch(`/users/${id}`, { role: roles.moderator })],
    ["visibility", () => server.setUser(id, { email_address_visibility: 3 })],
    ["deactivation", () => owner.delete(`/users/${id}`)],
    ["reactivation", () => owner.post(`/users/${id}/reactivate`)],
    ["somebody new", () => server.users("newer", 1)],
    [
      "profile",
      () => server.write("profileValues", [id, 1], { userId: id, fieldId: 1, value: "x", renderedValue: null }),
    ],
  ];
  for (const [title, change] of changes) {
    const tag = (await bystander.get("/users")).headers.get("ETag") ?? "";
    await change();
    const after = await bystander.get("/users", {}, { "If-None-Match": tag });
    t.equal(after.status, 200, title);
    t.ok(await isRight(bystander, { include_custom_profile_fields: true }), title);
  }
  const tag = (await bystander.get("/users")).headers.get("ETag") ?? "";
  await bystander.say("general", "users", "nothing about users changed");
  await bystander.post("/users/me/presence", { status: "active" });
  t.equal((await bystander.get("/users", {}, { "If-None-Match": tag })).status, 304, "nothing else does");
});

t.test("[spec 2.1] ignored parameters are listed in the answer, which is then never 304", async (t) => {
  const plain = await member.get("/users");
  const tag = plain.headers.get("ETag") ?? "";
  const { status, body } = await member.get("/users", { color: "red", size: 3 }, { "If-None-Match": tag });
  t.equal(status, 200);
  t.strictSame(body, { ...plain.body, ignored_parameters_unsupported: ["color", "size"] });
  t.strictSame((await member.get("/users")).body, plain.body, "the cached list is unchanged");
});

t.test("[behaviour 1.3] HEAD returns the length, and a socket gets the same list", async (t) => {
  const response = await fetch(`${server.url}/api/v1/users`, { headers: { Authorization: member.authorization } });
  const bytes = Buffer.from(await response.arrayBuffer());
  t.equal(response.headers.get("Content-Length"), String(bytes.length));
  const head = await fetch(`${server.url}/api/v1/users`, {
    method: "HEAD",
    headers: { Authorization: member.authorization },
  });
  t.equal(head.headers.get("Content-Length"), String(bytes.length));
  const socket = await connect(member);
  const reply = await socket.ask({ type: "call", method: "GET", path: "/users" });
  t.strictSame(reply.members, JSON.parse(bytes.toString("utf8")).members);
  socket.close();
});

t.test("[D27] spectators have their own lists", async (t) => {
  server.setRealm({ enable_spectator_access: true });
  const anonymous = owner.anonymous();
  const { body, headers } = await anonymous.get("/users");
  t.notMatch(JSON.stringify(body), /@(?!colloquy\.invalid)/);
  t.equal(body.members.length, allIds().length);
  t.equal((await anonymous.get("/users", {}, { "If-None-Match": headers.get("ETag") ?? "" })).status, 304);
  t.equal((await guest.get("/users", {}, { "If-None-Match": headers.get("ETag") ?? "" })).status, 200);
  server.setRealm({ enable_spectator_access: false });
  t.equal((await anonymous.get("/users", {}, { "If-None-Match": headers.get("ETag") ?? "" })).status, 401);
});

t.test("[E1] after a restart no earlier ETag is valid", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const tag = (await before.owner.get("/users")).headers.get("ETag") ?? "";
  await before.stop();
  const after = await startTestServer(t, { dataDir });
  t.equal((await after.owner.get("/users", {}, { "If-None-Match": tag })).status, 200);
});

t.test("[S3] the cache keeps a limited number of bytes; other lists are encoded anew and correct", async (t) => {
  const { view } = server.realm;
  const viewer = view.users.get(owner.userId) ?? null;
  const plain = { clientGravatar: true, includesProfile: false };
  const rich = { clientGravatar: false, includesProfile: false };
  const { body, name } = new EncodedUsers(view, 1).list(viewer, plain);
  t.strictSame(JSON.parse(body.toString()), (await owner.get("/users")).body);
  const none = new EncodedUsers(view, body.length - 1);
  t.not(none.list(viewer, plain).body, none.list(viewer, plain).body, "one byte too small");
  const one = new EncodedUsers(view, body.length);
  const kept = one.list(viewer, plain);
  t.equal(one.list(viewer, plain).body, kept.body, "the same buffer, not an equal one");
  t.equal(kept.name, name);
  t.not(one.list(viewer, rich).body.length, body.length, "another, larger list");
  t.equal(one.list(viewer, plain).body, kept.body, "did not evict it");
  const two = new EncodedUsers(view, 10 * body.length);
  const first = two.list(viewer, plain).body;
  two.list(viewer, rich);
  t.equal(two.list(viewer, plain).body, first);
});
