/**
 * POST /service-outgoing-webhook (spec 4.21, 6; D23): the payload that an outgoing webhook would receive for a message
 * of the caller.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { outcome } from "../support/client.ts";
import { Receiver, webhookBot } from "../support/receiver.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const path = "/service-outgoing-webhook";

/** The fields of spec 6 and of the envelope. */
const fields = ["bot_email", "bot_full_name", "data", "message", "msg", "result", "token", "trigger"];

t.test("[D23] the answer has the envelope and section 6's fields for the caller's newest message", async (t) => {
  const anna = await server.user("anna");
  const far = await Receiver.start(t);
  const { bot } = await webhookBot(anna, "helper", far.url);
  await anna.createChannel("kitchen", [anna]);
  const id = await anna.say("kitchen", "lunch", "**soup**");
  const { status, body } = await anna.post(path);
  t.equal(status, 200);
  t.strictSame(Object.keys(body).sort(), fields);
  t.match(body, {
    result: "success",
    bot_email: bot.account?.email,
    bot_full_name: "The helper",
    data: "**soup**",
    trigger: "mention",
    token: /^[A-Za-z0-9]{32}$/,
    message: { id, type: "stream", subject: "lunch", rendered_content: "<p><strong>soup</strong></p>" },
  });
  t.notOk("flags" in body.message);
  const own = await bot.post(path);
  t.equal(own.body.token, body.token, "the bot itself receives the same token");
  t.equal(far.calls.length, 0, "nothing is sent");
  await anna.post("/messages", { type: "direct", to: [anna.userId], content: "to me" });
  const direct = await anna.post(path);
  t.match(direct.body, { trigger: "direct_message", data: "to me", message: { type: "private" } });
});

t.test("[D23] without a message and without a bot, the answer has an example message and token", async (t) => {
  const guest = await server.user("guest", roles.guest);
  const { status, body } = await guest.post(path, { whatever: 1 });
  t.equal(status, 200);
  t.strictSame(Object.keys(body).sort(), [...fields, "ignored_parameters_unsupported"].sort());
  t.match(body, {
    bot_full_name: "Outgoing webhook",
    trigger: "direct_message",
    token: "0".repeat(32),
    message: { sender_id: guest.userId, type: "private", content_type: "text/x-markdown" },
  });
  t.equal(body.data, body.message.content);
});

t.test("[S1] another user's bot, its token and messages that the caller cannot read are not revealed", async (t) => {
  const [bert, carl] = [await server.user("bert"), await server.user("carl")];
  const { bot } = await webhookBot(bert, "secretive", "https://example.com/");
  await bert.createChannel("secret", [bert], { invite_only: true });
  await bert.say("secret", "t", "not for carl");
  const mine = await bert.post(path);
  const theirs = await carl.post(path);
  t.equal(mine.body.data, "not for carl");
  t.not(theirs.body.token, mine.body.token);
  t.notMatch(JSON.stringify(theirs.body), "not for carl");
  await bert.delete(`/bots/${bot.userId}`);
  t.equal((await bert.post(path)).body.token, "0".repeat(32), "nor that of a deactivated one");
});

t.test("[D2] a request without credentials is rejected with 401", async (t) => {
  const answer = await owner.anonymous().post(path);
  t.equal(answer.status, 401);
  t.match(outcome(answer), { status: 401, body: { result: "error", code: "UNAUTHORIZED" } });
});
