/**
 * Actions during a move, with turns of one command each: events lead to the same state as a fresh fetch, also for
 * clients that register in the middle (E2), and the read state moves with the messages (architecture, Read state).
 */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { collectUnread } from "../../domain/unread.ts";
import { limits } from "../../schemas/limits.ts";
import type { Client, Event, Follower } from "../support/client.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { editCommand } from "../support/message-changes.ts";
import { startSlowServer } from "../support/realtime-clock.ts";
import { rowsOf, turn } from "../support/runtime.ts";

const types = ["message", "update_message_flags"];
const { server } = await startSlowServer(t);
const { owner } = server;
const { dispatcher } = server.realm;
let places = 0;

interface SetUp {
  readonly reader: Client;
  readonly from: number;
  readonly to: number;
  readonly third: number;
  /**
   * In topic `t` of the first channel, unread by the reader. Unread messages in other topics of the first two channels
   * are newer.
   */
  readonly ids: readonly number[];
}

async function setUp(count: number, inFrom: readonly number[] = [], inTo: readonly number[] = []): Promise<SetUp> {
  places++;
  const reader = await server.user(`reader${places}`);
  const channel = (name: string, others: readonly number[]) =>
    owner.createChannel(`${name} ${places}`, [], { subscribers: [owner.userId, reader.userId, ...others] });
  const [from, to, third] = [await channel("from", inFrom), await channel("to", inTo), await channel("third", [])];
  const ids = await server.flood({ channelId: from, topic: "t", count });
  for (const channelId of [from, to]) await server.flood({ channelId, topic: "periods", count: 1 });
  return { reader, from, to, third, ids };
}

const fetched = (who: Client): Promise<Follower> => who.follow({ event_types: types, fetch_event_types: types });

function unreadIn(state: Event): number[] {
  const groups = state.unread_msgs.streams as readonly { unread_message_ids: number[] }[];
  return groups.flatMap((group) => group.unread_message_ids).sort((a, b) => a - b);
}

/** The unread messages known to a client that started with a state and applied all events since. */
async function known(follower: Follower): Promise<number[]> {
  const unread = new Set(unreadIn(follower.state));
  await follower.settled();
  for (const { op, messages } of follower.ofType("update_message_flags")) {
    for (const id of messages) op === "add" ? unread.delete(id) : unread.add(id);
  }
  return [...unread].sort((a, b) => a - b);
}

/**
 * For each user, which of these messages are unread and which are unread according to their events. Reads the event log
 * once.
 */
function stateOf(userIds: readonly number[], ids: readonly number[]) {
  const read = rowsOf(server.realm.lmdb, "events");
  return userIds.map((userId) => {
    const mine = read.filter(({ audience }) => audience.to === "users" && audience.ids.includes(userId));
    const received = new Set(bodiesOf(mine, "update_message_flags").flatMap(({ messages }) => messages));
    const unread = new Set(collectUnread(dispatcher.view, userId).messages.map(({ id }) => id));
    const known = ids.filter((id) => !received.has(id));
    return { userId, unread: ids.filter((id) => unread.has(id)), known };
  });
}

const moveTo = ({ ids }: SetUp, channelId: number | null, topic: string | null = null) =>
  editCommand(ids[0] ?? 0, { channelId, topic, propagateMode: "change_all" }, owner.userId);
const leave = ({ reader }: SetUp, name: string) => {
  const params = { channelNames: [`${name} ${places}`], principals: null };
  return command({ actor: "realm" }, "subscriptions.remove", params, reader.userId);
};
const markChannel = ({ reader }: SetUp, channelId: number) =>
  command({ actor: "user", id: reader.userId }, "read-state.mark-channel", { channelId }, reader.userId);
const mute = ({ reader }: SetUp) =>
  command({ actor: "user", id: reader.userId }, "muted-users.add", { userId: owner.userId }, reader.userId);

type Ask = (made: SetUp) => Command;
const acrossChannels: Ask = (made) => moveTo(made, made.to);
const acrossTopics: Ask = (made) => moveTo(made, null, "other");

/**
 * The action during a move, and whether the messages are unread afterwards; null if the result depends on the moment of
 * the action.
 */
const happenings: readonly (readonly [what: string, move: Ask, between: Ask, isUnread: boolean | null])[] = [
  ["leaves the channel of origin", acrossChannels, (made) => leave(made, "from"), null],
  ["leaves the target channel", acrossChannels, (made) => leave(made, "to"), false],
  ["marks the channel of origin", acrossChannels, (made) => markChannel(made, made.from), null],
  ["marks the target channel", acrossChannels, (made) => markChannel(made, made.to), null],
  ["mutes their sender", acrossChannels, mute, false],
  ["has them moved on to a third channel", acrossChannels, (made) => moveTo(made, made.third), true],
  ["has them moved on within the channel", acrossChannels, (made) => moveTo(made, null, "elsewhere"), true],
  ["leaves the channel in which they change their topic", acrossTopics, (made) => leave(made, "from"), false],
  ["marks the channel in which they change their topic", acrossTopics, (made) => markChannel(made, made.from), false],
];

/** More turns than a small move has commands. The action runs before each of these turns in turn. */
const moments = 6;

for (const [what, move, between, isUnread] of happenings) {
  t.test(`[E2] a user who ${what} while messages move is notified of exactly those that become read`, async (t) => {
    for (let moment = 1; moment <= moments; moment++) {
      const made = await setUp(2);
      const first = await fetched(made.reader);
      const moving = dispatcher.ask(move(made));
      for (let passed = 0; passed < moment; passed++) await turn();
      const happening = dispatcher.ask(between(made));
      await Promise.all([moving, happening]);
      await dispatcher.idle();
      const fresh = unreadIn((await fetched(made.reader)).state);
      t.strictSame(await known(first), fresh, `after ${moment} turns`);
      if (isUnread === null || (await happening).kind === "refused") continue;
      const left = fresh.filter((id) => made.ids.includes(id));
      t.strictSame(left, isUnread ? made.ids : []);
    }
  });
}

const sliceSize = 100;
const others = await server.users("crowd", (3 * limits.moved_read_states_per_command_max) / sliceSize);

t.test("[S3, M7, M9] in a large channel read state moves first, and agrees with the announcements", async (t) => {
  const inBoth = others.filter((_, index) => index % 2 === 0);
  const made = await setUp(sliceSize, others, inBoth);
  const { reader, from, to, ids } = made;
  const { view } = dispatcher;
  let turns = 0;
  const moving = dispatcher.ask(moveTo(made, to));
  const happening: Promise<unknown>[] = [];
  const isMoved = () => view.row("channelMessages", [to, ids.at(-1) ?? 0]) !== undefined;
  for (; !isMoved(); turns++) {
    await turn();
    if (turns === 1) happening.push(dispatcher.ask(markChannel(made, from)), dispatcher.ask(leave(made, "from")));
    const found = stateOf(others, ids).filter(({ unread, known }) => unread.join() !== known.join());
    t.strictSame(found, []);
  }
  t.ok(turns > 4, "it took several turns");
  await Promise.all([moving, ...happening]);
  await dispatcher.idle();
  const unreadBy = stateOf([...others, reader.userId], ids).filter(({ unread }) => unread.length === ids.length);
  const userIds = unreadBy.map(({ userId }) => userId);
  t.strictSame(userIds, [...inBoth, reader.userId], "requests made during the move were executed after it");
  t.strictSame(
    stateOf([...others, reader.userId], ids).flatMap(({ unread, known }) =>
      unread.join() === known.join() ? [] : [known],
    ),
    [],
  );
});

t.test("[E2] messages that are moved on to a third channel right after arriving in a second stay unread", async (t) => {
  const made = await setUp(sliceSize, others, others);
  const { reader, to, third, ids } = made;
  const first = dispatcher.ask(moveTo(made, to));
  while (dispatcher.view.row("channelMessages", [to, ids[0] ?? 0]) === undefined) await turn();
  const [again] = await Promise.all([dispatcher.ask(moveTo(made, third)), first]);
  t.equal(again.kind, "ok");
  await dispatcher.idle();
  t.strictSame(stateOf([reader.userId], ids), [{ userId: reader.userId, unread: ids, known: ids }]);
});
