/**
 * PATCH /users/{user_id} and /users/{email} (spec 4.8, 5, 7; behaviour 2.8; D7, D11): permissions to change role, name
 * and email, and the events. test/realtime/realm-visibility.test.ts tests what a change of role shows and hides.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Role, roles } from "../../schemas/types.ts";
import { type Client, type Event, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
type RoleName = keyof typeof roles;
const roleNames = Object.keys(roles) as RoleName[];
const callers: Readonly<Record<RoleName, Client>> = {
  owner,
  administrator: await server.user("administrator", roles.administrator),
  moderator: await server.user("moderator", roles.moderator),
  member: await server.user("member"),
  guest: await server.user("guest", roles.guest),
};
const { administrator, member, moderator, guest } = callers;

const noSuchUser = refusal("No such user");
const insufficient = refusal("Insufficient permission");
const ownerNeeded = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");
const adminNeeded = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
const lastOwner = refusal("The owner permission cannot be removed from the only organization owner.");
/** D11. */
const invalidRole = refusal("Guests cannot be organization administrators");

async function seen(id: number): Promise<Event> {
  return (await owner.get(`/users/${id}`, { client_gravatar: false })).body.user;
}

async function change(by: Client, id: number | string, params: Params) {
  return outcome(await by.patch(`/users/${id}`, params));
}

function grant(userId: number, isGranted: boolean): void {
  const user = server.realm.view.users.get(userId);
  if (user === undefined) throw new Error("no such user");
  server.write("users", userId, { ...user, canChangeUserEmails: isGranted });
}

/** The expected answer when a caller with one role changes a user from one role to another. */
function expectedOf(caller: RoleName, from: Role, to: Role) {
  if (roles[caller] > roles.administrator) return insufficient;
  if (from === to) return success();
  const concernsOwners = from === roles.owner || to === roles.owner;
  return concernsOwners && caller !== "owner" ? ownerNeeded : success();
}

t.test("[spec 4.8, 5] role matrix: every role changes every role into every role", async (t) => {
  const [target = 0] = await server.users("target", 1);
  for (const from of roleNames) {
    for (const to of roleNames) {
      for (const caller of roleNames) {
        await owner.patch(`/users/${target}`, { role: roles[from] });
        const title = `${caller} makes ${from} ${to}`;
        const expected = expectedOf(caller, roles[from], roles[to]);
        t.strictSame(await change(callers[caller], target, { role: roles[to] }), expected, title);
        t.equal((await seen(target)).role, expected.status === 200 ? roles[to] : roles[from], title);
      }
    }
  }
});

t.test("[spec 4.8] role matrix: only administrators and owners change the names of others", async (t) => {
  for (const role of roleNames) {
    const [target = 0] = await server.users(`named ${role}`, 1, roles[role]);
    for (const caller of roleNames) {
      const isAllowed = roles[caller] <= roles.administrator;
      const full_name = `${role} by ${caller}`;
      const title = `${caller} names ${role}`;
      t.strictSame(await change(callers[caller], target, { full_name }), isAllowed ? success() : insufficient, title);
      t.equal((await seen(target)).full_name === full_name, isAllowed, title);
    }
    await owner.patch(`/users/${target}`, { role: roles.member });
  }
  for (const client of [moderator, member, guest]) {
    t.strictSame(await change(client, client.userId, { full_name: "Me" }), insufficient, "not oneself, either");
  }
});

t.test("[behaviour 2.8] a change of role sends first the user's event, then those of the roles' groups", async (t) => {
  const [target = 0] = await server.users("riser", 1);
  const types = ["realm_user", "user_group", "message"];
  const follower = await guest.follow({ event_types: types });
  t.strictSame(await change(owner, target, { role: roles.moderator }), success());
  await follower.settled();
  const group = (op: string, name: string) => ({
    type: "user_group",
    op,
    group_id: server.group(name),
    user_ids: [target],
  });
  const found = follower.events.map(({ id: _id, ...event }) => event);
  t.strictSame(found, [
    { type: "realm_user", op: "update", person: { user_id: target, role: roles.moderator } },
    group("remove_members", "role:members"),
    group("remove_members", "role:fullmembers"),
    group("add_members", "role:moderators"),
  ]);
  t.match(await seen(target), { role: 300, is_admin: false, is_owner: false, is_guest: false });
  await change(owner, target, { role: roles.owner });
  t.match(await seen(target), { role: 100, is_admin: true, is_owner: true });
  await change(owner, target, { role: roles.member });
});

t.test("[D11] a value that is no role, or of a wrong type, is rejected", async (t) => {
  const changes = await owner.watchChanges();
  for (const role of [0, 1, -100, 101, 250, 500, 600.0001, 601, 2 ** 40]) {
    const expected = Number.isInteger(role) ? invalidRole : refusal("role is not an integer");
    t.strictSame(await change(owner, member.userId, { role }), expected, `${role}`);
  }
  t.strictSame(await change(member, member.userId, { role: 101 }), insufficient, "the permission is checked first");
  t.strictSame(await change(owner, member.userId, { role: "guest" }), refusal("role is not valid JSON"));
  t.strictSame(await change(owner, member.userId, { role: "" }), refusal("role is not valid JSON"));
  t.strictSame(await change(owner, member.userId, { role: [100] }), refusal("role is not an integer"));
  t.strictSame(await change(owner, member.userId, { role: "null" }), refusal("role is not an integer"));
  t.strictSame(await changes(), []);
});

t.test("[spec 4.8] the only owner must stay an owner; bots and deactivated owners do not count", async (t) => {
  const bot = await server.bot("owner bot", owner);
  t.strictSame(await change(owner, bot.userId, { role: roles.owner }), success());
  const [gone = 0] = await server.users("gone owner", 1, roles.owner);
  await owner.delete(`/users/${gone}`);
  t.strictSame(await change(owner, owner.userId, { role: roles.administrator }), lastOwner);
  t.strictSame(await change(owner, gone, { role: roles.member }), success(), "a deactivated owner does not count");
  const second = await server.user("second owner", roles.owner);
  t.strictSame(await change(second, owner.userId, { role: roles.administrator }), success());
  t.strictSame(await change(second, second.userId, { role: roles.member }), lastOwner);
  t.strictSame(await change(owner, owner.userId, { role: roles.owner }), ownerNeeded, "no longer an owner");
  t.strictSame(await change(second, owner.userId, { role: roles.owner }), success());
  t.strictSame(
    await change(second, second.userId, { role: roles.member }),
    success(),
    "an owner may demote themselves",
  );
});

t.test("[behaviour 2.8] names are trimmed; blank and equal ones are ignored; rules are as for new ones", async (t) => {
  const [target = 0] = await server.users("renamed", 1);
  const follower = await guest.follow({ event_types: ["realm_user", "message"] });
  const longest = "🙂".repeat(limits.full_name_code_points_max);
  for (const [full_name, expected] of [
    ["  Ada  ", success()],
    ["Ada", success()],
    ["", success()],
    [" \t ", success()],
    [longest, success()],
    [`${longest}x`, refusal("Name too long!")],
    ["a\u0000b", refusal("Invalid characters in name!")],
    ["a@b", refusal("Invalid characters in name!")],
    ["Ada|12", refusal("Invalid format!")],
  ] as const) {
    t.strictSame(await change(administrator, target, { full_name }), expected, JSON.stringify(full_name));
  }
  await follower.settled();
  t.strictSame(
    follower.ofType("realm_user"),
    ["Ada", longest].map((full_name) => ({
      type: "realm_user",
      op: "update",
      person: { user_id: target, full_name },
    })),
  );
  t.equal((await seen(target)).full_name, longest);
});

t.test("[spec 4.8] a request without a change succeeds without an event; unknown parameters are listed", async (t) => {
  const changes = await owner.watchChanges();
  t.strictSame(await change(owner, member.userId, {}), success());
  t.strictSame(await change(owner, member.userId, { role: roles.member, full_name: "member 0" }), success());
  t.strictSame(
    await change(owner, member.userId, { is_active: false, email: "x" }),
    success({ ignored_parameters_unsupported: ["email", "is_active"] }),
  );
  t.strictSame(await change(owner, member.userId, { new_email: member.account?.email, profile_data: [] }), success());
  t.strictSame(await changes(), []);
});

t.test("[behaviour 2.8] role, name, profile and email are checked in this order; an error rejects all", async (t) => {
  const [target = 0] = await server.users("whole", 1);
  const before = await seen(target);
  const changes = await owner.watchChanges();
  const good = { role: roles.guest, full_name: "Good" };
  const badAddress = { new_email: "nonsense" };
  for (const [params, expected] of [
    [{ role: 1, full_name: "*", profile_data: [{ id: 1, value: "" }], ...badAddress }, invalidRole],
    [{ ...good, full_name: "*", profile_data: [{ id: 1, value: "" }] }, refusal("Invalid characters in name!")],
    [{ ...good, profile_data: [{ id: 77, value: "x" }], ...badAddress }, refusal("Field id 77 not found.")],
    [{ ...good, new_email: "new@example.com" }, refusal("User not authorized to change user emails")],
  ] as const) {
    t.strictSame(await change(owner, target, params), expected);
  }
  t.strictSame(await seen(target), before);
  t.strictSame(await changes(), []);
});

t.test("[spec 4.8] profile_data is a list of ids with values", async (t) => {
  for (const [profile_data, expected] of [
    ["{", "profile_data is not valid JSON"],
    [{ id: 1, value: "x" }, "profile_data is not a list"],
    [[{ id: "1", value: "x" }], 'profile_data[0]["id"] is not an integer'],
    [[{ id: 1, value: [1, 2] }], "Field id 1 not found."],
    [[{ id: 1, value: null }], "Field id 1 not found."],
  ] as const) {
    t.strictSame(await change(owner, member.userId, { profile_data }), refusal(expected), JSON.stringify(profile_data));
  }
  const most = Array.from({ length: limits.profile_values_per_update_max }, (_, id) => ({ id: id + 1, value: "x" }));
  t.strictSame(await change(owner, member.userId, { profile_data: most }), refusal("Field id 1 not found."));
  const over = await change(owner, member.userId, { profile_data: [...most, { id: 1000, value: "x" }] });
  t.equal(over.status, 400);
  t.notMatch(over.body, { msg: "Field id 1 not found." });
});

t.test("[spec 4.8, D7] new_email needs an owner with the granted permission", async (t) => {
  const target = await server.user("addressed");
  const unauthorized = refusal("User not authorized to change user emails");
  const ask = (by: Client, new_email: string) => change(by, target.userId, { new_email });
  t.strictSame(await ask(owner, "a1@example.com"), unauthorized, "an owner alone");
  grant(administrator.userId, true);
  t.strictSame(await ask(administrator, "a1@example.com"), unauthorized, "the permission alone");
  t.strictSame(await ask(member, "a1@example.com"), insufficient);
  grant(owner.userId, true);
  const follower = await guest.follow({ event_types: ["realm_user", "message"] });
  const taken = refusal("New email value error: Email is already in use.");
  const longest = `${"e".repeat(limits.email_code_points_max - "@example.com".length)}@example.com`;
  for (const [address, expected] of [
    ["", refusal("Invalid new email address.")],
    ["nobody", refusal("Invalid new email address.")],
    [`x${longest}`, refusal("Invalid new email address.")],
    [(member.account?.email ?? "").toUpperCase(), taken],
    ["notification-bot@colloquy.invalid", taken],
    [`user${member.userId}@colloquy.invalid`, taken],
  ] as const) {
    t.strictSame(await ask(owner, address), expected, address);
  }
  await follower.settled();
  t.strictSame(follower.ofType("realm_user"), [], "no event was sent");
  t.strictSame(await ask(owner, ` ${longest} `), success());
  t.equal((await seen(target.userId)).delivery_email, longest);
  await follower.settled();
  t.match(follower.ofType("realm_user"), [
    { op: "update", person: { user_id: target.userId, delivery_email: longest } },
    { op: "update", person: { user_id: target.userId, new_email: longest } },
    { op: "update", person: { user_id: target.userId, avatar_source: "G" } },
  ]);
  const old = await target.get("/users/me");
  t.equal(old.status, 401, "the user logs in with the new email");
  t.strictSame(await ask(owner, target.account?.email ?? ""), success(), "the old email is free again");
  t.equal((await target.get("/users/me")).status, 200);
  t.strictSame(
    await ask(owner, (target.account?.email ?? "").toUpperCase()),
    success(),
    "the user's own email in another case",
  );
  grant(owner.userId, false);
});

t.test("[S1] only users who can see a hidden email receive its change", async (t) => {
  const hidden = await server.user("hiding");
  server.setUser(hidden.userId, { email_address_visibility: 3 });
  grant(owner.userId, true);
  const [one, other] = await Promise.all(
    [administrator, member].map((client) => client.follow({ event_types: ["realm_user", "message"] })),
  );
  t.strictSame(await change(owner, hidden.userId, { new_email: "hiding.still@example.com" }), success());
  await one?.settled();
  await other?.settled();
  t.strictSame(one?.ofType("realm_user"), [
    {
      type: "realm_user",
      op: "update",
      person: { user_id: hidden.userId, delivery_email: "hiding.still@example.com" },
    },
  ]);
  t.strictSame(other?.ofType("realm_user"), []);
  grant(owner.userId, false);
});

t.test("[spec 4.8] a user can be named by the real email if the caller sees it, else by the dummy email", async (t) => {
  const hidden = await server.user("by address");
  server.setUser(hidden.userId, { email_address_visibility: 4 });
  const address = hidden.account?.email ?? "";
  t.strictSame(await change(owner, address, { full_name: "One" }), noSuchUser);
  t.strictSame(await change(owner, `user${hidden.userId}@colloquy.invalid`, { full_name: "Two" }), success());
  server.setUser(hidden.userId, { email_address_visibility: 3 });
  const spelled = encodeURIComponent(address.toUpperCase());
  t.strictSame(await change(administrator, spelled, { full_name: "Three", role: roles.guest }), success());
  t.match(await seen(hidden.userId), { full_name: "Three", role: roles.guest });
  t.strictSame(await change(moderator, spelled, { full_name: "Four" }), noSuchUser, "no event reveals an email");
  t.strictSame(await change(moderator, hidden.userId, { full_name: "Four" }), insufficient);
  t.strictSame(await change(owner, "nobody@example.com", { full_name: "Five" }), noSuchUser);
});

t.test("[behaviour 2.8] unknown users, the server's own bot and deactivated users cannot be changed", async (t) => {
  const [gone = 0] = await server.users("departed", 1);
  await owner.delete(`/users/${gone}`);
  for (const id of [0, 999_999, 1]) {
    for (const client of [owner, member]) t.strictSame(await change(client, id, { full_name: "X" }), noSuchUser);
  }
  t.strictSame(await change(owner, gone, { full_name: "Remembered", role: roles.guest }), success());
  t.match(await seen(gone), { full_name: "Remembered", role: roles.guest, is_active: false });
  const anonymous = await owner.anonymous().patch(`/users/${gone}`, { full_name: "X" });
  t.equal(anonymous.status, 401);
});

t.test("[spec 4.8] a bot's owner changes it except for its role; its administrators get events", async (t) => {
  const bot = await server.bot("machine", member);
  const [owning, watching, other] = await Promise.all(
    [member, administrator, moderator].map((client) => client.follow({ event_types: ["realm_bot", "message"] })),
  );
  t.strictSame(await change(member, bot.userId, { full_name: "Machine" }), success());
  t.strictSame(await change(member, bot.userId, { role: roles.member }), success(), "the same role is no change");
  t.strictSame(await change(member, bot.userId, { role: roles.guest }), adminNeeded);
  t.strictSame(await change(member, bot.userId, { role: roles.owner }), ownerNeeded);
  t.strictSame(await change(moderator, bot.userId, { full_name: "Mine" }), insufficient);
  t.strictSame(await change(administrator, bot.userId, { role: roles.guest }), success());
  t.match(await seen(bot.userId), { full_name: "Machine", role: roles.guest });
  const event = { type: "realm_bot", op: "update", bot: { user_id: bot.userId, full_name: "Machine" } };
  for (const [follower, expected] of [
    [owning, [event]],
    [watching, [event]],
    [other, []],
  ] as const) {
    await follower?.settled();
    t.strictSame(follower?.ofType("realm_bot"), expected);
  }
});
