/**
 * Subscribing many users (architecture, The path of a write; S3): the command splits itself into slices of
 * `subscribers_per_command_max` users through the mailbox. Other commands run in between, and the request is answered
 * after the last slice.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { expects, type Follower, outcome, refusal, success } from "../support/client.ts";
import { plainChannel } from "../support/plain-channel.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const people = await server.users("one", 1200);
const size = limits.subscribers_per_command_max;

/** User ids in the events about joining (or leaving) a channel, one list per event. */
function piecesOf(follower: Follower, channelId: number, op = "peer_add"): number[][] {
  return follower
    .ofType("subscription")
    .filter((event) => event.op === op && event.stream_ids.includes(channelId))
    .map((event) => event.user_ids);
}

t.test("[M3] a channel is created with 1,200 subscribers, all subscribed when the answer arrives", async (t) => {
  const follower = await owner.follow();
  const made = await owner.post("/channels/create", { name: "crowded", subscribers: people });
  t.strictSame(outcome(made), success({ id: made.body.id }));
  t.equal((await owner.channel(made.body.id)).subscriber_count, people.length);
  await follower.settled();
  const pieces = piecesOf(follower, made.body.id);
  t.strictSame(pieces.flat(), people, "everybody once");
  t.ok(
    pieces.every((piece) => piece.length <= size),
    "in slices",
  );
  t.equal(pieces.length, Math.ceil(people.length / size));
});

t.test("[behaviour 2.3] the notice of a channel created with 1,200 subscribers reaches the last of them", async (t) => {
  server.setRealm({ send_channel_events_messages: true });
  const [early, late] = [await server.user("early"), await server.user("late")];
  const subscribers = [early.userId, ...people, late.userId];
  const secret = { invite_only: true, history_public_to_subscribers: false };
  const follower = await late.follow();
  await owner.post("/channels/create", { name: "crowded secret", subscribers, ...secret });
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "crowded too" }],
    principals: subscribers,
    ...secret,
  });
  await follower.settled();
  server.setRealm({ send_channel_events_messages: false });
  const displayRecipients = follower.ofType("message").map(({ message }) => message.display_recipient);
  t.match(displayRecipients, ["crowded secret", "crowded too"]);
});

t.test("[M3] 1,200 users join two existing channels, and the answer names all of them", async (t) => {
  const first = await owner.createChannel("first", []);
  const second = await owner.createChannel("second", []);
  const joined = await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "first" }, { name: "second" }],
    principals: people,
  });
  t.equal(joined.status, 200);
  t.strictSame(joined.body.subscribed, Object.fromEntries(people.map((id) => [id, ["first", "second"]])));
  for (const id of [first, second]) t.equal((await owner.channel(id)).subscriber_count, people.length);
  const again = await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "first" }],
    principals: people,
  });
  t.strictSame(again.body.subscribed, {});
  t.equal(Object.keys(again.body.already_subscribed).length, people.length);
});

t.test("[M3] 1,200 users leave two channels, with one event per channel, before the answer arrives", async (t) => {
  const names = ["leaving one", "leaving two"];
  const ids: number[] = [];
  for (const name of names) {
    ids.push((await owner.post("/channels/create", { name, subscribers: people })).body.id);
  }
  const follower = await owner.follow();
  const left = await owner.delete("/users/me/subscriptions", { subscriptions: names, principals: people });
  t.strictSame(outcome(left), success({ removed: names, not_removed: [] }));
  await follower.settled();
  for (const id of ids) {
    t.equal((await owner.channel(id)).subscriber_count, 0);
    const pieces = piecesOf(follower, id, "peer_remove");
    t.strictSame(pieces.flat(), people, "everybody once");
    t.ok(
      pieces.every((piece) => piece.length <= size),
      "in slices",
    );
  }
});

t.test("[behaviour 2.3] the creator of a large private channel receives it before being subscribed", async (t) => {
  const creator = await server.user("creator");
  const follower = await creator.follow();
  const made = await creator.post("/channels/create", {
    name: "large and private",
    subscribers: [...people.slice(0, size), creator.userId],
    invite_only: true,
  });
  t.equal(made.status, 200);
  await follower.settled();
  const ops = follower.events.map((event) => `${event.type} ${event.op}`);
  const found = ops.filter((op) => op === "stream create" || op === "subscription add");
  t.strictSame(found, ["stream create", "subscription add"]);
});

t.test("[S3] subscribers_per_request_max limits users times channels in a request", async (t) => {
  const names = Array.from({ length: limits.channels_per_request_max }, (_, index) => `no such ${index}`);
  const most = limits.subscribers_per_request_max / names.length;
  const tooMany = refusal(`Too many subscriptions in one request (maximum ${limits.subscribers_per_request_max})`);
  const unknown = refusal("Channel 'no such 0' does not exist", "STREAM_DOES_NOT_EXIST", 400, { stream: "no such 0" });
  const blank = refusal("Channel name can't be empty.");
  const subscriptions = ["", ...names.slice(1)].map((name) => ({ name }));
  for (const [count, left, joined] of [
    [most, unknown, blank],
    [most + 1, tooMany, tooMany],
  ] as const) {
    const principals = people.slice(0, count);
    await expects(t, owner.delete("/users/me/subscriptions", { subscriptions: names, principals }), left);
    await expects(t, owner.post("/users/me/subscriptions", { subscriptions, principals }), joined);
  }
  await expects(
    t,
    owner.delete("/users/me/subscriptions", { subscriptions: [...names, "one more"] }),
    `subscriptions is too long (limit: ${limits.channels_per_request_max} items)`,
  );
});

t.test("[S3] subscribers_per_command_max: with one more, other commands run in between", async (t) => {
  for (const [count, expected] of [
    [size, ["creation", "other"]],
    [size + 1, ["other", "creation"]],
  ] as const) {
    const { dispatcher, view } = server.realm;
    const order: string[] = [];
    const creation = dispatcher.ask(
      command(
        { actor: "realm" },
        "channel.create",
        plainChannel(`bounded ${count}`, people.slice(0, count)),
        owner.userId,
      ),
    );
    const other = dispatcher.ask(
      command({ actor: "user", id: owner.userId }, "queue.delete", { queueId: "none" }, owner.userId),
    );
    await Promise.all([
      creation.then(() => {
        order.push("creation");
        t.equal(view.subscriptions.ofChannel(view.channels.byName(`bounded ${count}`)?.id ?? 0).size, count);
      }),
      other.then(() => order.push("other")),
    ]);
    t.strictSame(order, expected, `${count} subscribers`);
  }
});

t.test("[M7, behaviour 2.20] a user deactivated between two slices does not join and receives nothing", async (t) => {
  const { dispatcher, view } = server.realm;
  const left = people.slice(0, size + 1);
  const leaver = left.at(-1) ?? 0;
  const creation = dispatcher.ask(
    command({ actor: "realm" }, "channel.create", plainChannel("left meanwhile", left), owner.userId),
  );
  const deactivation = dispatcher.ask(
    command({ actor: "realm" }, "user.deactivate", { userId: leaver, comment: null }, owner.userId),
  );
  await Promise.all([creation, deactivation]);
  const id = view.channels.byName("left meanwhile")?.id ?? 0;
  t.equal(view.subscriptions.ofChannel(id).size, size);
  t.equal(view.subscriptions.get(leaver, id), undefined);
});
