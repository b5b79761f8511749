/** Direct messages: recipients in every form, permissions and readers (spec 2.9; behaviour 5.1, 5.5). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, anna, bert, carla } = await startServerWithUsers(t, ["anna", "bert", "carla"]);

const address = (client: Client) => client.account?.email ?? "";

function send(by: Client, to: unknown, more = {}) {
  return by.post("/messages", { type: "direct", to, content: "hi", ...more });
}

async function read(by: Client, id: number) {
  const { body } = await by.get(`/messages/${id}`);
  return body.message;
}

function person(client: Client, name: string) {
  return { id: client.userId, email: address(client), full_name: name, is_mirror_dummy: false };
}

t.test("[spec 2.9] a direct message lists all its participants and has no topic", async (t) => {
  const sent = await send(anna, [bert.userId], { topic: "ignored" });
  t.strictSame(outcome(sent), success({ id: sent.body.id }));
  const message = await read(bert, sent.body.id);
  t.strictSame(message.display_recipient, [person(anna, "anna 0"), person(bert, "bert 0")]);
  t.match(message, { type: "private", subject: "", topic_links: [], sender_id: anna.userId, flags: [] });
  t.notOk("stream_id" in message);
  t.strictSame((await read(anna, sent.body.id)).flags, []);
});

t.test("recipients are ids or emails, one or many, raw or as JSON", async (t) => {
  const forms: unknown[] = [
    [bert.userId],
    [anna.userId, bert.userId],
    [bert.userId, bert.userId],
    bert.userId,
    [address(bert)],
    address(bert).toUpperCase(),
    `"${address(bert)}"`,
    `${address(anna)}, ${address(bert)}`,
  ];
  for (const type of ["direct", "private"]) {
    for (const to of forms) {
      const sent = await send(anna, to, { type });
      t.equal(sent.status, 200, JSON.stringify(to));
      const ids = (await read(anna, sent.body.id)).display_recipient.map(({ id }: { id: number }) => id);
      t.strictSame(ids, [anna.userId, bert.userId], JSON.stringify(to));
    }
  }
});

t.test("[spec 2.9] all messages of a conversation have the same recipient_id, others another", async (t) => {
  const recipientOf = async (by: Client, to: Client[]) => {
    const sent = await send(
      by,
      to.map((client) => client.userId),
    );
    return (await read(by, sent.body.id)).recipient_id;
  };
  const pair = await recipientOf(anna, [bert]);
  t.equal(await recipientOf(bert, [anna]), pair);
  const others = [
    await recipientOf(anna, [anna]),
    await recipientOf(anna, [carla]),
    await recipientOf(anna, [bert, carla]),
    await recipientOf(bert, [bert]),
  ];
  t.equal(new Set([pair, ...others]).size, 5);
  t.equal(await recipientOf(carla, [anna, bert]), others[2], "the order of participants does not matter");
});

t.test("[behaviour 5.1] a user can write to themselves and receives the message once", async (t) => {
  const follower = await carla.follow();
  const sent = await send(carla, [carla.userId]);
  await follower.settled();
  const found = follower.ofType("message").map((event) => [event.message.id, event.flags]);
  t.strictSame(found, [[sent.body.id, []]]);
  t.strictSame((await read(carla, sent.body.id)).display_recipient, [person(carla, "carla 0")]);
});

t.test("[S1] only the participants receive and read it, not even the owner of the organization", async (t) => {
  const followers = await Promise.all([anna, bert, carla, owner].map((client) => client.follow()));
  const { id } = (await send(anna, [bert.userId])).body;
  const received = [];
  for (const follower of followers) {
    await follower.settled();
    received.push(follower.ofType("message").length);
  }
  t.strictSame(received, [1, 1, 0, 0]);
  for (const client of [carla, owner]) {
    await expects(t, client.get(`/messages/${id}`), "Invalid message(s)");
  }
});

t.test("[behaviour 5.1] invalid recipients are rejected with their name", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const wrong: [unknown, string][] = [
    [[], "Message must have recipients"],
    [[999], "Invalid user ID 999"],
    [999, "Invalid user ID 999"],
    [["nobody@example.com"], "Invalid email 'nobody@example.com'"],
    [`${address(bert)}, nobody@example.com`, "Invalid email 'nobody@example.com'"],
    [[gone.userId], "'gone0@example.com' is no longer using Colloquy."],
    [[bert.userId, address(anna)], "Recipient lists may contain emails or user IDs, but not both."],
    ["{}", "Invalid data type for recipients"],
  ];
  for (const [to, msg] of wrong) await expects(t, send(anna, to), msg, msg);
});

t.test("[spec 2.3] an error does not reveal a hidden email", async (t) => {
  const shy = await server.user("shy");
  server.setUser(shy.userId, { email_address_visibility: 4 });
  await owner.delete(`/users/${shy.userId}`);
  const { body } = await send(anna, [shy.userId]);
  t.match(body, { result: "error", code: "BAD_REQUEST" });
  t.notMatch(body.msg, /shy0@example\.com/);
});

t.test("[S3] direct_recipients_max limits the participants of a conversation", async (t) => {
  const people = await server.users("many", limits.direct_recipients_max);
  t.equal((await send(anna, people.slice(1))).status, 200, "exactly the limit, sender included");
  t.match(await send(anna, people), { status: 400, body: { msg: "Too many recipients" } });
  t.match(await send(anna, [...people, 2]), { status: 400, body: { code: "BAD_REQUEST" } });
});

t.test("[behaviour 5.1] direct_message_permission_group: one member or bot permits it", async (t) => {
  const strict = await startTestServer(t);
  const [first, second] = [await strict.user("first"), await strict.user("second")];
  const bot = await strict.bot("bot", first);
  strict.setRealm({ direct_message_permission_group: strict.group("role:administrators") });
  await expects(t, send(first, [second.userId]), "This conversation does not include any users who can authorize it.");
  t.equal((await send(first, [second.userId, strict.owner.userId])).status, 200);
  t.equal((await send(first, [first.userId])).status, 200, "to oneself");
  t.equal((await send(first, [bot.userId])).status, 200, "to a bot");
  t.equal((await send(bot, [second.userId])).status, 200, "by a bot");
  strict.setRealm({ direct_message_permission_group: strict.group("role:nobody") });
  await expects(t, send(strict.owner, [second.userId]), "Direct messages are disabled in this organization.");
});

t.test("[behaviour 5.1] direct_message_initiator_group is needed to start a conversation, not to answer", async (t) => {
  const strict = await startTestServer(t);
  const [first, second] = [await strict.user("first"), await strict.user("second")];
  const bot = await strict.bot("bot", first);
  strict.setRealm({ direct_message_initiator_group: strict.group("role:administrators") });
  const refused = refusal("You do not have permission to initiate direct message conversations.");
  await expects(t, send(first, [strict.owner.userId]), refused);
  t.equal((await send(strict.owner, [first.userId])).status, 200);
  t.equal((await send(first, [strict.owner.userId])).status, 200, "an answer");
  await expects(t, send(first, [strict.owner.userId, second.userId]), refused, "another conversation");
  t.equal((await send(first, [first.userId])).status, 200, "to oneself");
  t.equal((await send(first, [bot.userId])).status, 200, "to a bot");
});

t.test("[S1] an email that only looks like a dummy email finds no user", async (t) => {
  const outsider = `user${bert.userId}@elsewhere.example`;
  await expects(t, send(anna, [outsider]), `Invalid email '${outsider}'`);
  const narrow = [{ operator: "dm", operand: outsider }];
  const fetched = await anna.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow });
  t.match(fetched, { status: 400, body: { code: "BAD_NARROW" } });
});

t.test("[spec 2.3] the dummy email of a user with a hidden email reaches them", async (t) => {
  const shy = await server.user("hidden");
  server.setUser(shy.userId, { email_address_visibility: 4 });
  const sent = await send(anna, [shy.userId]);
  const [, recipient] = (await read(anna, sent.body.id)).display_recipient;
  t.not(recipient.email, address(shy));
  const again = await send(anna, [recipient.email]);
  t.equal((await read(anna, again.body.id)).recipient_id, (await read(anna, sent.body.id)).recipient_id);
});

t.test("[behaviour 5.1] a restricted guest cannot write to users whom they may not see", async (t) => {
  const strict = await startTestServer(t);
  const guest = await strict.user("guest", roles.guest);
  const other = await strict.user("other");
  t.equal((await send(guest, [strict.owner.userId])).status, 200);
  strict.setRealm({ can_access_all_users_group: strict.group("role:members") });
  await expects(t, send(guest, [other.userId]), "You do not have permission to access some of the recipients.");
  t.equal((await send(guest, [strict.owner.userId])).status, 200, "the guest can see a user they have talked with");
  t.equal((await send(guest, [guest.userId])).status, 200);
  t.equal((await send(strict.owner, [guest.userId])).status, 200);
});
