/**
 * PATCH /settings and its two older paths (spec 2.3, 4.1; behaviour 2.1): every row, names, time zones, and atomic
 * requests.
 */
import t from "tap";
import { languages } from "../../schemas/languages.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import {
  programDefaults,
  rows,
  sectionOf,
  settingsOf,
  soundNames,
  watchSettings,
  wrongValues,
} from "../support/settings.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");

const choices = {
  emojiset_choices: [
    { key: "google", text: "Google" },
    { key: "twitter", text: "Twitter" },
    { key: "text", text: "Plain text" },
  ],
  available_notification_sounds: soundNames,
};

async function nameOf(client: Client): Promise<string> {
  return (await client.get("/users/me")).body.full_name;
}

t.test("[spec 2.3] a new user has the public server's defaults, and /register returns every row", async (t) => {
  t.strictSame(await settingsOf(await server.user("newcomer")), { ...programDefaults, ...choices });
});

t.test("[spec 2.3] every allowed value of every row with S = Y is accepted, stored and returned", async (t) => {
  const person = await server.user("collector");
  let expected: Params = {};
  for (let pass = 0; pass < Math.max(...Object.values(rows).map(({ S }) => S.length)); pass++) {
    const left = Object.entries(rows).filter(([, { S }]) => pass < S.length);
    const chosen = Object.fromEntries(left.map(([name, { S }]) => [name, S[pass]]));
    expected = { ...expected, ...chosen };
    await expects(t, person.patch("/settings", chosen), success(), `pass ${pass}`);
    t.strictSame(await settingsOf(person), { ...expected, ...choices });
  }
  const { status } = await person.patch("/settings", programDefaults);
  t.equal(status, 200);
  t.strictSame(await settingsOf(person), { ...programDefaults, ...choices });
  t.strictSame(server.realm.view.users.get(person.userId)?.settings, {}, "a value equal to the default is not stored");
});

t.test("[behaviour 1.3, 2.1] invalid values of every row are rejected with their messages", async (t) => {
  const changes = await watchSettings(member);
  const before = await settingsOf(member);
  for (const [name, { S }] of Object.entries(rows)) {
    for (const [value, message] of wrongValues(name, S)) {
      await expects(t, member.patch("/settings", { [name]: value }), message, `${name}=${value}`);
    }
  }
  t.strictSame(await settingsOf(member), before);
  t.strictSame(await changes(), []);
});

t.test("[D10] web_channel_default_view=3 is allowed as an organization default only", async (t) => {
  await expects(t, member.patch("/settings", { web_channel_default_view: 3 }), "Invalid web_channel_default_view");
});

t.test("[spec 4.1] users of every role may change their own settings; bots may not", async (t) => {
  const people = Object.entries(roles).map(([name, role]) => server.user(`every ${name}`.replace(" ", "."), role));
  for (const person of await Promise.all(people)) {
    await expects(t, person.patch("/settings", { color_scheme: 2, full_name: "Someone" }), success());
    t.match(await settingsOf(person), { color_scheme: 2 });
  }
  const bot = await server.bot("bot", owner);
  const refused = refusal("This endpoint does not accept bot requests.");
  await expects(t, bot.patch("/settings", { color_scheme: 2 }), refused);
  await expects(t, bot.patch("/settings", { color_scheme: 9 }), refused, "before the parameters are read");
  t.equal((await owner.anonymous().patch("/settings", { color_scheme: 2 })).status, 401);
});

t.test("[behaviour 2.1] the deprecated paths /settings/display and /settings/notifications do the same", async (t) => {
  const person = await server.user("traditional");
  for (const [path, color] of [
    ["/settings/display", 2],
    ["/settings/notifications", 3],
  ] as const) {
    const params = { color_scheme: color, enable_sounds: color === 3, full_name: `Color ${color}`, unheard_of: 1 };
    const listed = success({ ignored_parameters_unsupported: ["unheard_of"] });
    await expects(t, person.patch(path, params), listed, path);
    t.match(await settingsOf(person), { color_scheme: color, enable_sounds: color === 3 });
    t.equal(await nameOf(person), `Color ${color}`);
    await expects(t, person.patch(path, { color_scheme: 4 }), "Invalid color_scheme");
  }
});

t.test("[spec 2.1] parameters that are no settings are ignored and listed", async (t) => {
  const params = { zebra: "1", dense_mode: true, color_scheme: 1, role: 100, is_admin: true, timezone_name: "x" };
  await expects(
    t,
    member.patch("/settings", params),
    success({ ignored_parameters_unsupported: ["dense_mode", "is_admin", "role", "timezone_name", "zebra"] }),
  );
  await expects(t, member.patch("/settings", {}), success(), "an empty request does nothing");
  const dangerous = await member.patch("/settings", { constructor: "x", toString: "x" });
  t.strictSame(outcome(dangerous), success({ ignored_parameters_unsupported: ["constructor", "toString"] }));
});

t.test("[spec 4.1] one invalid value rejects the whole request", async (t) => {
  const person = await server.user("whole");
  const before = { settings: await settingsOf(person), name: await nameOf(person) };
  const changes = await watchSettings(person);
  const good = { color_scheme: 3, enable_sounds: false, full_name: "Changed", timezone: "Europe/Berlin" };
  const wrong: readonly (readonly [Params, string])[] = [
    [{ user_list_style: 9 }, "Invalid user_list_style"],
    [{ full_name: "" }, "Name too short!"],
    [{ timezone: "Moon" }, "timezone is not a recognized time zone"],
    [{ default_language: "xx" }, "Invalid default_language"],
    [{ notification_sound: "drum" }, "Invalid notification sound 'drum'"],
    [{ new_password: "a new password", old_password: "no" }, "Wrong password!"],
    [{ email: "nobody" }, "Enter a valid email address."],
  ];
  for (const [params, message] of wrong) {
    await expects(t, person.patch("/settings", { ...good, ...params }), message);
  }
  t.strictSame({ settings: await settingsOf(person), name: await nameOf(person) }, before);
  t.strictSame(await changes(), []);
});

t.test("[behaviour 2.1] full_name is trimmed, has at most 100 code points and no forbidden characters", async (t) => {
  const person = await server.user("named");
  const longest = "🍎".repeat(limits.full_name_code_points_max);
  for (const name of ["  Ada Lovelace ", longest, "O'Brien-Śmith 3rd", "name|x"]) {
    await expects(t, person.patch("/settings", { full_name: name }), success());
    t.equal(await nameOf(person), name.trim());
  }
  const refused: readonly (readonly [string, string])[] = [
    ["", "Name too short!"],
    ["   ", "Name too short!"],
    [`${longest}x`, "Name too long!"],
    ["name|123", "Invalid format!"],
    ...["*", "`", "\\", ">", '"', "@", "\n", "\0", "\u{fdd0}"].map(
      (character) => [`a${character}b`, "Invalid characters in name!"] as const,
    ),
  ];
  for (const [name, message] of refused) {
    await expects(t, person.patch("/settings", { full_name: name }), message, JSON.stringify(name));
  }
  t.equal(await nameOf(person), "name|x");
});

t.test("[behaviour 2.1] two users may have the same name; a renamed user is found by the new one", async (t) => {
  const [first, second] = [await server.user("twin"), await server.user("other")];
  await expects(t, second.patch("/settings", { full_name: await nameOf(first) }), success());
  const unique = "The Renamed";
  await second.patch("/settings", { full_name: unique });
  const id = await owner.say("general", "names", `@**${unique}**`);
  const { body } = await owner.get(`/messages/${id}`);
  t.match(body.message.content, `data-user-id="${second.userId}"`);
});

t.test("[behaviour 2.1] timezone takes IANA names, stored in one form; others see it in the profile", async (t) => {
  const person = await server.user("traveller");
  const forms: readonly (readonly [string, string])[] = [
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Kolkata"],
    ["Europe/Kiev", "Europe/Kyiv"],
    ["europe/berlin", "Europe/Berlin"],
    ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["UTC", "UTC"],
    ["", ""],
  ];
  for (const [sent, stored] of forms) {
    await expects(t, person.patch("/settings", { timezone: sent }), success());
    const { body } = await member.get("/users", { user_ids: [person.userId] });
    t.strictSame([body.members[0].timezone, (await settingsOf(person)).timezone], [stored, stored], sent);
  }
});

t.test("[spec 2.3] email: requesting the present email changes nothing", async (t) => {
  const address = member.account?.email ?? "";
  for (const email of [address, ` ${address} `]) {
    await expects(t, member.patch("/settings", { email }), success({ server_sends_email: false }));
  }
  const tooLong = "e".repeat(limits.email_code_points_max + 1);
  await expects(
    t,
    member.patch("/settings", { email: tooLong }),
    `email is too long (limit: ${limits.email_code_points_max} characters)`,
  );
});

t.test("[spec 2.3] enable_drafts_synchronization=false deletes the user's drafts and nobody else's", async (t) => {
  const [person, other] = [await server.user("drafter"), await server.user("keeper")];
  const draft = { type: "", to: [], topic: "", content: "unfinished", changedAt: 1 } as const;
  for (const [id, client] of [person, person, other].entries()) {
    server.write("drafts", [client.userId, id + 1], { ...draft, id: id + 1, userId: client.userId });
  }
  const { view } = server.realm;
  const countOf = ({ userId }: Client) => view.keys("drafts", { start: [userId], end: [userId + 1], limit: 9 }).length;
  await person.patch("/settings", { enable_drafts_synchronization: true });
  t.strictSame([countOf(person), countOf(other)], [2, 1], "it was on before");
  const follower = await person.follow();
  await person.patch("/settings", { enable_drafts_synchronization: false });
  t.strictSame([countOf(person), countOf(other)], [0, 1]);
  const types = (await follower.settled()).map((event) => event.type);
  t.strictSame([...new Set(types)].sort(), ["update_display_settings", "user_settings"], "no events about drafts");
});

t.test("[D31] settings that the server implements take effect: typing, emoticons, notification fields", async (t) => {
  const [writer, reader] = [await server.user("writer"), await server.user("reader")];
  await writer.patch("/settings", { translate_emoticons: true });
  const id = await writer.say("general", "smile", "hello :)");
  t.match((await owner.get(`/messages/${id}`)).body.message.content, /class="emoji/);
  const typing = () => writer.post("/typing", { op: "start", to: [reader.userId] });
  await writer.patch("/settings", { send_private_typing_notifications: false });
  t.strictSame(outcome(await typing()).status, 400);
  const follower = await reader.follow({ event_types: ["typing", "message"] });
  await writer.patch("/settings", { send_private_typing_notifications: true });
  await reader.patch("/settings", { receives_typing_notifications: false });
  await typing();
  await follower.settled();
  t.strictSame(follower.ofType("typing"), []);
  await reader.patch("/settings", { enable_stream_desktop_notifications: true, wildcard_mentions_notify: false });
  const state = await reader.register({ fetch_event_types: ["subscription"] });
  const [subscription] = state["subscriptions"] as Record<string, unknown>[];
  t.match(subscription, { desktop_notifications: true, push_notifications: false, wildcard_mentions_notify: false });
});

t.test("[behaviour 4.1] only older clients get display and notification settings at the top level", async (t) => {
  const person = await server.user("older");
  await person.patch("/settings", { color_scheme: 3, enable_sounds: false, timezone: "Europe/Berlin" });
  const display = await sectionOf(person, "update_display_settings");
  t.match(display, { color_scheme: 3, timezone: "Europe/Berlin", emojiset_choices: choices.emojiset_choices });
  t.notOk("enable_sounds" in display || "user_list_style" in display);
  const notifications = await sectionOf(person, "update_global_notifications");
  t.match(notifications, { enable_sounds: false, available_notification_sounds: soundNames });
  t.notOk("color_scheme" in notifications || "enable_followed_topic_email_notifications" in notifications);
  for (const type of ["update_display_settings", "update_global_notifications"]) {
    t.strictSame(await sectionOf(person, type, ["user_settings_object"]), {});
  }
});

t.test("[behaviour 2.1] every language has its own name", async (t) => {
  t.ok(Object.keys(languages).length > 40);
  t.equal(new Set(Object.values(languages)).size, Object.keys(languages).length);
});
