/**
 * Events of changed settings (behaviour 2.1, 4.3): the user's own queues receive them in the form that they support,
 * others only what they may see. No event without a change; the same on replay and after a restart.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { Client, type Event, type Follower } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { rows, settingsOf } from "../support/settings.ts";

/** The coalescing interval of one second plus the resolution of the volatile timers. */
const publishedMs = limits.presence_coalesce_ms + 200;

const clock = new ManualClock(Date.UTC(2031, 4, 5, 6, 7, 8));
const server = await startTestServer(t, { clock });
const watcher = await server.user("watcher");

const modern = { client_capabilities: { notification_settings_null: true, user_settings_object: true } };
const settingsTypes = ["user_settings", "update_display_settings", "update_global_notifications"];

/** Events since the last call, all or of some types. Messages only mark the end and are left out. */
async function receivedEvents(follower: Follower, ...types: string[]): Promise<Event[]> {
  await follower.settled();
  const isWanted = ({ type }: Event) => (types.length === 0 ? type !== "message" : types.includes(type));
  const events = follower.events.filter(isWanted);
  follower.events.splice(0);
  return events.map(({ id: _id, ...rest }) => rest);
}

const update = (property: string, value: unknown) => ({ type: "user_settings", op: "update", property, value });

t.test("[behaviour 2.1] only the user's own queues receive the event, in the form that they support", async (t) => {
  const person = await server.user("teller");
  const newer = await person.follow(modern);
  const older = await person.follow();
  const displayOnly = await person.follow({ event_types: ["update_display_settings", "message"] });
  const other = await watcher.follow();
  await person.patch("/settings", { high_contrast_mode: true, enable_sounds: false, user_list_style: 1 });
  const user = person.account?.email;
  const display = { type: "update_display_settings", user, setting_name: "high_contrast_mode", setting: true };
  const notification = {
    type: "update_global_notifications",
    user,
    notification_name: "enable_sounds",
    setting: false,
  };
  const [contrast, sounds, style] = [
    update("high_contrast_mode", true),
    update("enable_sounds", false),
    update("user_list_style", 1),
  ];
  t.strictSame(await receivedEvents(newer), [contrast, sounds, style]);
  t.strictSame(await receivedEvents(older), [contrast, display, sounds, notification, style]);
  t.strictSame(await receivedEvents(displayOnly), [display]);
  t.strictSame(await receivedEvents(other), []);
});

const displaySettings =
  `color_scheme default_language demote_inactive_streams emojiset enable_drafts_synchronization enter_sends
  fluid_layout_width high_contrast_mode left_side_userlist starred_message_counts timezone translate_emoticons
  twenty_four_hour_time web_home_view`.split(/\s+/);
const notificationSettings =
  `desktop_icon_count_display email_notifications_batching_period_seconds enable_desktop_notifications
  enable_digest_emails enable_login_emails enable_marketing_emails enable_offline_email_notifications
  enable_offline_push_notifications enable_online_push_notifications enable_sounds enable_stream_audible_notifications
  enable_stream_desktop_notifications enable_stream_email_notifications enable_stream_push_notifications
  message_content_in_email_notifications notification_sound pm_content_in_desktop_notifications presence_enabled
  realm_name_in_email_notifications_policy wildcard_mentions_notify`.split(/\s+/);

t.test("each setting has its event and the older event of its kind", async (t) => {
  const person = await server.user("every");
  const follower = await person.follow({ event_types: [...settingsTypes, "message"] });
  const before = await settingsOf(person);
  for (const [name, { S }] of Object.entries(rows)) {
    const value = S.find((candidate) => candidate !== before[name]);
    await person.patch("/settings", { [name]: value });
    const [event, ...olderEvents] = await receivedEvents(follower);
    t.match(event, update(name, value));
    const kinds = olderEvents.map(({ type, setting, ...rest }) => {
      t.equal(setting, value);
      return [type, rest.setting_name ?? rest.notification_name];
    });
    const expected = [
      ...(displaySettings.includes(name) ? [["update_display_settings", name]] : []),
      ...(notificationSettings.includes(name) ? [["update_global_notifications", name]] : []),
    ];
    t.strictSame(kinds, expected, name);
  }
});

t.test("[behaviour 2.1] an unchanged value sends no event", async (t) => {
  const person = await server.user("constant");
  await person.patch("/settings", { color_scheme: 2, timezone: "Asia/Kolkata", full_name: "Constant" });
  const [own, other] = [await person.follow(), await watcher.follow()];
  const same = { color_scheme: 2, enable_sounds: true, timezone: "Asia/Calcutta", full_name: " Constant " };
  await person.patch("/settings", { ...same, presence_enabled: true, email_address_visibility: 1 });
  t.strictSame([await receivedEvents(own), await receivedEvents(other)], [[], []]);
  await person.patch("/settings", { ...same, color_scheme: 3 });
  t.strictSame((await receivedEvents(own, "user_settings")).length, 1, "of several settings, only the changed ones");
});

t.test("[behaviour 2.1] the event of default_language has the name of the language, in both forms", async (t) => {
  const person = await server.user("linguist");
  const follower = await person.follow();
  await person.patch("/settings", { default_language: "de" });
  t.strictSame(await receivedEvents(follower), [
    { ...update("default_language", "de"), language_name: "German" },
    {
      type: "update_display_settings",
      user: person.account?.email,
      setting_name: "default_language",
      setting: "de",
      language_name: "German",
    },
  ]);
});

t.test("[behaviour 2.1] users who see the user get full_name and timezone; only the user the setting", async (t) => {
  const person = await server.user("public");
  const guest = await server.user("guest", roles.guest);
  const [own, other, outsider] = [await person.follow(modern), await watcher.follow(), await guest.follow()];
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await person.patch("/settings", { full_name: "Publicly Known", timezone: "Asia/Calcutta" });
  const named = { type: "realm_user", op: "update", person: { user_id: person.userId, full_name: "Publicly Known" } };
  const zone = {
    type: "realm_user",
    op: "update",
    person: { user_id: person.userId, email: person.account?.email, timezone: "Asia/Kolkata" },
  };
  t.strictSame(await receivedEvents(own), [named, update("timezone", "Asia/Kolkata"), zone]);
  t.strictSame(await receivedEvents(other), [named, zone]);
  t.strictSame(await receivedEvents(outsider), [], "[S1] a guest who may not see the user receives nothing");
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("[S1] a replayed time zone event does not reveal an email that was hidden meanwhile", async (t) => {
  const person = await server.user("shy");
  const queue = await watcher.register({ event_types: ["realm_user"], fetch_event_types: [] });
  await person.patch("/settings", { timezone: "Europe/Berlin" });
  await person.patch("/settings", { email_address_visibility: 4 });
  const events = await watcher.readNow(queue);
  t.match(events[0], { person: { timezone: "Europe/Berlin", email: /^user\d+@/ } });
  t.notOk(JSON.stringify(events).includes(person.account?.email ?? "?"));
});

t.test("[behaviour 2.1] email_address_visibility: viewers get an event when it appears or goes", async (t) => {
  const person = await server.user("veiled");
  const admin = await server.user("admin", roles.administrator);
  const followers = await Promise.all([watcher, admin, person].map((client) => client.follow(modern)));
  await person.patch("/settings", { email_address_visibility: 3 });
  const [others, admins, own] = await Promise.all(followers.map((follower) => receivedEvents(follower, "realm_user")));
  const fields = (events: Event[] | undefined) => events?.map(({ person: changed }) => Object.keys(changed).sort());
  const api = [
    ["new_email", "user_id"],
    ["avatar_source", "avatar_url", "avatar_url_medium", "avatar_version", "user_id"],
  ];
  t.strictSame(fields(others), [["delivery_email", "user_id"], ...api]);
  t.equal(others?.[0].person.delivery_email, null);
  t.strictSame([fields(admins), fields(own)], [api, api]);
});

t.test("[behaviour 2.1] presence_enabled makes the user offline or active at once, with events", async (t) => {
  const person = await server.user("visible");
  const newer = await watcher.follow({ client_capabilities: { simplified_presence_events: true } });
  const report = () => person.post("/users/me/presence", { status: "active", ping_only: true });
  const shown = async () => {
    const { body } = await watcher.post("/users/me/presence", { status: "idle", slim_presence: true });
    return body.presences[person.userId];
  };
  const seen = async () =>
    (await receivedEvents(newer, "presence")).flatMap(({ presences }) => presences[person.userId] ?? []);
  const share = async (isShared: boolean) => {
    await person.patch("/settings", { presence_enabled: isShared });
    clock.advance(publishedMs);
  };
  const secondsNow = () => Math.floor(clock.now() / 1000);
  await report();
  clock.advance(publishedMs);
  await seen();
  const past = secondsNow() - limits.presence_hidden_s;
  await share(false);
  t.strictSame(await seen(), [{ active_timestamp: past, idle_timestamp: past }]);
  t.equal(await shown(), undefined);
  await report();
  clock.advance(publishedMs);
  t.strictSame(await seen(), [], "nothing is recorded");
  const now = { active_timestamp: secondsNow(), idle_timestamp: secondsNow() };
  await share(true);
  t.strictSame(await seen(), [now]);
  t.strictSame(await shown(), now);
  clock.advance((limits.presence_hidden_s + 1) * 1000);
  await share(false);
  const [hidden] = await seen();
  const offlineSince = secondsNow() - limits.presence_offline_threshold_s;
  t.ok(hidden.idle_timestamp < offlineSince && hidden.active_timestamp < offlineSince, "long after joining, too");
});

t.test("[M7] a report in flight when sharing is switched off is not recorded", async (t) => {
  const person = await server.user("racing");
  const { dispatcher, view } = server.realm;
  const { userId } = person;
  await person.patch("/settings", { presence_enabled: false });
  const report = command({ actor: "presence", userId }, "presence.report", { status: "active" }, userId);
  t.match(await dispatcher.ask(report), { kind: "ok" });
  const offlineSince = clock.now() - limits.presence_offline_threshold_s * 1000;
  t.ok((view.presence(userId)?.connectedAt ?? 0) < offlineSince);
});

t.test("[E2] sockets and long polls of a user get the same events, live and replayed", async (t) => {
  const person = await server.user("twice");
  const sockets = [await connect(person), await connect(person)];
  for (const socket of sockets) await socket.ask({ type: "register", event_types: ["user_settings"], ...modern });
  const queue = await person.register({ event_types: ["user_settings"], fetch_event_types: [], ...modern });
  const call = { type: "call", method: "PATCH", path: "/settings" };
  const reply = await sockets[0]?.ask({ ...call, params: { color_scheme: 2, enable_sounds: false } });
  t.equal(reply.result, "success");
  await person.patch("/settings", { color_scheme: 3 });
  const isLast = (event: Event) => event.property === "color_scheme" && event.value === 3;
  const repeated = await person.readNow(queue);
  const found = repeated.map(({ property, value }) => [property, value]);
  t.strictSame(found, [
    ["color_scheme", 2],
    ["enable_sounds", false],
    ["color_scheme", 3],
  ]);
  for (const socket of sockets) {
    await socket.event(isLast);
    t.strictSame(socket.events, repeated);
    socket.terminate();
  }
});

t.test("[E2] state before + events = fresh state, for random changes", async (t) => {
  const person = await server.user("model");
  const follower = await person.follow({ event_types: ["user_settings", "message"], ...modern });
  const state = await settingsOf(person);
  for (let round = 0; round < 6; round++) {
    const names = Object.keys(rows).filter((_, index) => (index + round) % 3 === 0);
    await person.patch("/settings", Object.fromEntries(names.map((name) => [name, rows[name]?.S.at(round % 2)])));
  }
  for (const { property, value } of await receivedEvents(follower, "user_settings")) state[property] = value;
  t.strictSame(state, await settingsOf(person));
});

t.test("[M1] changed settings survive a restart, and their events can be replayed", async (t) => {
  const first = await startTestServer(t);
  const person = await first.user("lasting");
  const queue = await person.register({ event_types: settingsTypes, fetch_event_types: [] });
  await person.patch("/settings", { color_scheme: 3, full_name: "Lasting", timezone: "Asia/Tokyo" });
  const before = { settings: await settingsOf(person), events: await person.readNow(queue) };
  t.match(before.settings, { color_scheme: 3, timezone: "Asia/Tokyo", enable_sounds: true });
  await first.stop();
  const second = await startTestServer(t, { dataDir: first.dataDir });
  const again = new Client(second.url, person.account);
  t.strictSame({ settings: await settingsOf(again), events: await again.readNow(queue) }, before);
  t.equal((await again.get("/users/me")).body.full_name, "Lasting");
});
