/**
 * Requests that create many channels, or channels whose permissions name many users (S3): they are bounded in sum, work
 * in slices between which posts to other channels run, and a crash loses no part of them.
 */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
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
  request: Command<"subscriptions.add">,
  groups: Partial<Record<GroupSettingName, GroupSettingValue>>,
): Command<"subscriptions.add"> {
  return { ...request, params: { ...request.params, template: { ...request.params.template, groups } } };
}

const naming = (ids: readonly number[]): GroupSettingValue => ({ direct_members: [...ids], direct_subgroups: [] });

function changeGroups(
  channelId: number,
  groups: Command<"channel.update">["params"]["groups"],
  by = ownerId,
): Command<"channel.update"> {
  const none = { description: null, newName: null, isPrivate: null, isWebPublic: null, isHistoryPublic: null };
  const unchanged = { ...none, isDefault: null, messageRetentionDays: null, isArchived: null, folder: null };
  const params = { ...unchanged, channelId, topicsPolicy: null, groups, isWebPublicAllowed: false };
  return command({ actor: "realm" }, "channel.update", params, by);
}

/** The row of a permission that names so many users. */
function namedInPermission(id: number, count: number): GroupRecord {
  return {
    id,
    name: null,
    description: "",
    isSystem: false,
    isActive: true,
    creatorId: null,
    createdAt: null,
    memberIds: Array.from({ length: count }, (_, index) => index + 1),
    subgroupIds: [],
    settings: {},
  };
}

/** For each turn until the request is answered: how many channels it created, if any. */
async function createdPerTurn(bench: OpenRealm, request: Command): Promise<{ turns: number[]; reply: Reply }> {
  const turns: number[] = [];
  let isDone = false;
  const answer = bench.ask(request).finally(() => {
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

t.test("[M7] while a request creates many channels, posts elsewhere are answered; those by name wait", async (t) => {
  const created = await openNewRealm(t);
  const [other = 0] = await createUsers(created, 1);
  const bench = await slowly(created);
  const answers: string[] = [];
  const ask = (name: string, request: Command) => {
    void bench.ask(request).then((reply) => answers.push(`${name}: ${codeOf(reply)}`));
  };
  ask("many", commands.subscribe(names(6 * slice), null));
  ask("post", commands.post("topic", "m", other, generalId));
  ask("direct", commands.direct([ownerId, other], "m", other));
  ask("taken", commands.createChannel(`c${6 * slice - 1}`, [], other));
  await bench.idle();
  t.strictSame(answers.slice(0, 2), ["post: ok", "direct: ok"]);
  t.strictSame(answers.slice(2).sort(), ["many: ok", `taken: Channel 'c${6 * slice - 1}' already exists`].sort());
  t.equal(bench.realm.view.channels.size, 1 + 6 * slice);
});

t.test(
  "[S3, D268] channels_created_per_request_max: one more new channel is rejected, an old one is not",
  async (t) => {
    const bench = await openNewRealm(t);
    const max = limits.channels_created_per_request_max;
    const refused = `You can create at most ${max} channels in one request.`;
    t.equal(codeOf(await bench.ask(commands.subscribe(names(max + 1), null))), refused);
    t.equal(bench.realm.view.channels.size, 1, "nothing is written");
    t.equal(codeOf(await bench.ask(commands.subscribe(["general", ...names(max)], null))), "ok");
    t.equal(bench.realm.view.channels.size, 1 + max);
  },
);

t.test("[M3] a request that creates many channels is completed after a crash between its slices", async (t) => {
  const bench = await slowly(await openNewRealm(t));
  const count = 3 * slice;
  const pending = bench.ask(commands.subscribe(names(count), null));
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
  await pending;
});

t.test("[S3] permission_names_per_request_max: counts each new channel, permission and name", async (t) => {
  const bench = await openNewRealm(t);
  const people = [ownerId, ...(await createUsers(bench, 3))];
  const max = limits.permission_names_per_request_max;
  const perChannel = 2 * people.length;
  const groups = { can_send_message_group: naming(people), can_resolve_topics_group: naming(people) };
  const most = limits.channels_created_per_request_max;
  // The bound in sum is larger than the schema lets this few people reach, so each of them is named often.
  const often = {
    ...groups,
    can_subscribe_group: naming(Array.from({ length: max / most - perChannel }, () => ownerId)),
  };
  const refused = `Permissions name too many users (maximum ${max} in one request). Use a user group.`;
  t.equal(codeOf(await bench.ask(withGroups(commands.subscribe(names(most), null), often))), "ok");
  const beyond = { ...often, can_resolve_topics_group: naming([...people, ownerId]) };
  t.equal(codeOf(await bench.ask(withGroups(commands.subscribe(names(most, "d"), null), beyond))), refused);
  t.equal(bench.realm.view.channels.byName("d0"), undefined, "nothing is written");
  const channel = bench.realm.view.channels.byName("c0");
  t.equal(bench.realm.view.groups.get(channel?.groups.can_send_message_group ?? 0)?.memberIds.length, people.length);
});

t.test("[S3] permission_names_per_realm_max: beyond it a permission needs a user group", async (t) => {
  const bench = await openNewRealm(t);
  const value = naming([ownerId]);
  const request = (name: string) => withGroups(commands.subscribe([name], null), { can_resolve_topics_group: value });
  const row = (id: number) => namedInPermission(id, 20_000);
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
  t.equal(codeOf(await bench.ask(request("last"))), "ok");
  const refused = "Permissions in this organization name too many users. Use a user group.";
  t.equal(codeOf(await bench.ask(request("beyond"))), refused);
  t.equal(codeOf(await bench.ask(commands.subscribe(["by default"], null))), "ok");
  fill(bench.realm, "groups", [[first, { ...row(first), memberIds: [] }]]);
  t.equal(codeOf(await bench.ask(request("again"))), "ok", "the names that are gone count no more");
});

t.test("[S3, D267] permission_names_per_person_max: a person and the person's bots; not administrators", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0] = await createUsers(bench, 2);
  const bot = answerOf(await bench.ask(commands.createBot(1, 1, person)))["user_id"] as number;
  const most = limits.permission_names_per_person_max;
  const refused = `You have named too many users in permissions (maximum ${most}). Use a user group.`;
  const create = (name: string, ids: readonly number[], by: number) =>
    bench.ask(withGroups(commands.subscribe([name], null, by), { can_resolve_topics_group: naming(ids) }));
  // The creator holds the permission to administer the channel.
  t.equal(codeOf(await create("own", [ownerId, other, person], person)), "ok");
  t.equal(bench.realm.view.groups.namesInPermissionsBy(person), 4);
  const earlier: GroupRecord = {
    ...namedInPermission(1000, most - 4 - 3),
    creatorId: person,
  };
  fill(bench.realm, "groups", [[earlier.id, earlier]]);
  t.equal(codeOf(await create("by bot", [ownerId, other], bot)), "ok", "at the bound, with the bot as its creator");
  t.equal(bench.realm.view.groups.namesInPermissionsBy(person), most, "the bot's names are the person's");
  for (const by of [person, bot]) t.equal(codeOf(await create("beyond", [ownerId], by)), refused);
  t.equal(codeOf(await bench.ask(commands.createChannel("by default", [], person))), "ok");
  t.equal(codeOf(await create("another's", [ownerId], other)), "ok");
  const own = bench.realm.view.channels.byName("own")?.id ?? 0;
  const change = (ids: readonly number[], by: number) =>
    bench.ask(changeGroups(own, { can_resolve_topics_group: { new: naming(ids) } }, by));
  t.equal(codeOf(await change([ownerId, other, person, bot], person)), refused);
  t.equal(codeOf(await change([ownerId, other], person)), "ok", "fewer names are always possible");
  t.equal(codeOf(await change([ownerId, other, person, bot], ownerId)), "ok", "an administrator has no such bound");
  const { groups } = bench.realm.view;
  t.equal(
    groups.namesInPermissionsBy(person),
    most + 1 - 3,
    "names that an administrator gave are the administrator's",
  );
  t.strictSame(bench.rebuilt(), bench.snapshot());
});

t.test("[S3] permission_names_per_realm_max: fewer names are possible where there are too many", async (t) => {
  const bench = await openNewRealm(t);
  const people = [ownerId, ...(await createUsers(bench, 3))];
  const groups = { can_resolve_topics_group: naming(people) };
  t.equal(codeOf(await bench.ask(withGroups(commands.subscribe(["c"], null), groups))), "ok");
  const { view } = bench.realm;
  const room = limits.permission_names_per_realm_max - view.groups.namesInPermissions;
  fill(bench.realm, "groups", [[1000, namedInPermission(1000, room + 10)]]);
  const id = view.channels.byName("c")?.id ?? 0;
  const change = (ids: readonly number[]) =>
    bench.ask(changeGroups(id, { can_resolve_topics_group: { new: naming(ids) } }));
  t.equal(codeOf(await change(people.slice(1))), "ok");
  t.equal(codeOf(await change(people)), "Permissions in this organization name too many users. Use a user group.");
});

t.test("[S3, D266] channels_created_per_person_per_day_max: a person with bots; not administrators", async (t) => {
  const bench = await openNewRealm(t);
  const [person = 0, other = 0] = await createUsers(bench, 2);
  const bot = answerOf(await bench.ask(commands.createBot(1, 1, person)))["user_id"] as number;
  const max = limits.channels_created_per_person_per_day_max;
  const refused = `You can create at most ${max} channels within 24 hours.`;
  const inRequest = limits.channels_created_per_request_max;
  for (let from = 0; from < max - inRequest; from += inRequest) {
    t.equal(codeOf(await bench.ask(commands.subscribe(names(inRequest, `${from} `), null, person))), "ok");
  }
  t.equal(codeOf(await bench.ask(commands.subscribe(names(inRequest - 1), null, person))), "ok");
  t.equal(codeOf(await bench.ask(commands.subscribe(["by bot", "one more"], null, bot))), refused);
  t.equal(codeOf(await bench.ask(commands.createChannel("by bot", [], bot))), "ok", "at the bound");
  t.equal(codeOf(await bench.ask(commands.createChannel("one more", [], person))), refused);
  t.equal(codeOf(await bench.ask(commands.createChannel("by another", [], other))), "ok");
  const [asOwner, ownersLast] = [names(max + 1, "owner's "), `owner's ${max}`];
  for (let from = 0; from <= max; from += inRequest) {
    await bench.ask(commands.subscribe(asOwner.slice(from, from + inRequest), null));
  }
  t.ok(bench.realm.view.channels.byName(ownersLast), "beyond the bound");
  bench.clock.advance(dayMs + 1);
  t.equal(codeOf(await bench.ask(commands.createChannel("a day later", [], person))), "ok");
});

t.test("a user whom many permissions name is in none of the lists that every check walks", async (t) => {
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
