/**
 * A program as users of the npm package zulip-js write it, run by a test: signs in by zuliprc, then follows events with the
 * package's own loop. One line of JSON for each answer and each event.
 */
import zulip from "zulip-js";

const [zuliprc, realm, username, password] = process.argv.slice(2);

function tell(what, value) {
  process.stdout.write(`${JSON.stringify({ what, value })}\n`);
}

const client = await zulip({ zuliprc });
tell("settings", await client.server.settings());
tell("profile", await client.users.me.getProfile());
const wanted = JSON.stringify([{ name: "by zulip-js" }]);
tell("subscribed", await client.users.me.subscriptions.add({ subscriptions: wanted }));
tell("registered", await client.queues.register({ event_types: ["message"] }));
const toChannel = { type: "stream", to: "by zulip-js", subject: "hello", content: "from **zulip-js**" };
tell("sent", await client.messages.send(toChannel));
tell("direct", await client.messages.send({ type: "private", to: username, content: "directly" }));
const narrow = [{ operator: "stream", operand: "by zulip-js" }];
tell("fetched", await client.messages.retrieve({ anchor: "newest", num_before: 10, num_after: 0, narrow }));
tell("streams", await client.streams.retrieve());
tell("subscriptions", await client.streams.subscriptions.retrieve());
tell("users", await client.users.retrieve());

// The other way in: an address and a password.
const other = await zulip({ realm, username, password });
tell("other profile", await other.users.me.getProfile());
tell("typed", await other.typing.send({ op: "start", to: [2] }));

await client.callOnEachEvent((event) => tell("event", event), ["message", "typing"]);
