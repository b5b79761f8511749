/** How many subscriptions people may give to others (S3, D282). */
import t from "tap";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { SubscriptionRecord } from "../../schemas/subscriptions.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { fill, rowsFor } from "../support/rows.ts";
import {
  answerOf,
  commands,
  createUsers,
  generalId,
  type OpenRealm,
  openNewRealm,
  ownerId,
} from "../support/runtime.ts";

const outcome = (reply: Reply) => (reply.kind === "ok" ? "ok" : reply.msg);
const most = limits.channel_subscriptions_per_person_max;
const ofPerson = `The channels of their creator have too many subscribers (maximum ${most}). People can subscribe themselves.`;
const ofRealm = "This organization has too many subscriptions. People can subscribe themselves.";

const row: SubscriptionRecord = {
  userId: 0,
  channelId: 0,
  isActive: true,
  color: "#76ce90",
  isMuted: false,
  pinToTop: false,
  notifications: [null, null, null, null, null],
  periods: [],
};

/** Subscriptions of users who do not exist, in memory alone: two million rows would take the disk seconds. */
function join(bench: OpenRealm, channelId: number, count: number, shared = row): void {
  for (let index = 0; index < count; index++) {
    bench.realm.projections.apply({ table: "subscriptions", key: [channelId, 1000 + index], row: shared });
  }
}

function channels(bench: OpenRealm, count: number, creatorId: number | null): number[] {
  const general = bench.realm.view.channels.get(generalId) as ChannelRecord;
  const rows = rowsFor<"channels">(
    count,
    (id) => [id, { ...general, id, recipientId: id, name: `c${id}`, creatorId }],
    10_000,
  );
  fill(bench.realm, "channels", rows);
  return rows.map(([id]) => id as number);
}

t.test("[S3, D282] channel_subscriptions_per_person_max: nobody adds more to a person's channels", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0, third = 0] = await createUsers(bench, 3);
  const bot = answerOf(await bench.ask(commands.createBot(1, 1, person)))["user_id"] as number;
  const [first = 0, second = 0] = channels(bench, 2, person);
  join(bench, first, most - 5);
  join(bench, second, 1, { ...row, isActive: false });
  const give = (name: string, ids: readonly number[], by: number) => bench.ask(commands.subscribe([name], ids, by));
  t.equal(outcome(await give("new", [person, other, third, ownerId, bot], person)), ofPerson);
  t.equal(
    outcome(await bench.ask(commands.createChannel("new", [person, other, third, ownerId, bot], person))),
    ofPerson,
  );
  t.equal(bench.realm.view.channels.byName("new"), undefined, "nothing is written");
  t.equal(outcome(await give("new", [other, third], person)), "ok");
  t.equal(outcome(await give("new", [ownerId, person], bot)), "ok", "at the bound");
  for (const by of [person, bot, other]) t.equal(outcome(await give("c10000", [third], by)), ofPerson);
  t.equal(outcome(await give("by bot", [third], bot)), ofPerson, "the bot's channels are the person's");
  t.equal(outcome(await bench.ask(commands.subscribe(["c10000"], null, other))), "ok", "people subscribe themselves");
  t.equal(outcome(await bench.ask(commands.subscribe(["alone"], null, person))), "ok");
  await bench.ask(commands.unsubscribe(["new"], null, third));
  t.equal(outcome(await give("new", [third], person)), "ok", "a past subscription takes no more room");
  t.equal(outcome(await give("of another", [person, third], other)), "ok");
  t.equal(outcome(await give("c10000", [third], ownerId)), "ok", "an administrator has no such bound");
  t.strictSame(bench.bugs, []);
});

t.test("[S3, D282] subscriptions_per_realm_max: beyond it nobody adds others", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0] = await createUsers(bench, 2);
  const { view } = bench.realm;
  const size = 10_000;
  const made = channels(bench, limits.subscriptions_per_realm_max / size, null);
  const before = view.subscriptions.ofChannel(generalId).size;
  for (const [index, id] of made.entries()) join(bench, id, index === 0 ? size - before - 2 : size);
  const give = (name: string, ids: readonly number[], by: number) => bench.ask(commands.subscribe([name], ids, by));
  t.equal(outcome(await give("c10001", [ownerId, person, other], ownerId)), ofRealm);
  t.equal(outcome(await give("c10001", [person, other], ownerId)), "ok", "at the bound");
  for (const by of [ownerId, person]) {
    t.equal(outcome(await give("c10002", [other], by)), ofRealm);
    t.equal(outcome(await bench.ask(commands.subscribe(["c10002"], null, by))), "ok", "people subscribe themselves");
  }
});
