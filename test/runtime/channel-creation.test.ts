/**
 * Requests that create many channels, or channels whose permissions name many users (S3): they are bounded in sum, work
 * in slices between which posts to other channels run, and a crash loses no part of them.
 */
import t from "tap";
import type { Command } from "../../actors/protocol/commands.ts";
import type { GroupSettingName } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { fill, rowsFor } from "../support/rows.ts";
import {
  answerOf,
  commands,
  createUsers,
  generalId,
  type OpenRealm,
  openNewRealm,
  ownerId,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";

const slice = limits.channels_created_per_command_max;
const dayMs = 24 * 60 * 60 * 1000;

const names = (count: number, prefix = "c") => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const codeOf = (reply: Reply) => (reply.kind === "ok" ? "ok" : reply.msg);

function withGroups(
  asked: Command<"subscriptions.add">,
  groups: Partial<Record<GroupSettingName, GroupSettingValue>>,
): Command<"subscriptions.add"> {
  return { ...asked, params: { ...asked.params, template: { ...asked.params.template, groups } } };
}

const naming = (ids: readonly number[]): GroupSettingValue => ({ direct_members: [...ids], direct_subgroups: [] });

/** For each turn until the request is answered: how many channels it created, if any. */
async function createdPerTurn(bench: OpenRealm, asked: Command): Promise<{ turns: number[]; reply: Reply }> {
  const turns: number[] = [];
  let isDone = false;
  const answer = bench.ask(asked).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const from = bench.recorder.published.length;
    await turn();
    const records = bench.recorder.published.slice(from).map(({ record }) => record);
    turns.push(bodiesOf(records, "stream").filter(({ op }) => op === "create").length);
  }
  return { turns: turns.filter((count) => count > 0), reply: await answer };
}

async function slowly(created: OpenRealm): Promise<OpenRealm> {
  await created.idle();
  return created.crash(t, { clock: new SlowClock(startedAt) });
}

t.test("[S3] channels_created_per_command_max: a request creates so many channels at a time", async (t) => {
  const bench = await slowly(await openNewRealm(t));
  const atBound = await createdPerTurn(bench, commands.subscribe(names(slice), null));
  t.strictSame(atBound.turns, [slice], "at the bound at once");
  const beyond = await createdPerTurn(bench, commands.subscribe(names(2 * slice + 1, "d"), null));
  t.strictSame(beyond.turns, [slice, slice, 1]);
  t.strictSame(answerOf(beyond.reply)["subscribed"], { [ownerId]: names(2 * slice + 1, "d") });
  const { channels, subscriptions } = bench.realm.view;
  const all = [...names(slice), ...names(2 * slice + 1, "d")].map((name) => channels.byName(name)?.id ?? 0);
  t.ok(all.every((id) => subscriptions.isSubscribed(ownerId, id)));
  t.equal(new Set(all).size, all.length);
});

t.test(
  "[M7] while a request creates many channels, posts elsewhere are answered; requests for names wait",
  async (t) => {
    const created = await openNewRealm(t);
    const [other = 0] = await createUsers(created, 1);
    const bench = await slowly(created);
    const answers: string[] = [];
    const ask = (name: string, asked: Command) => {
      void bench.ask(asked).then((reply) => answers.push(`${name}: ${codeOf(reply)}`));
    };
    ask("many", commands.subscribe(names(6 * slice), null));
    ask("post", commands.post("topic", "m", other, generalId));
    ask("direct", commands.direct([ownerId, other], "m", other));
    ask("taken", commands.createChannel(`c${6 * slice - 1}`, [], other));
    await bench.idle();
    t.strictSame(answers.slice(0, 2), ["post: ok", "direct: ok"]);
    t.strictSame(answers.slice(2).sort(), ["many: ok", `taken: Channel 'c${6 * slice - 1}' already exists`].sort());
    t.equal(bench.realm.view.channels.size, 1 + 6 * slice);
  },
);

t.test("[M3] a request that creates many channels is completed after a crash between its slices", async (t) => {
  const bench = await slowly(await openNewRealm(t));
  const count = 3 * slice;
  const asked = bench.ask(commands.subscribe(names(count), null));
  while (bench.realm.view.channels.size < 1 + slice) await turn();
  const later = bench.crash(t, { clock: new SlowClock(startedAt) });
  t.ok(later.realm.view.channels.size <= 1 + 2 * slice, "the crash came in between");
  await later.idle();
  const { channels, subscriptions } = later.realm.view;
  const ids = names(count).map((name) => channels.byName(name)?.id ?? 0);
  t.ok(
    ids.every((id) => subscriptions.isSubscribed(ownerId, id)),
    "all channels, with their subscriber",
  );
  await asked;
});

t.test("[S3] permission_names_per_request_max: counts each new channel, permission and name", async (t) => {
  const bench = await openNewRealm(t);
  const people = [ownerId, ...(await createUsers(bench, 3))];
  const max = limits.permission_names_per_request_max;
  const perChannel = 2 * people.length;
  const groups = { can_send_message_group: naming(people), can_resolve_topics_group: naming(people) };
  const most = limits.channels_per_request_max;
  // The bound in sum is larger than the schema lets this few people reach, so each of them is named often.
  const often = {
    ...groups,
    can_subscribe_group: naming(Array.from({ length: max / most - perChannel }, () => ownerId)),
  };
  const refused = `Permissions name too many users (maximum ${max} in one request). Use a user group.`;
  t.equal(codeOf(await bench.ask(withGroups(commands.subscribe(names(most), null), often))), "ok");
  t.equal(codeOf(await bench.ask(withGroups(commands.subscribe(names(most + 1, "d"), null), often))), refused);
  t.equal(bench.realm.view.channels.byName("d0"), undefined, "nothing is written");
  const channel = bench.realm.view.channels.byName("c0");
  t.equal(bench.realm.view.groups.get(channel?.groups.can_send_message_group ?? 0)?.memberIds.length, people.length);
});

t.test("[S3] permission_names_per_realm_max: beyond it a permission needs a user group", async (t) => {
  const bench = await openNewRealm(t);
  const value = naming([ownerId]);
  const asked = (name: string) => withGroups(commands.subscribe([name], null), { can_resolve_topics_group: value });
  const row = (id: number): GroupRecord => ({
    id,
    name: null,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: null,
    memberIds: Array.from({ length: 20_000 }, (_, index) => index + 1),
    subgroupIds: [],
    settings: {},
  });
  const { groups } = bench.realm.view;
  const room = () => limits.permission_names_per_realm_max - groups.namesInPermissions;
  const first = 1000;
  fill(
    bench.realm,
    "groups",
    rowsFor<"groups">(Math.floor((room() - 1) / 20_000), (id) => [id, row(id)], first),
  );
  // Each new channel names its creator, too, which is always possible.
  fill(bench.realm, "groups", [[999, { ...row(999), memberIds: row(999).memberIds.slice(0, room() - 1) }]]);
  t.equal(codeOf(await bench.ask(asked("last"))), "ok");
  const refused = "Permissions in this organization name too many users. Use a user group.";
  t.equal(codeOf(await bench.ask(asked("beyond"))), refused);
  t.equal(codeOf(await bench.ask(commands.subscribe(["by default"], null))), "ok");
  fill(bench.realm, "groups", [[first, { ...row(first), memberIds: [] }]]);
  t.equal(codeOf(await bench.ask(asked("again"))), "ok", "the names that are gone count no more");
});

t.test(
  "[S3, D272] channels_created_per_person_per_day_max: a person and the person's bots; not administrators",
  async (t) => {
    const bench = await openNewRealm(t);
    const [person = 0, other = 0] = await createUsers(bench, 2);
    const bot = answerOf(await bench.ask(commands.createBot(1, 1, person)))["user_id"] as number;
    const max = limits.channels_created_per_person_per_day_max;
    const refused = `You can create at most ${max} channels within 24 hours.`;
    t.equal(codeOf(await bench.ask(commands.subscribe(names(max - 1), null, person))), "ok");
    t.equal(codeOf(await bench.ask(commands.subscribe(["by bot", "one more"], null, bot))), refused);
    t.equal(codeOf(await bench.ask(commands.createChannel("by bot", [], bot))), "ok", "at the bound");
    t.equal(codeOf(await bench.ask(commands.createChannel("one more", [], person))), refused);
    t.equal(codeOf(await bench.ask(commands.createChannel("by another", [], other))), "ok");
    t.equal(codeOf(await bench.ask(commands.subscribe(names(max + 1, "owner's "), null))), "ok");
    bench.clock.advance(dayMs + 1);
    t.equal(codeOf(await bench.ask(commands.createChannel("a day later", [], person))), "ok");
  },
);

t.test("[architecture] a user whom many permissions name is in none of the lists that every check walks", async (t) => {
  const bench = await openNewRealm(t);
  const [named = 0] = await createUsers(bench, 1);
  const groups = { can_resolve_topics_group: naming([named]), can_send_message_group: naming([named]) };
  answerOf(await bench.ask(withGroups(commands.subscribe(names(20), null), groups)));
  await bench.idle();
  const { view } = bench.realm;
  t.strictSame(view.groups.ofMember(named), []);
  t.equal(view.groups.isNamedInPermissions(named), true);
  t.equal(view.groups.isNamedInPermissions(9999), false);
  const channelId = view.channels.byName("c3")?.id ?? 0;
  t.not(codeOf(await bench.ask(commands.post("t", "m", ownerId, channelId))), "ok");
  t.equal(codeOf(await bench.ask(commands.post("t", "m", named, channelId))), "ok");
});
