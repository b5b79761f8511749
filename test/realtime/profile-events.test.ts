/**
 * Which events each user receives about custom profile fields and their values (OpenAPI, /events), and that events and
 * state agree.
 */
import t from "tap";
import type { Event } from "../support/client.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { colours, enter, fieldsSeenBy, fieldTypes, makeField } from "../support/profiles.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";
import { knownAndFresh } from "../support/watch.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);
const everybody = [owner, member, guest];

/** The events each user received while `work` ran. */
async function receivedEvents(work: () => Promise<unknown>): Promise<Event[][]> {
  const types = ["custom_profile_fields", "realm_user", "message"];
  const followers = await Promise.all(everybody.map((client) => client.follow({ event_types: types })));
  await work();
  await Promise.all(followers.map((follower) => follower.settled()));
  return followers.map((follower) => [...follower.ofType("custom_profile_fields"), ...follower.ofType("realm_user")]);
}

async function same(
  t: { strictSame(a: unknown, b: unknown): unknown },
  work: () => Promise<unknown>,
  expected: () => unknown,
) {
  const events = await receivedEvents(work);
  for (const got of events) t.strictSame(got, await expected());
}

const whole = async () => [{ type: "custom_profile_fields", fields: await fieldsSeenBy(owner) }];

t.test("every change sends everyone the whole list; an unchanged list sends nothing", async (t) => {
  await same(t, () => makeField(owner, "First", fieldTypes.list, { field_data: colours }), whole);
  const id = (await fieldsSeenBy(owner))[0]?.id;
  const other = await makeField(owner, "Second", fieldTypes.short);
  await same(t, () => owner.patch(`/realm/profile_fields/${id}`, { hint: "new", required: true }), whole);
  await same(t, () => owner.patch("/realm/profile_fields", { order: [other, id] }), whole);
  await same(
    t,
    () => owner.patch(`/realm/profile_fields/${id}`, { hint: "new", field_data: colours }),
    () => [],
  );
  await same(
    t,
    () => owner.patch("/realm/profile_fields", { order: [other, id] }),
    () => [],
  );
  await same(
    t,
    () => owner.patch(`/realm/profile_fields/${id}`, { hint: "x".repeat(81) }),
    () => [],
  );
  await same(t, () => owner.delete(`/realm/profile_fields/${id}`), whole);
});

t.test("a value that a user enters is sent to everyone, one event per value", async (t) => {
  const [short, date] = [
    await makeField(owner, "Short", fieldTypes.short),
    await makeField(owner, "Date", fieldTypes.date),
  ];
  const event = (field: object) => ({
    type: "realm_user",
    op: "update",
    person: { user_id: member.userId, custom_profile_field: field },
  });
  const data = [
    { id: short, value: "*a*" },
    { id: date, value: "2000-01-01" },
  ];
  await same(
    t,
    () => member.patch("/users/me/profile_data", { data }),
    () => [
      event({ id: short, value: "*a*", rendered_value: "<p><em>a</em></p>" }),
      event({ id: date, value: "2000-01-01" }),
    ],
  );
  await same(
    t,
    () => member.patch("/users/me/profile_data", { data }),
    () => [],
  );
  await same(
    t,
    () => enter(member, date, ""),
    () => [event({ id: date, value: null })],
  );
  await same(
    t,
    () => member.delete("/users/me/profile_data", { data: [date] }),
    () => [],
  );
  await same(
    t,
    () => enter(member, date, "never"),
    () => [],
  );
});

t.test("removing a choice clears the value of the users who had it", async (t) => {
  const id = await makeField(owner, "List", fieldTypes.list, { field_data: colours });
  await enter(member, id, "red");
  await enter(guest, id, "blue");
  await same(
    t,
    () => owner.patch(`/realm/profile_fields/${id}`, { field_data: { blue: colours.blue } }),
    async () => [
      ...(await whole()),
      {
        type: "realm_user",
        op: "update",
        person: { user_id: member.userId, custom_profile_field: { id, value: null } },
      },
    ],
  );
});

t.test("[S1] a guest who may not see a user receives none of that user's values", async (t) => {
  const id = await makeField(owner, "Private", fieldTypes.short);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const [byOwner, byMember, byGuest] = await receivedEvents(() => enter(member, id, "not for guests"));
  t.equal(byOwner?.length, 1);
  t.equal(byMember?.length, 1);
  t.strictSame(byGuest, []);
  const [, , own] = await receivedEvents(() => enter(guest, id, "mine"));
  t.equal(own?.length, 1);
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("state before plus events equals a fresh fetch", async (t) => {
  const params = { event_types: mirroredTypes, fetch_event_types: mirroredTypes };
  const going = await makeField(owner, "Going", fieldTypes.long);
  await enter(member, going, "text");
  const list = await makeField(owner, "Choices", fieldTypes.list, { field_data: colours });
  await enter(guest, list, "red");
  const watchers = await Promise.all(
    everybody.map(async (client) => ({ client, queue: await client.register(params) })),
  );
  await enter(member, list, "blue");
  const fresh = await makeField(owner, "Fresh", fieldTypes.short, { display_in_profile_summary: true });
  await enter(guest, fresh, "**new**");
  await owner.delete(`/realm/profile_fields/${going}`);
  await owner.patch(`/realm/profile_fields/${list}`, { field_data: { blue: colours.blue }, name: "Renamed" });
  const order = (await fieldsSeenBy(owner)).map(({ id }) => id).reverse();
  await owner.patch("/realm/profile_fields", { order });
  for (const { client, queue } of watchers) {
    const { known, fresh: state } = await knownAndFresh(client, queue, params);
    for (const key of ["custom_profile_fields", "realm_users"]) t.strictSame(known.snapshot()[key], state[key], key);
  }
});
