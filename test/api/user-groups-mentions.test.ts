/**
 * Permission to mention a user group (spec 2.5; behaviour 3.6, 5.1), in channels and direct messages. Silent mentions
 * need none.
 */
import t from "tap";
import { type Client, expects, outcome, refusal } from "../support/client.ts";
import { createGroup, people } from "../support/groups.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, moderator, guest } = await startServerWithUsers(t, ["member", "moderator", "guest"]);
const group = (name: string) => server.group(`role:${name}`);
await owner.post("/users/me/subscriptions", {
  subscriptions: [{ name: "general" }],
  principals: [guest.userId, member.userId],
});

const inChannel = (by: Client, content: string) =>
  by.post("/messages", { type: "channel", to: "general", topic: "t", content });
const directly = (by: Client, content: string) => by.post("/messages", { type: "direct", to: [owner.userId], content });
const notAllowed = (name: string) => refusal(`You are not allowed to mention user group '${name}'.`);

async function read(by: Client, id: number) {
  return (await by.get(`/messages/${id}`)).body.message;
}

t.test("[behaviour 3.6] everybody may mention a new group, guests too; its members are mentioned", async (t) => {
  const inner = await createGroup(owner, "inner crew", [member]);
  const id = await createGroup(owner, "crew", [], { subgroups: [inner] });
  for (const by of [guest, member, owner]) {
    const { body } = await inChannel(by, "hello @*crew*");
    t.ok(body.id, JSON.stringify(body));
    t.match(
      (await read(owner, body.id)).content,
      `<span class="user-group-mention" data-user-group-id="${id}">@crew</span>`,
    );
    t.ok((await read(member, body.id)).flags.includes("mentioned"), "through a subgroup");
    t.notOk((await read(guest, body.id)).flags.includes("mentioned"));
  }
});

t.test("[behaviour 5.1] a user outside can_mention_group is rejected, except for silent mentions", async (t) => {
  await createGroup(owner, "quiet", [member], {
    can_mention_group: { direct_members: [member.userId], direct_subgroups: [group("moderators")] },
  });
  for (const send of [inChannel, directly]) {
    for (const by of [member, moderator, owner]) t.equal((await send(by, "@*quiet* listen")).status, 200);
    await expects(t, send(guest, "@*quiet* listen"), notAllowed("quiet"));
    t.equal((await send(guest, "@_*quiet* listen")).status, 200);
    t.equal((await send(guest, "`@*quiet*` is code")).status, 200);
  }
  await createGroup(owner, "closed", [], { can_mention_group: group("nobody") });
  await expects(t, inChannel(owner, "@*closed*"), notAllowed("closed"), "by no role");
});

t.test("[behaviour 5.1] an edit cannot mention a group that its author may not mention", async (t) => {
  await createGroup(owner, "untouched", [member], { can_mention_group: people(member) });
  for (const [by, expected] of [
    [member, 200],
    [owner, 400],
  ] as const) {
    const { body } = await inChannel(by, "nobody yet");
    const answer = await by.patch(`/messages/${body.id}`, { content: "@*untouched* now" });
    t.equal(answer.status, expected);
    if (expected === 400) t.strictSame(outcome(answer), notAllowed("untouched"));
    t.equal((await by.patch(`/messages/${body.id}`, { content: "@_*untouched* now" })).status, 200);
  }
});

t.test("[behaviour 3.5] a guest who is named may mention, because everyone is allowed for this setting", async (t) => {
  await createGroup(owner, "guests' own", [], { can_mention_group: people(guest) });
  t.equal((await inChannel(guest, "@*guests' own*")).status, 200);
  await expects(t, inChannel(member, "@*guests' own*"), notAllowed("guests' own"));
});

t.test("[behaviour 3.1] nobody may mention system groups, everybody may mention them silently", async (t) => {
  for (const by of [owner, member, guest]) {
    await expects(t, inChannel(by, "@*role:members* hear"), notAllowed("role:members"));
    const { body } = await inChannel(by, "@_*role:members* hear");
    t.match((await read(by, body.id)).content, `data-user-group-id="${group("members")}">Members</span>`);
  }
});

t.test("[spec 2.5] a deactivated group cannot be mentioned: the text stays plain", async (t) => {
  const id = await createGroup(owner, "resting", [member]);
  await owner.post(`/user_groups/${id}/deactivate`);
  for (const content of ["@*resting* here", "@_*resting* here", "@*nobody knows* here"]) {
    const { body } = await inChannel(member, content);
    t.notMatch((await read(member, body.id)).content, "user-group-mention");
    t.notOk((await read(member, body.id)).flags.includes("mentioned"));
  }
  await owner.patch(`/user_groups/${id}`, { deactivated: false });
  const { body } = await inChannel(owner, "@*resting* here");
  t.ok((await read(member, body.id)).flags.includes("mentioned"));
});

t.test("a group is found by its exact name first, else in any case", async (t) => {
  const upper = await createGroup(owner, "Ops");
  const lower = await createGroup(owner, "ops");
  const named = async (name: string) => {
    const { body } = await inChannel(member, `@*${name}*`);
    return Number(/data-user-group-id="(\d+)"/.exec((await read(member, body.id)).content)?.[1]);
  };
  t.equal(await named("Ops"), upper);
  t.equal(await named("ops"), lower);
  t.equal(await named("OPS"), upper, "the older one");
  await owner.post(`/user_groups/${upper}/deactivate`);
  t.equal(await named("Ops"), lower, "among active groups");
  await owner.patch(`/user_groups/${lower}`, { name: "tools" });
  t.equal(await named("TOOLS"), lower);
  const { body } = await inChannel(member, "@*ops*");
  t.notMatch((await read(member, body.id)).content, "user-group-mention");
});
