/**
 * PATCH /realm/user_settings_defaults (spec 2.3, 4.2; behaviour 2.2) affects new users only and is restricted to
 * administrators.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { expects, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import {
  defaultsOf,
  programDefaults,
  rows,
  settingsOf,
  soundNames,
  watchSettings,
  wrongValues,
} from "../support/settings.ts";

const server = await startTestServer(t);
const { owner } = server;
const path = "/realm/user_settings_defaults";

const choices = {
  emojiset_choices: [
    { key: "google", text: "Google" },
    { key: "twitter", text: "Twitter" },
    { key: "text", text: "Plain text" },
  ],
  available_notification_sounds: soundNames,
};
const { timezone: _noDefault, ...firstDefaults } = programDefaults;
const accepted = Object.entries(rows).flatMap(([name, { D }]) => (D === null ? [] : [[name, D] as const]));
const refusedNames = Object.keys(rows).filter((name) => rows[name]?.D === null);

t.test("[spec 2.3] every allowed value of every row with D = Y is accepted, stored and returned", async (t) => {
  t.strictSame(await defaultsOf(owner), { ...firstDefaults, ...choices });
  let expected: Record<string, unknown> = firstDefaults;
  for (let pass = 0; pass < Math.max(...accepted.map(([, values]) => values.length)); pass++) {
    const left = accepted.filter(([, values]) => pass < values.length);
    const chosen = Object.fromEntries(left.map(([name, values]) => [name, values[pass]]));
    expected = { ...expected, ...chosen };
    await expects(t, owner.patch(path, chosen), success(), `pass ${pass}`);
    t.strictSame(await defaultsOf(owner), { ...expected, ...choices });
  }
  const back = Object.fromEntries(accepted.map(([name]) => [name, programDefaults[name]]));
  await expects(t, owner.patch(path, back), success());
  t.strictSame(server.realm.view.realm.userDefaults, {}, "a value equal to the default is not stored");
});

t.test("[behaviour 1.3, 2.2] invalid values of every row are rejected with their messages", async (t) => {
  const changes = await watchSettings(owner);
  for (const [name, values] of accepted) {
    for (const [value, message] of wrongValues(name, values)) {
      await expects(t, owner.patch(path, { color_scheme: 3, [name]: value }), message, name);
    }
  }
  t.strictSame(await defaultsOf(owner), { ...firstDefaults, ...choices });
  t.strictSame(await changes(), []);
});

t.test("[behaviour 2.2] a setting without an organization default is ignored and listed", async (t) => {
  t.strictSame(refusedNames.sort(), [
    "allow_private_data_export",
    "default_language",
    "enable_login_emails",
    "enable_marketing_emails",
    "timezone",
  ]);
  const own = { full_name: "X", email: "x@example.com", old_password: "x", new_password: "x", unheard_of: true };
  const params = { ...own, ...Object.fromEntries(refusedNames.map((name) => [name, rows[name]?.S[1]])) };
  await expects(t, owner.patch(path, params), success({ ignored_parameters_unsupported: Object.keys(params).sort() }));
  t.strictSame(await defaultsOf(owner), { ...firstDefaults, ...choices });
});

t.test("[spec 4.2] only administrators and their bots may change defaults; this is checked first", async (t) => {
  const refused = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
  for (const [name, role] of Object.entries(roles)) {
    const person = await server.user(`by.${name}`, role);
    const may = role <= roles.administrator;
    await expects(t, person.patch(path, { color_scheme: 3 }), may ? success() : refused, name);
    await expects(t, person.patch(path, { color_scheme: 7 }), may ? refusal("Invalid color_scheme") : refused);
    await owner.patch(path, { color_scheme: 1 });
  }
  await expects(t, (await server.bot("a bot", owner)).patch(path, { color_scheme: 3 }), refused);
  t.equal((await owner.anonymous().patch(path, { color_scheme: 3 })).status, 401);
  t.strictSame(await defaultsOf(owner), { ...firstDefaults, ...choices });
});

t.test("[behaviour 2.2] everybody receives an event for each changed default and no other", async (t) => {
  const people = [owner, await server.user("hearer"), await server.user("hearing.guest", roles.guest)];
  const followers = await Promise.all(people.map((client) => client.follow()));
  await owner.patch(path, { color_scheme: 2, enable_sounds: true, web_home_view: "all_messages" });
  const event = (property: string, value: unknown) => ({
    type: "realm_user_settings_defaults",
    op: "update",
    property,
    value,
  });
  for (const follower of followers) {
    await follower.settled();
    t.strictSame(follower.ofType("realm_user_settings_defaults"), [
      event("color_scheme", 2),
      event("web_home_view", "all_messages"),
    ]);
    t.strictSame(follower.ofType("user_settings"), [], "nobody's own changed");
    follower.events.splice(0);
  }
  await owner.patch(path, { color_scheme: 2, web_home_view: "all_messages" });
  for (const follower of followers)
    t.strictSame(
      (await follower.settled()).map(({ type }) => type).filter((type) => type !== "message"),
      [],
    );
  await owner.patch(path, { color_scheme: 1, web_home_view: "inbox" });
});

t.test("[spec 4.2] new users get the defaults; existing users keep their values, set or not", async (t) => {
  const [untouched, own] = [await server.user("untouched"), await server.user("own")];
  await own.patch("/settings", { color_scheme: 3, enable_sounds: false });
  const before = [await settingsOf(untouched), await settingsOf(own)];
  const chosen = {
    color_scheme: 2,
    enable_sounds: false,
    web_channel_default_view: 3,
    email_address_visibility: 3,
    email_notifications_batching_period_seconds: 600,
  };
  await owner.patch(path, chosen);
  t.strictSame([await settingsOf(untouched), await settingsOf(own)], before);
  const byRequest = await server.person("By Request");
  const byServer = await server.user("by.server", roles.guest);
  for (const person of [byRequest, byServer]) {
    t.strictSame(await settingsOf(person), { ...programDefaults, ...chosen, ...choices });
  }
  const { body } = await untouched.get("/users", { user_ids: [byRequest.userId] });
  t.match(body.members[0], { email: `user${byRequest.userId}@colloquy.invalid`, delivery_email: null });
  await owner.patch(path, { color_scheme: 1, enable_sounds: true, email_address_visibility: 1 });
  t.match(
    await settingsOf(byRequest),
    chosen,
    "new users have their own copy, so reverting a default does not affect them",
  );
  await byRequest.patch("/settings", { color_scheme: 1 });
  t.equal((await settingsOf(byRequest)).color_scheme, 1, "they may return to the built-in value");
});
