/** The end of invitations (spec 3, 4.14): expiry, also across a restart, deactivation of the inviter, and limits. */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { inviteLink, submit, visit } from "../support/join.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { restart } from "../support/restart.ts";
import { rowsFor } from "../support/rows.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");
const path = "/invites/multiuse";
const minuteMs = 60_000;

const everyMember = { create_multiuse_invite_group: server.group("role:members") };
const administrators = { create_multiuse_invite_group: server.group("role:administrators") };

const listed = async (by: Client) => (await by.get("/invites")).body.invites;
const newest = async (by: Client) => (await listed(by)).at(-1);

t.test("[spec 4.14, M8] expiry: minutes, null for never, default INVITATION_LINK_VALIDITY_MINUTES", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const environment = { INVITATION_LINK_VALIDITY_MINUTES: "30" };
  const own = await startTestServer(t, { environment, clock });
  const by = own.owner;
  const short = await inviteLink(by, { invite_expires_in_minutes: 10 });
  const omitted = await inviteLink(by);
  const never = await inviteLink(by, { invite_expires_in_minutes: "null" });
  const start = Math.floor(clock.now() / 1000);
  const dates = (await listed(by)).map(({ expiry_date: date }: { expiry_date: number | null }) => date);
  t.strictSame(dates, [start + 600, start + 1800, null]);
  const states = async () => Promise.all([short, omitted, never].map(async (link) => (await visit(link)).status));
  const follower = await by.follow({ event_types: ["invites_changed", "message"] });
  clock.advance(10 * minuteMs - 1);
  t.strictSame(await states(), [200, 200, 200], "the last moment");
  clock.advance(1);
  t.strictSame(await states(), [404, 200, 200]);
  t.match((await visit(short)).text, "This invitation has expired.");
  t.equal((await listed(by)).length, 2);
  await own.realm.dispatcher.idle();
  t.equal(own.realm.view.rows("invitations", { limit: 9 })[0]?.row.state, "expired", "the row is in the state expired");
  await follower.settled();
  t.equal(follower.ofType("invites_changed").length, 1, "clients that show the list receive an event");
  await expects(t, by.delete(`${path}/1`), "No such invitation", "an expired invitation cannot be revoked");
  clock.advance(20 * minuteMs);
  t.strictSame(await states(), [404, 404, 200]);
  clock.jump(limits.invitation_kept_ms);
  await own.realm.dispatcher.idle();
  t.match((await visit(short)).text, "This invitation is not known here.", "after a week its row is deleted");
  for (const table of ["invitations", "invitationKeys", "invitationLinks"] as const) {
    t.equal(own.realm.lmdb.count(table), 1, table);
  }
  t.equal((await visit(never)).status, 200);
});

t.test("[D6] without the variable the default is 14400 minutes, ten days", async (t) => {
  await inviteLink(owner);
  const { invited, expiry_date: end } = await newest(owner);
  t.equal(end - invited, 14_400 * 60);
});

t.test("[M8] an invitation has one expiry timer, however often it changes, and none after its end", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const own = await startTestServer(t, { clock });
  const { view, dispatcher } = own.realm;
  const timers = () => {
    const all = view.rows("timers", { limit: 1000 }).map(({ row }) => row);
    const expiries = all.filter(({ command: due }) => (due as Command).type === "invitation.expire");
    return expiries.map(({ dueAt }) => dueAt);
  };
  const set = async (minutes: number | "null") => {
    const changed = await own.owner.patch(`${path}/1`, { invite_expires_in_minutes: minutes });
    t.strictSame(outcome(changed), success());
  };
  const link = await inviteLink(own.owner, { invite_expires_in_minutes: 1000 });
  for (let minutes = 101; minutes <= 150; minutes++) await set(minutes);
  t.strictSame(timers(), [clock.now() + 150 * minuteMs]);
  await own.owner.patch(`${path}/1`, { invite_as: roles.guest });
  t.equal(timers().length, 1, "another role keeps the expiry time");
  await set("null");
  t.strictSame(timers(), []);
  await set(10);
  clock.advance(10 * minuteMs - 1);
  t.equal((await visit(link)).status, 200, "the last moment");
  clock.advance(1);
  await dispatcher.idle();
  t.equal(view.row("invitations", 1)?.state, "expired");
  t.strictSame(timers(), []);
  const invited = { invitee_emails: "a@example.com,b@example.com,c@example.com", stream_ids: [] };
  t.equal((await own.owner.post("/invites", { ...invited, invite_expires_in_minutes: 10 })).status, 200);
  t.equal(timers().length, 3);
  for (const [id, left] of [
    [3, 2],
    [2, 1],
    [4, 0],
  ]) {
    await expects(t, own.owner.delete(`/invites/${id}`), success());
    t.equal(timers().length, left, `invitation ${id} had one`);
  }
});

t.test("[M1, M8] links, their state and their timers survive a restart; an overdue timer fires once", async (t) => {
  const before = await startTestServer(t);
  const [good, short, revoked] = [
    await inviteLink(before.owner),
    await inviteLink(before.owner, { invite_expires_in_minutes: 30 }),
    await inviteLink(before.owner),
  ];
  await before.owner.delete(`${path}/3`);
  const { server: after, as } = await restart(t, before);
  const moved = (link: string) => link.replace(before.url, after.url);
  t.equal((await visit(moved(good))).status, 200);
  t.match((await visit(moved(revoked))).text, "revoked");
  const links = (await listed(as(before.owner))).map(({ link_url: link }: { link_url: string }) => link);
  t.strictSame(links, [moved(good), moved(short)], "the list has the link again, with the host that the caller uses");
  await after.stop();
  const clock = new ManualClock(Date.now() + 31 * minuteMs);
  const late = await startTestServer(t, { dataDir: before.dataDir, clock });
  await late.realm.dispatcher.idle();
  t.match((await visit(short.replace(before.url, late.url))).text, "expired");
});

t.test("[spec 4.14, M8] an invitation past its time is invalid before its timer fires: everywhere", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const own = await startTestServer(t, { clock });
  const { dispatcher, view } = own.realm;
  const link = await inviteLink(own.owner, { invite_expires_in_minutes: 60 });
  const invited = { invitee_emails: "late@example.com", stream_ids: [], invite_expires_in_minutes: 60 };
  t.equal((await own.owner.post("/invites", invited)).status, 200);
  clock.advance(minuteMs);
  // Their timers have not fired yet.
  for (const { key, row } of view.rows("invitations", { limit: 9 })) {
    own.write("invitations", key, { ...row, expiresAt: clock.now() });
  }
  t.match(await visit(link), { status: 404, text: /This invitation has expired/ });
  t.match(await submit(link, { email: "new@example.com" }), { status: 404, text: /This invitation has expired/ });
  const person = { email: "new@example.com", confirmation: null, fullName: "New", passwordHash: "none" };
  for (const id of [1, 2]) {
    const accepted = await dispatcher.ask(command({ actor: "invitation", id }, "invitation.accept", person, null));
    t.match(accepted, { kind: "refused", code: "NOT_FOUND" }, "a form that was opened before the expiry");
  }
  await expects(t, own.owner.post("/invites/2/resend"), "No such invitation");
  t.strictSame(await listed(own.owner), []);
  t.equal(view.users.byEmail("new@example.com"), undefined);
  const states = view.rows("invitations", { limit: 9 }).map(({ row }) => row.state);
  t.strictSame(states, ["valid", "valid"], "no timer has fired meanwhile");
  for (const { key, row } of view.rows("invitations", { limit: 9 })) {
    own.write("invitations", key, { ...row, expiresAt: clock.now() + 1 });
  }
  t.equal((await visit(link)).status, 200, "the last moment");
});

t.test("[behaviour 2.20] links of a deactivated inviter are invalid, and stay so after a reactivation", async (t) => {
  server.setRealm(everyMember);
  const leaver = await server.user("leaver");
  const links = [await inviteLink(leaver), await inviteLink(leaver)];
  const others = await inviteLink(member);
  const follower = await owner.follow({ event_types: ["invites_changed", "message"] });
  await owner.delete(`/users/${leaver.userId}`);
  for (const link of links) t.match((await visit(link)).text, "revoked");
  t.equal((await visit(others)).status, 200);
  await owner.post(`/users/${leaver.userId}/reactivate`);
  for (const link of links) t.match((await visit(link)).text, "revoked");
  await follower.settled();
  t.equal(follower.ofType("invites_changed").length, 2);
  server.setRealm(administrators);
});

t.test("[S3] invitations_per_user_per_day_max and invitations_per_realm_max: one more is rejected", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const own = await startTestServer(t, { clock });
  const other = await own.user("other", roles.administrator);
  for (let id = 1; id < limits.invitations_per_user_per_day_max; id++) {
    own.write("invitationSends", [own.owner.userId, clock.now(), 10_000 + id], {});
  }
  t.equal((await own.owner.post(path)).status, 200);
  const limited = outcome(await own.owner.post(path));
  const fields = { errors: [], sent_invitations: false, license_limit_reached: false, daily_limit_reached: true };
  const text = "You have reached the limit of invitations for one day. No invites were sent.";
  t.strictSame(limited, refusal(text, "INVITATION_FAILED", 400, fields));
  t.equal((await other.post(path)).status, 200, "every user has their own limit");
  clock.jump(24 * 60 * minuteMs - 1);
  t.equal((await own.owner.post(path)).status, 400);
  clock.advance(1);
  t.equal((await own.owner.post(path)).status, 200);
  t.equal(own.realm.lmdb.count("invitationSends"), 2, "older invitations no longer count");

  const [template] = own.realm.view.rows("invitations", { limit: 1 });
  if (template === undefined) throw new Error("no invitation is left");
  for (let count = 3; count < limits.invitations_per_realm_max - 1; count++) {
    own.write("invitations", 10_000 + count, { ...template.row, id: 10_000 + count });
  }
  t.equal((await own.owner.post(path)).status, 200);
  await expects(t, own.owner.post(path), "Too many invitations");
});

t.test("[S3] invitations_per_user_max: one inviter has no more at a time; an administrator has", async (t) => {
  const own = await startTestServer(t);
  const [person, other] = [await own.user("person"), await own.user("other")];
  own.setRealm({ create_multiuse_invite_group: own.group("role:members") });
  t.equal((await person.post(path)).status, 200);
  const [template] = own.realm.view.rows("invitations", { limit: 1 });
  if (template === undefined) throw new Error("there is no invitation");
  const fillers = rowsFor<"invitations">(
    limits.invitations_per_user_max - 2,
    (id) => [id, { ...template.row, id, state: "revoked", expiresAt: null }],
    10_000,
  );
  own.writeMany("invitations", fillers);
  t.equal((await person.post(path)).status, 200);
  const full = refusal(`You have too many invitations (maximum ${limits.invitations_per_user_max}).`);
  await expects(t, person.post(path), full, "ended ones that are remembered count");
  const mail = { invitee_emails: "somebody@example.com", stream_ids: [] };
  await expects(t, person.post("/invites", mail), full);
  t.equal((await other.post(path)).status, 200);
  t.equal((await own.owner.patch(`/users/${person.userId}`, { role: roles.administrator })).status, 200);
  t.equal((await person.post(path)).status, 200);
});
