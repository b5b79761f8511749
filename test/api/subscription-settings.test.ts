/**
 * Subscription settings: POST /users/me/subscriptions/properties (public API: update-subscription-settings; behaviour
 * 4.4).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, refusal, success } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest } = await startServerWithUsers(t, ["member", "other", "guest"]);
const bot = await server.bot("helper", member);
const everybody = [owner, member, other, guest, bot];
const open = await owner.createChannel("open", everybody);
const second = await owner.createChannel("second", everybody);
const sealed = await owner.createChannel("sealed", [owner], { invite_only: true });
const unjoined = await owner.createChannel("unjoined", [owner]);
const gone = await owner.createChannel("gone", everybody);
const channel = server.realm.view.channels.get(gone);
if (channel !== undefined) server.write("channels", gone, { ...channel, isArchived: true });

interface Change {
  readonly stream_id: number;
  readonly property: string;
  readonly value: unknown;
}

const path = "/users/me/subscriptions/properties";
const change = (client: Client, changes: readonly unknown[]) => client.post(path, { subscription_data: changes });
const to = (id: number, property: string, value: unknown): Change => ({ stream_id: id, property, value });

async function settingsOf(client: Client, id: number): Promise<Record<string, unknown>> {
  const { body } = await client.get("/users/me/subscriptions");
  return body.subscriptions.find((entry: { stream_id: number }) => entry.stream_id === id);
}

const notifications = [
  "desktop_notifications",
  "audible_notifications",
  "push_notifications",
  "email_notifications",
  "wildcard_mentions_notify",
];

t.test("every setting is stored and sent to its user alone", async (t) => {
  const [own, others] = [await member.follow(), await other.follow()];
  const changes = [
    to(open, "color", "#f00f00"),
    to(open, "pin_to_top", true),
    ...notifications.map((property, index) => to(open, property, index % 2 === 0)),
    to(second, "color", "#ABC"),
  ];
  await expects(t, change(member, changes), success());
  for (const { stream_id: id, property, value } of changes) {
    t.equal((await settingsOf(member, id))[property], value, property);
    t.not((await settingsOf(other, id))[property], value, property);
  }
  await own.settled();
  t.strictSame(
    own.ofType("subscription"),
    changes.map((entry) => ({ type: "subscription", op: "update", ...entry })),
  );
  await others.settled();
  t.strictSame(others.ofType("subscription"), []);
});

t.test("[behaviour 4.4] muting sends two events, first in_home_view, whichever name the request used", async (t) => {
  for (const [property, value, isMuted] of [
    ["is_muted", true, true],
    ["in_home_view", true, false],
    ["in_home_view", false, true],
    ["is_muted", false, false],
  ] as const) {
    const follower = await member.follow();
    await expects(t, change(member, [to(open, property, value)]), success());
    t.match(await settingsOf(member, open), { is_muted: isMuted, in_home_view: !isMuted });
    await follower.settled();
    const update = { type: "subscription", op: "update", stream_id: open };
    t.strictSame(follower.ofType("subscription"), [
      { ...update, property: "in_home_view", value: !isMuted },
      { ...update, property: "is_muted", value: isMuted },
    ]);
  }
});

t.test("[behaviour 4.4] an unchanged value sends no event; of two values for a setting the last counts", async (t) => {
  const { color } = await settingsOf(member, second);
  const changes = await member.watchChanges();
  const same = [to(second, "color", color), to(second, "pin_to_top", false), to(second, "in_home_view", true)];
  await expects(t, change(member, same), success());
  await expects(t, change(member, []), success());
  t.strictSame(await changes(), []);
  const twice = [to(second, "pin_to_top", true), to(second, "color", "#123456"), to(second, "pin_to_top", false)];
  await change(member, twice);
  t.match(await settingsOf(member, second), { pin_to_top: false, color: "#123456" });
  t.equal((await changes()).length, 3);
});

t.test("each invalid change is rejected with its error message", async (t) => {
  const changes = await member.watchChanges();
  const before = await settingsOf(member, open);
  const good = to(open, "pin_to_top", false);
  for (const [bad, msg] of [
    [to(open, "colour", "#fff"), "Unknown subscription property: colour"],
    [to(open, "__proto__", true), "Unknown subscription property: __proto__"],
    [to(open, "is_muted", "true"), "is_muted is not a boolean"],
    [to(open, "in_home_view", "yes"), "in_home_view is not a boolean"],
    [to(open, "color", true), "color is not a string"],
    [to(open, "color", "red"), "color is not a valid hex color code"],
    [to(open, "color", "#ff"), "color is not a valid hex color code"],
    [to(open, "color", "#fffffff"), "color is not a valid hex color code"],
    [to(open, "color", "#ggg"), "color is not a valid hex color code"],
    [to(unjoined, "is_muted", true), `Not subscribed to channel ID ${unjoined}`],
    [to(sealed, "is_muted", true), "Invalid channel ID"],
    [to(gone, "is_muted", true), "Invalid channel ID"],
    [to(9999, "is_muted", true), "Invalid channel ID"],
    [{ stream_id: open, property: "color" }, 'subscription_data[1]["value"] field is missing'],
    [{ stream_id: "x", property: "color", value: "#fff" }, 'subscription_data[1]["stream_id"] is not an integer'],
    [1, "subscription_data[1] is not a dict"],
  ] as const) {
    await expects(t, change(member, [good, bad]), msg, msg);
  }
  await expects(t, member.post(path, { subscription_data: {} }), "subscription_data is not a list");
  t.strictSame(await changes(), []);
  t.strictSame(await settingsOf(member, open), before, "the valid change is not applied either");
});

t.test("[S3] channels_per_request_max: one more change in a request is rejected", async (t) => {
  const countMax = limits.channels_per_request_max;
  const changes = Array.from({ length: countMax }, (_, index) => to(open, "pin_to_top", index % 2 === 0));
  await expects(t, change(member, changes), success());
  const msg = `subscription_data is too long (limit: ${countMax})`;
  t.match((await change(member, [...changes, to(open, "pin_to_top", true)])).body, { result: "error" }, msg);
});

t.test("every subscriber has their own settings", async (t) => {
  const administrator = await server.user("administrator", roles.administrator);
  const moderator = await server.user("moderator", roles.moderator);
  await owner.post("/users/me/subscriptions", {
    subscriptions: [{ name: "open" }],
    principals: [administrator.userId, moderator.userId],
  });
  for (const client of [...everybody, administrator, moderator]) {
    await expects(t, change(client, [to(open, "email_notifications", true)]), success());
    t.equal((await settingsOf(client, open))["email_notifications"], true);
    await expects(
      t,
      change(client, [to(sealed, "pin_to_top", true)]),
      client === owner ? success() : refusal("Invalid channel ID"),
    );
  }
});

t.test("[behaviour 4.4] settings are kept while a user unsubscribes and subscribes again", async (t) => {
  await change(other, [to(second, "color", "#0000ff"), to(second, "push_notifications", false)]);
  const subscriptions = ["second"];
  await other.delete("/users/me/subscriptions", { subscriptions });
  await expects(t, change(other, [to(second, "pin_to_top", true)]), `Not subscribed to channel ID ${second}`);
  await other.post("/users/me/subscriptions", { subscriptions: [{ name: "second" }] });
  t.match(await settingsOf(other, second), { color: "#0000ff", push_notifications: false });
});
