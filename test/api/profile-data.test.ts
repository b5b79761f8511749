/**
 * Values of custom profile fields (public API: /users/me/profile_data; spec 2.6, 4.15; behaviour 2.15): validation,
 * permissions, and where they appear.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { makeBot } from "../support/bots.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { colours, enter, fieldTypes, makeField, profileOf } from "../support/profiles.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const { bot } = await makeBot(member, "machine");
const [gone = 0] = await server.users("gone", 1);
await owner.delete(`/users/${gone}`);

const fields = {
  short: await makeField(owner, "Motto", fieldTypes.short),
  long: await makeField(owner, "Biography", fieldTypes.long),
  list: await makeField(owner, "Colour", fieldTypes.list, { field_data: colours }),
  date: await makeField(owner, "Born", fieldTypes.date),
  link: await makeField(owner, "Page", fieldTypes.link),
  people: await makeField(owner, "Mentors", fieldTypes.people),
  account: await makeField(owner, "GitHub", fieldTypes.account, { field_data: { subtype: "github" } }),
  pronouns: await makeField(owner, "Pronouns", fieldTypes.pronouns),
  fixed: await makeField(owner, "Badge", fieldTypes.short, { editable_by_user: false }),
};
type Name = keyof typeof fields;

const text = (length: number) => "🙂".repeat(length);
const { profile_short_text_code_points_max: shortMax, profile_long_text_code_points_max: longMax } = limits;
const link = (length: number) => `https://e.com/${"p".repeat(length - 14)}`;

t.test("each type of field accepts its values, up to its limit", async (t) => {
  const people = [owner.userId, member.userId];
  const cases: readonly (readonly [Name, unknown, string?])[] = [
    ["short", "a motto"],
    ["short", text(shortMax)],
    ["long", text(longMax)],
    ["list", "red"],
    ["date", "2000-02-29"],
    ["date", "0001-01-01"],
    ["link", "http://example.com"],
    ["link", link(limits.url_code_points_max)],
    ["people", people, JSON.stringify(people)],
    ["people", [...people, owner.userId], JSON.stringify(people)],
    ["people", JSON.stringify(people), JSON.stringify(people)],
    ["account", text(shortMax)],
    ["pronouns", "they/them"],
  ];
  for (const [name, value, stored] of cases) {
    await expects(t, enter(member, fields[name], value), success(), name);
    const entered = (await profileOf(member))[fields[name]];
    t.equal(entered.value, stored ?? value, name);
    t.equal(
      "rendered_value" in entered,
      name === "short" || name === "long",
      "[spec 2.6] only for types with Markdown",
    );
  }
});

t.test("each type rejects other values with its exact error message, and nothing changes", async (t) => {
  const changes = await owner.watchChanges();
  const cases: readonly (readonly [Name, unknown, string])[] = [
    ["short", text(shortMax + 1), `Motto is too long (limit: ${shortMax} characters)`],
    ["short", [1], "Motto is not a string"],
    ["long", text(longMax + 1), `Biography is too long (limit: ${longMax} characters)`],
    ["list", "Red", "'Red' is not a valid choice for 'Colour'."],
    ["list", "constructor", "'constructor' is not a valid choice for 'Colour'."],
    ["date", "29.2.2000", "Born is not a date"],
    ["date", "2001-02-29", "Born is not a date"],
    ["date", "2000-2-29", "Born is not a date"],
    ["date", "2000-13-01", "Born is not a date"],
    ["date", "0000-01-01", "Born is not a date"],
    ["date", "2000-01-01T00:00", "Born is not a date"],
    ["link", "example.com", "Page is not a URL"],
    ["link", "javascript:alert(1)", "Page is not a URL"],
    ["link", "https://e.com/ x", "Page is not a URL"],
    ["link", link(limits.url_code_points_max + 1), "Page is not a URL"],
    ["people", "7", "User IDs is not a list"],
    ["people", "me", "User IDs is not a list"],
    ["people", '["a"]', "User IDs[0] is not an integer"],
    ["people", [999_999], "Invalid user ID: 999999"],
    ["people", [member.userId, gone], `User with ID ${gone} is deactivated`],
    ["people", [bot.userId], `User with ID ${bot.userId} is a bot`],
    ["account", text(shortMax + 1), `GitHub username is too long (limit: ${shortMax} characters)`],
    ["pronouns", text(shortMax + 1), `Pronouns is too long (limit: ${shortMax} characters)`],
    ["fixed", "mine", "You are not allowed to change this field. Contact an administrator to update it."],
    ["fixed", null, "You are not allowed to change this field. Contact an administrator to update it."],
  ];
  for (const [name, value, msg] of cases) {
    await expects(t, enter(member, fields[name], value), msg, `${name} ${String(value).slice(0, 40)}`);
  }
  await expects(t, enter(member, 999_999, "x"), "Field id 999999 not found.");
  const shapes: readonly (readonly [unknown, string])[] = [
    [{}, "data is not a list"],
    [["x"], "data[0] is not a dict"],
    [[{ value: "x" }], 'data[0]["id"] field is missing'],
    [[{ id: 1 }], 'data[0]["value"] field is missing'],
    [[{ id: "1", value: "x" }], 'data[0]["id"] is not an integer'],
    [[{ id: 1, value: 7 }], 'data[0]["value"] is not a string'],
    [[{ id: 1, value: ["x"] }], 'data[0]["value"][0] is not an integer'],
    [
      Array.from({ length: limits.profile_fields_max + 1 }, () => ({ id: 1, value: null })),
      `data is too long (limit: ${limits.profile_fields_max} items)`,
    ],
  ];
  for (const [data, msg] of shapes) {
    await expects(t, member.patch("/users/me/profile_data", { data }), msg, msg);
  }
  const missing = refusal("Missing 'data' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "data" });
  await expects(t, member.patch("/users/me/profile_data"), missing);
  await expects(t, member.delete("/users/me/profile_data"), missing);
  t.strictSame(await changes(), []);
});

t.test("[S3] profile_people_max: one more user in a value is rejected", async (t) => {
  const crowded = await server.users("mentor", limits.profile_people_max + 1);
  await expects(t, enter(member, fields.people, crowded.slice(1)), success());
  const msg = (what: string) => refusal(`${what} is too long (limit: ${limits.profile_people_max} items)`);
  await expects(t, enter(member, fields.people, crowded), msg('data[0]["value"]'));
  await expects(t, enter(member, fields.people, JSON.stringify(crowded)), msg("User IDs"));
});

t.test("[spec 2.6] texts have a rendered_value: Markdown as in messages, escaped", async (t) => {
  const rendered = async (value: string, by: Client = member) => {
    await enter(by, fields.long, value);
    return (await profileOf(by))[fields.long].rendered_value;
  };
  t.equal(await rendered("**bold**"), "<p><strong>bold</strong></p>");
  t.equal(await rendered("<b>no</b>"), "<p>&lt;b&gt;no&lt;/b&gt;</p>");
  t.match(await rendered("#**general**"), /<a class="stream" data-stream-id="1"/);
});

t.test("[behaviour 2.8] an empty value of any form removes a value; DELETE ignores missing ones", async (t) => {
  for (const nothing of [null, "", []]) {
    await enter(member, fields.short, "here");
    await expects(t, enter(member, fields.short, nothing), success());
    t.notOk(fields.short in (await profileOf(member)));
  }
  await enter(member, fields.short, "a");
  await enter(member, fields.date, "2000-01-01");
  const remove = async (data: unknown) => outcome(await member.delete("/users/me/profile_data", { data }));
  t.strictSame(await remove([fields.short, 999_999]), refusal("Field id 999999 not found."));
  t.ok(fields.short in (await profileOf(member)), "all or nothing");
  t.strictSame(await remove([fields.short, fields.date]), success());
  t.notOk(fields.date in (await profileOf(member)));
  const changes = await owner.watchChanges();
  t.strictSame(await remove([fields.short]), success());
  t.strictSame(await remove([]), success());
  t.strictSame(
    await remove([fields.fixed]),
    refusal("You are not allowed to change this field. Contact an administrator to update it."),
  );
  t.strictSame(await changes(), []);
});

t.test("one invalid value rejects the request; of two values for a field the later counts", async (t) => {
  const set = async (data: unknown) => outcome(await guest.patch("/users/me/profile_data", { data }));
  t.strictSame(
    await set([
      { id: fields.short, value: "half" },
      { id: fields.date, value: "never" },
    ]),
    refusal("Born is not a date"),
  );
  t.strictSame(await profileOf(guest), {});
  t.strictSame(
    await set([
      { id: fields.short, value: "one" },
      { id: fields.short, value: "two" },
    ]),
    success(),
  );
  t.equal((await profileOf(guest))[fields.short].value, "two");
});

t.test("users of every role fill in their profile, bots have none; administrators change every field", async (t) => {
  for (const client of [owner, administrator, moderator, member, guest]) {
    t.equal((await enter(client, fields.pronouns, "any")).status, 200);
    t.equal(
      (await enter(client, fields.fixed, "own")).status,
      client === owner || client === administrator ? 200 : 400,
    );
  }
  const notForBots = refusal("This endpoint does not accept bot requests.");
  await expects(t, enter(bot, fields.pronouns, "it"), notForBots);
  await expects(t, bot.delete("/users/me/profile_data", { data: [fields.pronouns] }), notForBots);
  t.equal((await owner.anonymous().patch("/users/me/profile_data", { data: [] })).status, 401);
});

t.test("[spec 2.6, 4.15] user lists include profiles on request, for users who are not bots", async (t) => {
  await enter(member, fields.short, "hello");
  const expected = await profileOf(member);
  const seen = async (by: Client, params: Record<string, unknown>) => {
    const { body } = await by.get("/users", params);
    return new Map<number, Record<string, unknown>>(
      body.members.map((user: { user_id: number }) => [user.user_id, user]),
    );
  };
  const withProfiles = await seen(guest, { include_custom_profile_fields: true });
  t.strictSame(withProfiles.get(member.userId)?.["profile_data"], expected);
  t.notOk("profile_data" in (withProfiles.get(bot.userId) ?? {}));
  t.notOk("profile_data" in ((await seen(guest, {})).get(member.userId) ?? {}));
  const state = await guest.register({ fetch_event_types: ["realm_user"] });
  const listed = state["realm_users"] as { user_id: number; profile_data?: unknown }[];
  t.strictSame(listed.find((user) => user.user_id === member.userId)?.profile_data, expected);
  t.equal(listed.find((user) => user.user_id === bot.userId)?.profile_data, undefined);
});

t.test("[S1] a guest cannot find out through a value whether a user exists", async (t) => {
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const strange = await enter(guest, fields.people, [moderator.userId]);
  t.strictSame(outcome(strange), refusal(`Invalid user ID: ${moderator.userId}`));
  t.equal((await enter(guest, fields.people, [guest.userId])).status, 200);
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("[M7] a value set while its field is deleted is rejected or deleted with it", async (t) => {
  const id = await makeField(owner, "Racing", fieldTypes.short);
  const [removed] = await Promise.all([owner.delete(`/realm/profile_fields/${id}`), enter(member, id, "late")]);
  t.equal(removed.status, 200);
  await server.realm.dispatcher.idle();
  t.equal(server.realm.lmdb.get("profileValues", [member.userId, id]), undefined);
});

t.test("[spec 4.8] administrators set any user's values with PATCH /users/{user_id}, by the same rules", async (t) => {
  const set = async (by: Client, id: number, data: unknown) =>
    outcome(await by.patch(`/users/${id}`, { profile_data: data }));
  const data = [
    { id: fields.fixed, value: "given" },
    { id: fields.long, value: "*given*" },
  ];
  t.strictSame(await set(administrator, guest.userId, data), success());
  t.match(await profileOf(guest), {
    [fields.fixed]: { value: "given" },
    [fields.long]: { value: "*given*", rendered_value: "<p><em>given</em></p>" },
  });
  t.strictSame(await set(administrator, guest.userId, [{ id: fields.fixed, value: "" }]), success());
  t.notOk(fields.fixed in (await profileOf(guest)));
  const badDate = [...data, { id: fields.date, value: "never" }];
  t.strictSame(await set(owner, guest.userId, badDate), refusal("Born is not a date"));
  t.notOk(fields.fixed in (await profileOf(guest)), "all or nothing");
  t.strictSame(await set(moderator, guest.userId, data), refusal("Insufficient permission"));
  t.strictSame(await set(owner, bot.userId, data), refusal("Bots have no custom profile fields"));
  t.strictSame(await set(owner, bot.userId, []), success());
});
