/** POST /messages/{message_id}/report (OpenAPI, report-message): the notice for moderators, permissions and limits. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const [anna, bert] = [await server.user("anna"), await server.user("bert")];
const guest = await server.user("guest", roles.guest);
const desk = await owner.createChannel("desk", [owner], { invite_only: true });
const talk = await owner.createChannel("talk", [owner, anna, bert, guest]);
const unset = refusal("Moderation request channel must be specified to enable message reporting.");

function report(by: Client, id: number, params: Params = {}, headers = {}) {
  return by.post(`/messages/${id}/report`, { report_type: "spam", ...params }, headers);
}

async function reports(): Promise<{ subject: string; content: string; sender_id: number }[]> {
  const narrow = [{ operator: "channel", operand: desk }];
  const params = { anchor: 0, num_before: 0, num_after: 100, narrow, apply_markdown: false };
  return (await owner.get("/messages", params)).body.messages.filter(
    (one: { sender_id: number }) => one.sender_id === 1,
  );
}

const silent = ({ userId }: Client, name: string) => `@_**${name} 0|${userId}**`;

t.test("without a moderation channel nothing can be reported", async (t) => {
  const id = await bert.say(talk, "lunch", "rude");
  await expects(t, report(anna, id), unset);
  await expects(t, report(anna, 99_999), unset, "nor asked for");
  server.setRealm({ moderation_request_channel_id: 99_999 });
  await expects(t, report(anna, id), unset, "a deleted channel");
  server.setRealm({ moderation_request_channel_id: desk });
});

t.test("the notice has reporter, message, reason and a quotation", async (t) => {
  const id = await bert.say(talk, "lunch *time*", "rude");
  await expects(t, report(anna, id, { report_type: "norms", description: " not nice " }), success());
  const [received] = (await reports()).slice(-1);
  t.match(received, { subject: "bert 0 - reports", sender_id: 1 });
  const link = `[#talk > lunch &#42;time&#42;](#narrow/channel/${talk}-talk/topic/lunch.20.2Atime.2A/near/${id})`;
  t.strictSame(received?.content.split("\n"), [
    `${silent(anna, "anna")} reported a message in ${link} sent by ${silent(bert, "bert")}.`,
    "- Reason: **Against the community's norms**",
    "- Notes:",
    "",
    "```text",
    "not nice",
    "```",
    "",
    "- Message:",
    "",
    "```text",
    "rude",
    "```",
  ]);
  for (const type of ["spam", "harassment", "inappropriate"]) {
    await expects(t, report(guest, id, { report_type: type }), success(), type);
  }
  const direct = (await bert.post("/messages", { type: "direct", to: [anna.userId], content: "psst" })).body.id;
  await expects(t, report(anna, direct), success());
  t.match((await reports()).at(-1)?.content, "reported a direct message sent by");
});

t.test("[S1] a quotation mentions nobody and cannot be closed by its content", async (t) => {
  const hostile = "```\n````\n@**all** @**Owner|2** #**desk**\n```";
  const id = await bert.say(talk, "t", hostile);
  const follower = await owner.follow({ event_types: ["message"] });
  await expects(t, report(anna, id, { description: hostile }), success());
  await follower.settled();
  const event = follower.ofType("message").at(-1);
  t.strictSame(event.flags, []);
  t.notMatch(event.message.content, /class="user-mention" data-user-id="(\*|2)"/);
  t.equal(event.message.content.match(/@\*\*all\*\*/g)?.length, 2);
});

t.test("each invalid report is rejected with its error message and posts nothing", async (t) => {
  const id = await bert.say(talk, "t", "x");
  const hidden = await owner.say(desk, "t", "x");
  const before = (await reports()).length;
  const missing = refusal("Missing 'report_type' argument", "REQUEST_VARIABLE_MISSING", 400, {
    var_name: "report_type",
  });
  await expects(t, report(anna, id, { report_type: undefined }), missing);
  await expects(t, report(anna, id, { report_type: "boring" }), "Invalid report_type");
  for (const description of [undefined, "", "  "]) {
    const reply = await report(anna, id, { report_type: "other", description });
    t.strictSame(outcome(reply), refusal("An explanation is required."));
  }
  for (const other of [hidden, 99_999]) {
    await expects(t, report(anna, other), "Invalid message(s)", "[D24] hidden or missing");
  }
  t.equal((await reports()).length, before);
});

t.test("[S3] report_description_code_points_max, report_quote_code_points_max: at and above the limit", async (t) => {
  const [max, quote] = [limits.report_description_code_points_max, limits.report_quote_code_points_max];
  const id = await bert.say(talk, "t", "🦜".repeat(quote));
  const longer = await bert.say(talk, "t", "🦜".repeat(quote + 1));
  await expects(t, report(anna, id, { report_type: "other", description: "é".repeat(max) }), success());
  const received = async () => (await reports()).at(-1)?.content.match(/🦜/gu)?.length;
  t.equal(await received(), quote);
  await expects(t, report(anna, longer), success());
  t.equal(await received(), quote);
  const over = await report(anna, id, { description: "é".repeat(max + 1) });
  t.strictSame(outcome(over), refusal(`description is too long (limit: ${max} characters)`));
});
