/** Reminders: GET, POST and DELETE /reminders, and the messages of the notification bot (public API; S1, M8). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import {
  followLists,
  freshLists,
  laterS,
  listsByEvents,
  newestOf,
  remindersOf,
  scheduledStage,
} from "../support/scheduled.ts";

const stage = await scheduledStage(t);
const { server, owner, member, other, pass } = stage;
const channelId = await owner.createChannel("plans", [owner, member, other]);
const missing = refusal("Reminder does not exist", "NOT_FOUND", 404);
const noteMax = limits.reminder_note_code_points_max;

let people = 0;
async function newUser(): Promise<Client> {
  people++;
  const person = await server.user(`somebody${people}x`);
  await person.post("/users/me/subscriptions", { subscriptions: [{ name: "plans" }] });
  return person;
}

async function remind(client: Client, messageId: number, more: Params = {}): Promise<number> {
  const when = { scheduled_delivery_timestamp: stage.in(laterS) };
  const answer = await client.post("/reminders", { message_id: messageId, ...when, ...more });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.reminder_id;
}

/** The newest message from the notification bot to a user. */
async function notice(client: Client): Promise<Event> {
  const all = await newestOf(client, 100);
  return all.filter(({ sender_id, type }) => sender_id === 1 && type === "private").at(-1);
}

t.test("a reminder is listed and sent to its owner alone", async (t) => {
  const person = await newUser();
  const id = await member.say(channelId, "lunch", "Soup is **ready**");
  const [own, others] = [await followLists(person), await followLists(other)];
  const at = stage.in(laterS);
  const params = { message_id: id, scheduled_delivery_timestamp: at, note: " bring\na spoon " };
  const made = await person.post("/reminders", params);
  const reminderId = made.body.reminder_id;
  t.strictSame(outcome(made), success({ reminder_id: reminderId }));
  const link = `#narrow/channel/${channelId}-plans/topic/lunch/near/${id}`;
  const record = {
    reminder_id: reminderId,
    type: "private",
    to: [person.userId],
    content: `You asked to be reminded of a message in [#plans > lunch](${link}).\n\nNote:\n> bring\n> a spoon`,
    scheduled_delivery_timestamp: at,
    failed: false,
    reminder_target_message_id: id,
  };
  const list = await remindersOf(person);
  t.match(list, [record]);
  t.match(list[0].rendered_content, `<a href="${link}">#plans &gt; lunch</a>`);
  const earlier = await remind(person, id, { scheduled_delivery_timestamp: stage.in(60) });
  const ids = (await remindersOf(person)).map((one) => one.reminder_id);
  t.strictSame(ids, [earlier, reminderId], "the next one first");
  const fresh = await person.register({ fetch_event_types: ["reminders", "realm"] });
  t.strictSame(fresh["reminders"], await remindersOf(person));
  t.equal(fresh["max_reminder_note_length"], noteMax);
  await own.settled();
  t.match(own.ofType("reminders"), [{ op: "add", reminders: [record] }, { op: "add" }]);
  await others.settled();
  t.strictSame(others.ofType("reminders"), []);
});

t.test("the notification bot quotes the message at the set time and links to it", async (t) => {
  const person = await newUser();
  const id = await member.say(channelId, "[odd] `topic` *x*", "Soup @**all** is ```ready```\n```\ncode\n```");
  await remind(person, id, { note: "a spoon" });
  await member.patch(`/messages/${id}`, { content: "Soup @**all** is ```nearly ready```" });
  await pass(laterS - 1);
  t.equal((await remindersOf(person)).length, 1);
  await pass(1);
  const message = await notice(person);
  t.equal(
    message.content,
    [
      `You asked to be reminded of a message in [#plans > &#91;odd&#93; &#96;topic&#96; &#42;x&#42;](#narrow/channel/${channelId}-plans/topic/.5Bodd.5D.20.60topic.60.20.2Ax.2A/near/${id}).`,
      "Note:\n> a spoon",
      `@_**member 0|${member.userId}** wrote:\n\`\`\`\`quote\nSoup @**all** is \`\`\`nearly ready\`\`\`\n\`\`\`\``,
    ].join("\n\n"),
  );
  t.notOk(message.flags.includes("read") || message.flags.includes("mentioned"));
  const { body } = await person.get(`/messages/${message.id}`);
  t.match(body.message.content, "&gt; [odd] `topic` *x*</a>");
  t.match(body.message.content, /<blockquote>[\s\S]*nearly ready[\s\S]*<\/blockquote>/);
  t.strictSame(await remindersOf(person), []);
  await expects(t, person.delete(`/reminders/1`), missing);
});

t.test("direct and own messages are quoted, too; a long one is truncated to the available space", async (t) => {
  const person = await newUser();
  const sent = await member.post("/messages", { type: "direct", to: [person.userId], content: "psst" });
  await remind(person, sent.body.id);
  await pass(laterS);
  const ids = [member.userId, person.userId].sort((a, b) => a - b);
  t.match((await notice(person)).content, `[a direct message](#narrow/dm/${ids.join(",")}-dm/near/${sent.body.id})`);
  t.match((await notice(person)).content, "```quote\npsst\n```");
  const id = await person.say(channelId, "long", `${"`".repeat(5)}${"🙂".repeat(limits.message_code_points_max - 5)}`);
  await remind(person, id, { note: "n".repeat(noteMax) });
  await pass(laterS);
  const { content } = await notice(person);
  t.equal(Array.from(content).length, limits.message_code_points_max);
  t.match(content, /🙂\n\[message truncated\]\n`{6}$/);
});

t.test("[S1] an unreadable message is not quoted, but the reminder is still sent", async (t) => {
  const person = await newUser();
  const secret = await owner.createChannel(`secret${people}`, [owner, person], { invite_only: true });
  const [lost, deleted] = [await owner.say(secret, "t", "the password"), await owner.say(channelId, "t", "a mistake")];
  for (const id of [lost, deleted]) await remind(person, id, { note: `for ${id}` });
  t.notMatch(JSON.stringify(await remindersOf(person)), /password|mistake/, "the list contains no text of messages");
  await owner.delete("/users/me/subscriptions", { subscriptions: [`secret${people}`], principals: [person.userId] });
  await owner.delete(`/messages/${deleted}`);
  await pass(laterS);
  const all = (await newestOf(person, 100)).filter(
    ({ sender_id, content }) => sender_id === 1 && /reminded/.test(content),
  );
  const contents = all.map(({ content }) => content);
  t.strictSame(
    contents,
    [lost, deleted].map(
      (id) => `You asked to be reminded of a message that you can no longer read.\n\nNote:\n> for ${id}`,
    ),
  );
  t.strictSame(await remindersOf(person), []);
});

t.test("[S1] a restricted guest gets no hidden user's name, not even through their own note", async (t) => {
  const guest = await server.user("visitor", roles.guest);
  const shared = await owner.createChannel("shared", [owner, guest, other]);
  const written = await other.say(shared, "t", `ask @**member 0|${member.userId}** or @**somebody1x 0**`);
  const own = await guest.say(shared, "t", "is there a @**member 0** or @**nobody at all**?");
  for (const id of [written, own]) await remind(guest, id, { note: `@**member 0** and @**nobody at all**, ${id}` });
  await owner.delete("/users/me/subscriptions", { subscriptions: ["shared"], principals: [other.userId] });
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await pass(laterS);
  const notices = (await newestOf(guest, 100)).filter(
    ({ sender_id, content }) => sender_id === 1 && /reminded/.test(content),
  );
  const [first = "", second = ""] = notices.map(({ content }) => content);
  t.match(first, "Unknown user wrote:");
  t.notMatch(first.split("wrote:")[1], /member 0|somebody/);
  t.match(second, "is there a @\\*\\*member 0** or @\\*\\*nobody at all**?");
  for (const content of [first, second]) t.match(content, "> @\\*\\*member 0** and @\\*\\*nobody at all**");
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("an unreadable message, a past time and a long note are rejected, and nothing is written", async (t) => {
  const secret = await owner.createChannel("hidden", [owner], { invite_only: true });
  const hidden = await owner.say(secret, "t", "x");
  const visible = await owner.say(channelId, "t", "x");
  const changes = await member.watchChanges();
  const when = { scheduled_delivery_timestamp: stage.in(laterS) };
  const cases: readonly (readonly [Params, object])[] = [
    [{ message_id: hidden, ...when }, refusal("Invalid message(s)")],
    [{ message_id: 999_999, ...when }, refusal("Invalid message(s)")],
    [
      { message_id: visible, scheduled_delivery_timestamp: stage.in(0) },
      refusal("Scheduled delivery time must be in the future."),
    ],
    [
      { message_id: visible, ...when, note: "🙂".repeat(noteMax + 1) },
      refusal(`note is too long (limit: ${noteMax} characters)`),
    ],
    [when, refusal("Missing 'message_id' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "message_id" })],
    [
      { message_id: visible },
      refusal("Missing 'scheduled_delivery_timestamp' argument", "REQUEST_VARIABLE_MISSING", 400, {
        var_name: "scheduled_delivery_timestamp",
      }),
    ],
  ];
  for (const [params, expected] of cases) await expects(t, member.post("/reminders", params), expected);
  t.strictSame(await remindersOf(member), []);
  t.strictSame(await changes(), []);
  t.ok(await remind(member, visible, { note: "🙂".repeat(noteMax) }), "the longest note");
});

t.test("a reminder is deleted once; another user's does not exist", async (t) => {
  const person = await newUser();
  const id = await remind(person, await member.say(channelId, "t", "x"));
  const timers = server.realm.lmdb.count("timers");
  const follower = await followLists(person);
  await expects(t, owner.delete(`/reminders/${id}`), missing);
  await expects(t, person.delete(`/reminders/${id}`), success());
  await expects(t, person.delete(`/reminders/${id}`), missing);
  await follower.settled();
  t.strictSame(follower.ofType("reminders"), [{ type: "reminders", op: "remove", reminder_id: id }]);
  t.equal(server.realm.lmdb.count("timers"), timers - 1);
  await pass(laterS);
  t.notMatch((await notice(person))?.content ?? "", /reminded/);
});

t.test("[S3] reminders_per_user_max: one more is rejected; [D25] a repeated key creates one reminder", async (t) => {
  const person = await newUser();
  const message = await member.say(channelId, "t", "x");
  const first = await remind(person, message);
  const row = server.realm.lmdb.get("reminders", [person.userId, first]);
  if (row === undefined) throw new Error("no row");
  const countMax = limits.reminders_per_user_max;
  const rows = Array.from({ length: countMax - 2 }, (_, index) => {
    return [[person.userId, 1_000_000 + index], { ...row, id: 1_000_000 + index, timer: null }] as const;
  });
  server.writeMany("reminders", rows);
  const params = { message_id: message, scheduled_delivery_timestamp: stage.in(laterS) };
  const key = { "Idempotency-Key": "reminder" };
  const made = await person.post("/reminders", params, key);
  await expects(t, person.post("/reminders", params, key), outcome(made));
  t.equal((await remindersOf(person)).length, countMax);
  await expects(t, person.post("/reminders", params), "Too many reminders");
  await person.delete(`/reminders/${first}`);
  t.equal((await person.post("/reminders", params)).status, 200);
});

t.test("[D83] state before + events = fresh state; after a reactivation failed ones are there", async (t) => {
  const person = await newUser();
  const message = await member.say(channelId, "t", "x");
  const [due, dropped] = [
    await remind(person, message, { scheduled_delivery_timestamp: stage.in(60) }),
    await remind(person, message),
  ];
  const follower = await followLists(person);
  await person.delete(`/reminders/${dropped}`);
  const kept = await remind(person, message, { note: "later" });
  await pass(60);
  const fresh = await freshLists(person);
  t.match(fresh, { reminders: [{ reminder_id: kept }] });
  t.not(due, kept);
  t.strictSame(await listsByEvents(follower), fresh);
  await owner.delete(`/users/${person.userId}`);
  await pass(laterS);
  await stage.server.reactivate(owner, person);
  t.match(await remindersOf(person), [{ reminder_id: kept, failed: true }]);
  await expects(t, person.delete(`/reminders/${kept}`), success());
});
