/**
 * POST /invites/multiuse and the other operations on /invites (spec 4.14, 3, 7, 8; public API: /invites): permissions,
 * channels, roles and expiry.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { inviteLink, visit } from "../support/join.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const path = "/invites/multiuse";

const everyMember = { create_multiuse_invite_group: server.group("role:members") };
const administrators = { create_multiuse_invite_group: server.group("role:administrators") };

const listed = async (by: Client) => (await by.get("/invites")).body.invites;
const newest = async (by: Client) => (await listed(by)).at(-1);

t.test("[spec 4.14] the answer has `invite_link`, a link of this server; each request creates another", async (t) => {
  const [first, second] = [await owner.post(path), await owner.post(path)];
  t.strictSame(Object.keys(first.body).sort(), ["invite_link", "msg", "result"]);
  for (const { body } of [first, second]) {
    t.match(body.invite_link, new RegExp(`^${server.url}/join/[A-Za-z0-9]{32}/$`), "190 random bits");
    t.equal((await visit(body.invite_link)).status, 200);
  }
  t.not(first.body.invite_link, second.body.invite_link);
});

t.test("[spec 4.14] a user who is no administrator may create links with the permission (level 209)", async (t) => {
  const refused = refusal("Insufficient permission");
  for (const by of [moderator, member]) await expects(t, by.post(path), refused, "[spec 7]");
  const none = outcome(await guest.post(path));
  t.strictSame(none, refusal("Not allowed for guest users"));
  const bot = await server.bot("bot", owner);
  await expects(t, bot.post(path), "This endpoint does not accept bot requests.");
  const changed = await owner.patch("/realm", {
    create_multiuse_invite_group: { new: everyMember.create_multiuse_invite_group },
  });
  t.equal(changed.status, 200, "[D5] the permission is a setting of the organization");
  for (const by of [moderator, member]) t.equal((await by.post(path)).status, 200);
  await expects(t, guest.post(path), none, "guests never");
  server.setRealm(administrators);
});

t.test("[spec 4.14] `invite_as` is 400 by default; users invite to no higher role than theirs", async (t) => {
  server.setRealm(everyMember);
  const people = { owner, administrator, moderator, member };
  const may: Readonly<Record<keyof typeof people, readonly number[]>> = {
    owner: [100, 200, 300, 400, 600],
    administrator: [200, 300, 400, 600],
    moderator: [300, 400, 600],
    member: [400, 600],
  };
  for (const [name, by] of Object.entries(people)) {
    for (const role of Object.values(roles)) {
      const answer = outcome(await by.post(path, { invite_as: role }));
      const expected = may[name as keyof typeof people].includes(role)
        ? 200
        : role === roles.owner
          ? refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
          : refusal("Must be an organization administrator");
      t.strictSame(expected === 200 ? answer.status : answer, expected, `${name} invites as ${role}`);
    }
  }
  await inviteLink(member);
  t.equal((await newest(member)).invited_as, 400);
  for (const bad of [0, 500, 401, -400]) {
    await expects(t, owner.post(path, { invite_as: bad }), "Invalid invite_as", String(bad));
  }
  for (const bad of ["owner", "400.5", "[400]", "null"]) {
    t.equal((await owner.post(path, { invite_as: bad })).status, 400, bad);
  }
  server.setRealm(administrators);
});

t.test("[spec 4.14] `stream_ids`: missing and inaccessible channels are rejected alike (section 7, D24)", async (t) => {
  server.setRealm(everyMember);
  const before = (await listed(owner)).length;
  const secret = await owner.createChannel("secret", [owner], { invite_only: true });
  const open = await owner.createChannel("open", [owner]);
  const gone = await owner.createChannel("gone", [owner]);
  await owner.delete(`/streams/${gone}`);
  const unknown = (id: number) => refusal(`Invalid channel ID ${id}. No invites were sent.`);
  for (const id of [secret, gone, 99_999]) {
    await expects(t, member.post(path, { stream_ids: [open, id] }), unknown(id));
    if (id !== secret) await expects(t, owner.post(path, { stream_ids: [id] }), unknown(id));
  }
  await expects(
    t,
    administrator.post(path, { stream_ids: [secret] }),
    unknown(secret),
    "[D18] nobody can invite to a channel that they cannot read",
  );
  t.equal((await owner.post(path, { stream_ids: [secret, open, open] })).status, 200);
  t.equal((await listed(owner)).length, before + 1, "rejected requests created nothing");
  server.setRealm(administrators);
});

t.test("[spec 4.14] `stream_ids` must be empty when the caller cannot subscribe others", async (t) => {
  const refused = refusal("You do not have permission to subscribe other users to channels.");
  const only = await owner.createChannel("only mine", [owner, member]);
  const shared = await owner.createChannel("shared", [owner], {
    can_add_subscribers_group: { direct_members: [member.userId], direct_subgroups: [] },
  });
  const general = 1;
  server.setRealm({ ...everyMember, can_add_subscribers_group: server.group("role:administrators") });
  const other = await server.user("other");
  for (const ids of [[only], [general], [shared], [only, general]]) {
    await expects(t, other.post(path, { stream_ids: ids }), refused, `somebody who can add nowhere: ${ids}`);
  }
  t.equal((await other.post(path, { stream_ids: [], include_realm_default_subscriptions: true })).status, 200);
  await expects(t, member.post(path, { stream_ids: [only] }), refused);
  await expects(t, member.post(path, { stream_ids: [shared, only] }), refused);
  t.equal((await member.post(path, { stream_ids: [shared] })).status, 200, "may add subscribers to this one");
  t.equal((await member.post(path, { stream_ids: [shared, general] })).status, 200, "a default channel (level 342)");
  server.setRealm({ ...administrators, can_add_subscribers_group: server.group("role:members") });
});

t.test("[spec 4.14] `group_ids` needs the permission to add users to each group (level 322)", async (t) => {
  server.setRealm(everyMember);
  const make = async (name: string, more: Params = {}) =>
    (await owner.post("/user_groups/create", { name, description: "", members: [owner.userId], ...more })).body
      .group_id;
  const closed = await make("closed");
  const joinable = await make("joinable", { can_join_group: server.group("role:members") });
  const shared = await make("for adding", {
    can_add_members_group: { direct_members: [member.userId], direct_subgroups: [] },
  });
  const ended = await make("ended");
  await owner.post(`/user_groups/${ended}/deactivate`);
  const ask = async (by: Client, ids: number[]) => outcome(await by.post(path, { group_ids: ids }));
  t.equal((await ask(member, [shared, shared])).status, 200);
  t.strictSame(await ask(member, [shared, closed]), refusal("Insufficient permission"));
  t.strictSame(
    await ask(member, [joinable]),
    refusal("Insufficient permission"),
    "the permission to join is for oneself only",
  );
  t.strictSame(await ask(owner, [server.group("role:moderators")]), refusal("Insufficient permission"));
  t.strictSame(await ask(owner, [99_999]), refusal("Invalid user group"));
  t.strictSame(await ask(owner, [ended]), refusal("User group is deactivated."));
  t.equal((await ask(owner, [closed, shared])).status, 200);
  server.setRealm(administrators);
});

t.test("[spec 8, S3] the welcome text, lists and minutes have bounds", async (t) => {
  const max = limits.welcome_message_code_points_max;
  t.equal(max, 8000);
  t.equal((await owner.post(path, { welcome_message_custom_text: "😀".repeat(max) })).status, 200);
  const tooLong = await owner.post(path, { welcome_message_custom_text: "a".repeat(max + 1) });
  t.strictSame(outcome(tooLong), refusal(`welcome_message_custom_text is too long (limit: ${max} characters)`));
  const ids = (length: number) => Array.from({ length }, () => 1);
  t.equal((await owner.post(path, { stream_ids: ids(limits.invitation_channels_max) })).status, 200);
  t.equal((await owner.post(path, { stream_ids: ids(limits.invitation_channels_max + 1) })).status, 400);
  await expects(t, owner.post(path, { group_ids: ids(limits.invitation_groups_max) }), "Insufficient permission");
  t.match((await owner.post(path, { group_ids: ids(limits.invitation_groups_max + 1) })).body.msg, /group_ids/);
  for (const good of [1, limits.invitation_minutes_max]) {
    t.equal((await owner.post(path, { invite_expires_in_minutes: good })).status, 200);
  }
  for (const bad of [0, -1, limits.invitation_minutes_max + 1, 1.5, "soon", "", [], true]) {
    t.equal((await owner.post(path, { invite_expires_in_minutes: bad })).status, 400, JSON.stringify(bad));
  }
});

t.test("[D17, S2] only administrators can store a text, a key is only in its link's row", async (t) => {
  server.setRealm(everyMember);
  const rows = () => server.realm.view.rows("invitations", { limit: 10_000 }).map(({ row }) => row);
  const texts: [Client, Params, string | null][] = [
    [member, { welcome_message_custom_text: "mine" }, null],
    [moderator, { welcome_message_custom_text: "mine" }, null],
    [administrator, { welcome_message_custom_text: "ours" }, "ours"],
    [owner, { welcome_message_custom_text: "" }, ""],
    [owner, { welcome_message_custom_text: "null" }, null],
    [owner, {}, null],
  ];
  for (const [by, params, stored] of texts) {
    const link = await inviteLink(by, params);
    t.equal(rows().at(-1)?.welcomeText, stored);
    const key = /join\/(\w+)\//.exec(link)?.[1] ?? "";
    for (const table of ["invitations", "invitationKeys", "events", "timers", "snapshots", "idempotency"] as const) {
      t.notMatch(JSON.stringify(server.realm.view.rows(table, { limit: 10_000 })), key, table);
    }
  }
  server.setRealm(administrators);
});

t.test("GET /invites lists one's own invitations, administrators see all but those for owners", async (t) => {
  server.setRealm(everyMember);
  const asker = await server.user("asker");
  const before = Math.floor(Date.now() / 1000);
  const link = await inviteLink(asker, { invite_as: 600, invite_expires_in_minutes: 10 });
  const [own] = await listed(asker);
  t.strictSame(own, {
    id: own.id,
    invited_by_user_id: asker.userId,
    invited: own.invited,
    expiry_date: own.invited + 600,
    invited_as: 600,
    is_multiuse: true,
    notify_referrer_on_join: true,
    link_url: link,
  });
  t.ok(own.invited >= before && Number.isInteger(own.invited));
  t.notOk((await listed(member)).some(({ id }: { id: number }) => id === own.id));
  t.ok((await listed(administrator)).some(({ id }: { id: number }) => id === own.id));
  await inviteLink(owner, { invite_as: 100 });
  const toOwners = ({ invited_as: role }: { invited_as: number }) => role === 100;
  t.ok((await listed(owner)).some(toOwners));
  t.notOk((await listed(administrator)).some(toOwners), "[S1] the link would turn an administrator into an owner");
  await expects(t, guest.get("/invites"), "Not allowed for guest users");
  server.setRealm(administrators);
});

t.test("DELETE /invites/multiuse/{invite_id}: the inviter and administrators may revoke a link", async (t) => {
  server.setRealm(everyMember);
  const none = refusal("No such invitation");
  const link = await inviteLink(member);
  const { id } = await newest(member);
  const revoke = async (by: Client, invitation: number | string) => outcome(await by.delete(`${path}/${invitation}`));
  t.strictSame(await revoke(moderator, id), none, "[S1] as for one that does not exist");
  t.strictSame(await revoke(moderator, 99_999), none);
  t.strictSame(await revoke(owner, 99_999), none);
  await expects(t, member.delete(`/invites/${id}`), none, "an id is valid only with its own is_multiuse");
  await expects(t, member.post(`/invites/${id}/resend`), none);
  t.equal((await visit(link)).status, 200, "nothing has changed");
  t.strictSame(await revoke(member, id), success());
  t.strictSame(await revoke(member, id), refusal("Invitation has already been revoked"));
  t.strictSame(await revoke(moderator, id), none);
  t.notOk((await listed(owner)).some((each: { id: number }) => each.id === id));
  const page = await visit(link);
  t.equal(page.status, 404);
  t.match(page.text, "This invitation has been revoked.");

  await inviteLink(member);
  t.strictSame(await revoke(administrator, (await newest(member)).id), success());
  await inviteLink(owner, { invite_as: 100 });
  const ownersId = (await newest(owner)).id;
  t.strictSame(await revoke(administrator, ownersId), none);
  t.strictSame(await revoke(owner, ownersId), success());
  server.setRealm(administrators);
});

t.test("administrators and the inviter receive invites_changed on creation and revocation", async (t) => {
  server.setRealm(everyMember);
  const watchers = [owner, administrator, member, moderator];
  const followers = await Promise.all(
    watchers.map((client) => client.follow({ event_types: ["invites_changed", "message"] })),
  );
  await inviteLink(member);
  await member.delete(`${path}/${(await newest(member)).id}`);
  await member.post(path, { invite_as: 100 });
  const counts: number[] = [];
  for (const follower of followers) {
    await follower.settled();
    counts.push(follower.ofType("invites_changed").length);
  }
  t.strictSame(counts, [2, 2, 2, 0], "nothing for others, nothing for rejected requests");
  t.strictSame(followers[2]?.ofType("invites_changed")[0], { type: "invites_changed" });
  server.setRealm(administrators);
});

t.test("[D233] PATCH changes channels, role and expiry of a reusable link and keeps the link", async (t) => {
  server.setRealm(everyMember);
  const follower = await owner.follow({ event_types: ["invites_changed", "message"] });
  const channelId = await owner.createChannel("invited to", [owner]);
  const link = await inviteLink(owner, { invite_as: roles.guest });
  const before = await newest(owner);
  const change = { invite_as: roles.member, stream_ids: [channelId], invite_expires_in_minutes: null };
  await expects(t, owner.patch(`${path}/${before.id}`, change), success());
  t.strictSame(await newest(owner), { ...before, invited_as: roles.member, expiry_date: null });
  const row = server.realm.view.row("invitations", before.id);
  t.match(row, { channelIds: [channelId], includesDefaults: false, role: roles.member });
  t.equal((await visit(link)).status, 200, "the same link");
  await expects(t, owner.patch(`${path}/${before.id}`), success(), "a request without parameters changes nothing");
  t.strictSame(server.realm.view.row("invitations", before.id), row);
  t.equal((await owner.patch(`${path}/${before.id}`, { invite_expires_in_minutes: 5 })).status, 200);
  const { expiry_date: until } = await newest(owner);
  t.ok(Math.abs(until - Date.now() / 1000 - 300) < 60, "five minutes from now");
  await follower.settled();
  t.equal(follower.ofType("invites_changed").length, 3, "created, changed, changed again");

  const theirs = await (async () => {
    await inviteLink(member);
    return newest(member);
  })();
  const gone = refusal("No such invitation");
  await expects(t, moderator.patch(`${path}/${theirs.id}`, { invite_as: roles.guest }), gone);
  await expects(t, member.patch(`${path}/${before.id}`, { invite_as: roles.guest }), gone);
  t.match(await member.patch(`${path}/${theirs.id}`, { invite_as: roles.owner }), { status: 400 });
  t.match(await member.patch(`${path}/${theirs.id}`, { stream_ids: [999_999] }), {
    status: 400,
    body: { msg: "Invalid channel ID 999999. No invites were sent." },
  });
  t.match(await member.patch(`${path}/${theirs.id}`, { invite_expires_in_minutes: 0 }), { status: 400 });
  t.equal((await owner.patch(`${path}/${theirs.id}`, { invite_as: roles.guest })).status, 200, "administrators may");
  await owner.delete(`${path}/${theirs.id}`);
  await expects(t, owner.patch(`${path}/${theirs.id}`, { invite_as: roles.guest }), gone, "it is revoked");
  server.setRealm(administrators);
});

t.test("[spec 4.14] a rejected request writes nothing and sends no event", async (t) => {
  const heard = await owner.watchChanges();
  const count = () => server.realm.lmdb.count("invitations");
  const before = count();
  for (const params of [
    { invite_as: 5 },
    { stream_ids: [99] },
    { group_ids: [99] },
    { stream_ids: "x" },
    { group_ids: {} },
  ]) {
    t.equal((await owner.post(path, params)).status, 400);
  }
  t.equal(count(), before);
  t.strictSame(await heard(), []);
});
