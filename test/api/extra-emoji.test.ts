/**
 * The two names of the extra emoji's type (D22): clients of the public API and all other clients each get the name that
 * they support.
 */
import t from "tap";
import { type Client, type Event, expects, type Params, success } from "../support/client.ts";
import { resume } from "../support/realtime.ts";
import { restart } from "../support/restart.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const channelId = await owner.createChannel("extra", [owner, member, other]);
const publicName = "zulip_extra_emoji";
const ownName = "service_extra_emoji";

/** User agents and the name that each gets. */
const programs: Readonly<Record<string, string>> = {
  "ZulipMobile/27.230 (Android 14)": publicName,
  "ZulipFlutter/30.0.260 (iOS 18)": publicName,
  "ZulipPython/0.9.1": publicName,
  "ZulipTerminal/0.7.0": publicName,
  "Mozilla/5.0 (X11; Linux x86_64)": publicName,
  "zulip-js/2.1.0": ownName,
  "MyZulip/1.0": ownName,
  "curl/8.0": ownName,
};

function extra(reactionType: string) {
  return { emoji_name: "zulip", emoji_code: "zulip", reaction_type: reactionType };
}

/** All emoji types in an answer or event, at any depth. */
function typesIn(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"reaction_type":"([^"]*)"/g)].map(([, type = ""]) => type);
}

async function register(client: Client, userAgent: string): Promise<Event> {
  return (await client.post("/register", { fetch_event_types: ["user_status"] }, { "User-Agent": userAgent })).body;
}

/** All pending events, polled with a user agent that may differ from that of the registration. */
async function eventsOf(client: Client, queue: Event, types: readonly string[], userAgent = "curl/8.0") {
  const params = { queue_id: queue.queue_id, last_event_id: queue.last_event_id, dont_block: true };
  const { body } = await client.get("/events", params, { "User-Agent": userAgent });
  return (body.events as Event[]).filter(({ type }) => types.includes(type));
}

t.test("[D22] both names are accepted, and every answer has the name that the client supports", async (t) => {
  const id = await member.say(channelId, "t", "x");
  for (const [client, name] of [
    [member, publicName],
    [other, ownName],
  ] as const) {
    await expects(t, client.post(`/messages/${id}/reactions`, extra(name)), success());
    await expects(t, client.post("/users/me/status", extra(name)), success());
  }
  for (const [userAgent, name] of Object.entries(programs)) {
    const headers = { "User-Agent": userAgent };
    const ask = (path: string, params: Params = {}) => owner.get(path, params, headers);
    const narrow = [{ operator: "channel", operand: channelId }];
    const answers = {
      message: await ask(`/messages/${id}`),
      messages: await ask("/messages", { anchor: "newest", num_before: 5, num_after: 0, narrow }),
      status: await ask(`/users/${member.userId}/status`),
      register: { body: await register(owner, userAgent) },
    };
    for (const [what, { body }] of Object.entries(answers)) {
      t.strictSame([...new Set(typesIn(body))], [name], `${userAgent}: ${what}`);
    }
  }
  for (const [client, name] of [
    [member, ownName],
    [other, publicName],
  ] as const) {
    await expects(t, client.delete(`/messages/${id}/reactions`, extra(name)), success());
  }
});

t.test("[D22] events have the name for the client that registered the queue, not for the one that polls", async (t) => {
  const queues = new Map<string, Event>();
  for (const userAgent of Object.keys(programs)) queues.set(userAgent, await register(owner, userAgent));
  const id = await member.say(channelId, "t", "y");
  await member.post(`/messages/${id}/reactions`, extra(publicName));
  await member.post("/users/me/status", extra(ownName));
  await member.delete(`/messages/${id}/reactions`, extra(ownName));
  for (const [userAgent, queue] of queues) {
    const events = await eventsOf(owner, queue, ["reaction", "user_status"]);
    t.equal(events.length, 3, userAgent);
    t.strictSame([...new Set(typesIn(events))], [programs[userAgent]], userAgent);
  }
});

t.test("[D22] queues of different clients that are read at the same time do not share an encoding", async (t) => {
  const readers = [];
  for (const [userAgent, name] of Object.entries(programs)) {
    const queue = await register(owner, userAgent);
    const { socket } = await resume(owner, queue, queue.last_event_id);
    readers.push({ socket, name });
  }
  const id = await member.say(channelId, "t", "live");
  await member.post(`/messages/${id}/reactions`, extra(ownName));
  await member.post("/users/me/status", extra(publicName));
  for (const { socket, name } of readers) {
    t.strictSame(typesIn(await socket.event(({ type }) => type === "reaction")), [name]);
    t.strictSame(typesIn(await socket.event(({ type }) => type === "user_status")), [name]);
    socket.close();
  }
});

t.test("[D22] a message that is read late has its reactions in the form of the queue's client", async (t) => {
  const mobile = await register(owner, "ZulipMobile/27.230 (Android 14)");
  const script = await register(owner, "curl/8.0");
  const id = await member.say(channelId, "t", "z");
  await member.post(`/messages/${id}/reactions`, extra(publicName));
  for (const [queue, name] of [
    [mobile, publicName],
    [script, ownName],
  ] as const) {
    t.strictSame([...new Set(typesIn(await eventsOf(owner, queue, ["message", "reaction"])))], [name]);
  }
});

t.test("[D22] all other emoji types have one name for every client", async (t) => {
  const id = await member.say(channelId, "t", "w");
  await member.post(`/messages/${id}/reactions`, { emoji_name: "tada" });
  for (const userAgent of Object.keys(programs)) {
    const { body } = await owner.get(`/messages/${id}`, {}, { "User-Agent": userAgent });
    t.strictSame(typesIn(body.message), ["unicode_emoji"]);
  }
});

t.test("[D22, E2] a queue keeps its client's name for the type after a restart", async (t) => {
  const mobile = await register(owner, "ZulipMobile/27.230 (Android 14)");
  const script = await register(owner, "curl/8.0");
  const id = await member.say(channelId, "t", "v");
  await member.post(`/messages/${id}/reactions`, extra(publicName));
  const again = await restart(t, server);
  t.strictSame(typesIn(await eventsOf(again.as(owner), mobile, ["reaction"])), [publicName]);
  t.strictSame(typesIn(await eventsOf(again.as(owner), script, ["reaction"])), [ownName]);
});
