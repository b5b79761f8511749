/**
 * Default channels: POST and DELETE /default_streams (public API: add-default-stream, remove-default-stream), and which
 * channels new users join.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);
const path = "/default_streams";
const general = 1;
const unknown = refusal("Invalid channel ID");

async function defaultsOf(client: Client): Promise<number[]> {
  return (await client.register({ fetch_event_types: ["default_streams"] }))["realm_default_streams"] as number[];
}

async function channelsOf(client: Client): Promise<string[]> {
  const { body } = await client.get("/users/me/subscriptions");
  return body.subscriptions.map(({ name }: { name: string }) => name);
}

t.test("everybody except guests receives one event, and new users join the channel", async (t) => {
  const id = await owner.createChannel("welcome", []);
  const wanted = { event_types: ["default_streams", "subscription", "message"] };
  const [own, members, guests] = await Promise.all([owner, member, guest].map((client) => client.follow(wanted)));
  await expects(t, owner.post(path, { stream_id: id }), success());
  await expects(t, owner.post(path, { stream_id: id }), success(), "it is already a default channel");
  t.strictSame(await defaultsOf(member), [general, id]);
  t.strictSame(await defaultsOf(guest), []);
  const newcomer = await server.user("newcomer");
  t.strictSame(await channelsOf(newcomer), ["general", "welcome"]);
  t.strictSame(await channelsOf(await server.user("visitor", roles.guest)), [], "guests join nothing");
  await expects(t, owner.delete(path, { stream_id: id }), success());
  await expects(t, owner.delete(path, { stream_id: id }), success(), "it is no longer a default channel");
  t.strictSame(await channelsOf(await server.user("late")), ["general"]);
  t.strictSame(await channelsOf(newcomer), ["general", "welcome"], "who joined stays");
  // The list in an event is the one at the time when the event is read.
  const received = { type: "default_streams", default_streams: [general] };
  for (const follower of [own, members, guests]) {
    await follower?.settled();
    t.strictSame(follower?.ofType("default_streams"), follower === guests ? [] : [received, received]);
  }
  t.match(members?.ofType("subscription"), [
    { op: "peer_add", stream_ids: [general], user_ids: [newcomer.userId] },
    { op: "peer_add", stream_ids: [id], user_ids: [newcomer.userId] },
    { op: "peer_add", stream_ids: [general] },
  ]);
});

t.test("each invalid channel is rejected with its error message", async (t) => {
  const changes = await owner.watchChanges();
  const before = await defaultsOf(owner);
  const own = await owner.createChannel("own secret", [owner], { invite_only: true });
  const others = await member.createChannel("another secret", [member], { invite_only: true });
  const gone = await owner.createChannel("gone", []);
  const channel = server.realm.view.channels.get(gone);
  if (channel !== undefined) server.write("channels", gone, { ...channel, isArchived: true });
  await changes();
  await expects(t, owner.post(path, { stream_id: own }), "Private channels cannot be made default.");
  await expects(t, owner.post(path, { stream_id: others }), unknown, "[D18] no content access");
  for (const id of [gone, 9999, 0]) {
    await expects(t, owner.post(path, { stream_id: id }), unknown);
    await expects(t, owner.delete(path, { stream_id: id }), unknown);
  }
  await expects(t, owner.delete(path, { stream_id: others }), success(), "it is none");
  for (const value of ["x", "-1", "1.5", "null"]) {
    t.match((await owner.post(path, { stream_id: value })).body, { result: "error", code: "BAD_REQUEST" }, value);
  }
  t.match((await owner.post(path, {})).body, { code: "REQUEST_VARIABLE_MISSING", var_name: "stream_id" });
  t.strictSame(await defaultsOf(owner), before);
});

t.test("only organization administrators change default channels", async (t) => {
  const id = await member.createChannel("by a member", []);
  const rows: [string, Client, boolean][] = [
    ["owner", owner, true],
    ["administrator", await server.user("administrator", roles.administrator), true],
    ["moderator", await server.user("moderator", roles.moderator), false],
    ["member who administers the channel", member, false],
    ["bot", await server.bot("helper", member), false],
    ["guest", guest, false],
  ];
  const refused = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
  for (const [name, client, isAllowed] of rows) {
    const expected = isAllowed ? success() : refused;
    await expects(t, client.post(path, { stream_id: id }), expected, name);
    await expects(t, client.delete(path, { stream_id: id }), expected, name);
  }
});

t.test("[S3] default_channels_max: one more is rejected until one is removed", async (t) => {
  const crowded = await startTestServer(t);
  const record = crowded.realm.view.channels.get(general);
  if (record === undefined) throw new Error("there is no general channel");
  const ids = Array.from({ length: limits.default_channels_max }, (_, index) => 100 + index);
  crowded.writeMany(
    "channels",
    ids.map((id) => [id, { ...record, id, recipientId: id, name: `c${id}`, isDefault: id < ids.length + 98 }] as const),
  );
  // The general channel and all of `ids` but the last two.
  t.equal((await defaultsOf(crowded.owner)).length, ids.length - 1);
  const [first = 0, last = 0] = ids.slice(-2);
  await expects(t, crowded.owner.post(path, { stream_id: first }), success());
  const full = refusal("Too many default channels");
  await expects(t, crowded.owner.post(path, { stream_id: last }), full);
  const patched = await crowded.owner.patch(`/streams/${last}`, { is_default_stream: true });
  t.strictSame(outcome(patched), full, "[spec 4.4]");
  const made = { name: "one more", subscribers: [], is_default_stream: true };
  await expects(t, crowded.owner.post("/channels/create", made), full, "[spec 4.3]");
  await expects(t, crowded.owner.delete(path, { stream_id: first }), success());
  const two = { subscriptions: [{ name: "one more" }, { name: "two more" }], is_default_stream: true };
  await expects(t, crowded.owner.post("/users/me/subscriptions", two), full, "there is room for one");
  await expects(t, crowded.owner.post(path, { stream_id: last }), success());
  t.equal((await channelsOf(await crowded.user("newcomer"))).length, ids.length);
});
