/**
 * A program as a user of the npm package zulip-js would write it: it authenticates with a zuliprc and follows events
 * with the package's own loop. Prints one line of JSON per answer and event.
 */
import zulip from "zulip-js";

const [zuliprc, realm, username, password] = process.argv.slice(2);

function report(what, value) {
  process.stdout.write(`${JSON.stringify({ what, value })}\n`);
}

const client = await zulip({ zuliprc });
report("settings", await client.server.settings());
report("profile", await client.users.me.getProfile());
const wanted = JSON.stringify([{ name: "by zulip-js" }]);
report("subscribed", await client.users.me.subscriptions.add({ subscriptions: wanted }));
report("registered", await client.queues.register({ event_types: ["message"] }));
const toChannel = { type: "stream", to: "by zulip-js", subject: "hello", content: "from **zulip-js**" };
report("sent", await client.messages.send(toChannel));
report("direct", await client.messages.send({ type: "private", to: username, content: "directly" }));
const narrow = [{ operator: "stream", operand: "by zulip-js" }];
report("fetched", await client.messages.retrieve({ anchor: "newest", num_before: 10, num_after: 0, narrow }));
report("streams", await client.streams.retrieve());
report("subscriptions", await client.streams.subscriptions.retrieve());
report("users", await client.users.retrieve());

// The other way to authenticate: email and password.
const other = await zulip({ realm, username, password });
report("other profile", await other.users.me.getProfile());
report("typed", await other.typing.send({ op: "start", to: [2] }));

await client.callOnEachEvent((event) => report("event", event), ["message", "typing"]);
