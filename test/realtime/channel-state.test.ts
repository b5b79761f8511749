/**
 * State before plus events equals a fresh fetch (architecture, Event log) for everything that PATCH and DELETE
 * /streams/{stream_id} change: with and without the capability `archived_channels`, for administrators, members and
 * guests, live and replayed.
 */
import t from "tap";
import type { Client, Params } from "../support/client.ts";
import type { TestServer } from "../support/server.ts";
import { type Fixture, watch } from "../support/watch.ts";

function idOf(server: TestServer, name: string): number {
  const channel = server.realm.view.channels.byName(name);
  if (channel === undefined) throw new Error(`there is no channel ${name}`);
  return channel.id;
}

async function change(server: TestServer, by: Client, name: string, params: Params): Promise<void> {
  const answer = await by.patch(`/streams/${idOf(server, name)}`, params);
  if (answer.status !== 200) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
}

async function archive(server: TestServer, by: Client, name: string): Promise<void> {
  const answer = await by.delete(`/streams/${idOf(server, name)}`);
  if (answer.status !== 200) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
}

const people = (...clients: readonly Client[]) => ({
  direct_members: clients.map(({ userId }) => userId),
  direct_subgroups: [],
});

/** Creates channels of every kind, some with the member subscribed. */
async function createFixture({ server, owner, member, other }: Fixture): Promise<void> {
  server.setRealm({ enable_spectator_access: true, send_channel_events_messages: true });
  await owner.createChannel("public without", [owner, other]);
  await owner.createChannel("private without", [owner, other], { invite_only: true });
  await owner.createChannel("web", [owner, other], { is_web_public: true });
  await owner.createChannel("default", [owner, member], { is_default_stream: true });
  await owner.createChannel("nobody in", []);
}

const roles = [400, 600] as const;
for (const role of roles) {
  const who = role === 600 ? "guest" : "member";
  const asRole = async (fixture: Fixture) => {
    await createFixture(fixture);
    await fixture.owner.patch(`/users/${fixture.member.userId}`, { role });
  };

  t.test(`[spec 4.4] a ${who}'s state stays correct while every property of a channel changes`, (t) =>
    watch(
      t,
      async ({ server, owner, member, other }) => {
        const group = (name: string) => server.group(`role:${name}`);
        const folder = { id: 1, name: "folder", description: "", renderedDescription: "", creatorId: null };
        server.write("channelFolders", 1, { ...folder, createdAt: 0, isArchived: false, order: 1 });
        for (const name of ["before", "private before", "private without", "nobody in"]) {
          await change(server, owner, name, { description: "about *this*", message_retention_days: 30, folder_id: 1 });
          await change(server, owner, name, { topics_policy: "disable_empty_topic", folder_id: null });
          await change(server, owner, name, { can_send_message_group: { new: group("administrators") } });
          await change(server, owner, name, { can_send_message_group: { new: people(member, other) } });
          await change(server, owner, name, {
            can_send_message_group: { new: group("moderators") },
            can_remove_subscribers_group: { new: people(owner) },
            can_administer_channel_group: { new: group("nobody") },
          });
          await change(server, owner, name, { new_name: `${name} renamed`, description: "" });
        }
        await change(server, owner, "before renamed", { is_default_stream: true });
        await change(server, owner, "default", { is_default_stream: false });
      },
      asRole,
    ),
  );

  t.test(`[S1] a ${who}'s state stays correct while channels become private, public and web-public`, (t) =>
    watch(
      t,
      async ({ server, owner, other }) => {
        const all = ["before", "public without", "private before", "private without", "nobody in"];
        const hide = ["before", "public without", "web"];
        for (const name of hide) await change(server, owner, name, { is_private: true, is_web_public: false });
        await other.say("before", "hidden", "among us");
        await change(server, owner, "public without", { new_name: "a secret name", description: "a secret" });
        await change(server, owner, "a secret name", { is_private: false, new_name: "public without" });
        for (const name of ["before", "private before", "private without"]) {
          await change(server, owner, name, { is_private: true, history_public_to_subscribers: true });
          await change(server, owner, name, { is_private: false });
        }
        for (const name of all) await change(server, owner, name, { is_web_public: true });
        await change(server, owner, "public without", { is_web_public: false, description: "only for us" });
        await change(server, owner, "before", { is_web_public: false });
        await change(server, owner, "web", { is_private: false, new_name: "no web" });
      },
      asRole,
    ),
  );

  t.test(`[behaviour 4.3] a ${who}'s state stays correct while channels are archived and unarchived`, (t) =>
    watch(
      t,
      async ({ server, owner, member, other }) => {
        const names = ["before", "public without", "private before", "private without", "web", "default", "nobody in"];
        for (const name of names) await archive(server, owner, name);
        for (const name of names) await change(server, owner, name, { description: "asleep" });
        await change(server, owner, "private before", { is_private: false });
        await change(server, owner, "public without", { is_private: true });
        await member.delete("/users/me/subscriptions", { subscriptions: ["default"] });
        await other.delete("/users/me/subscriptions", { subscriptions: ["before"] });
        for (const name of names.slice(0, -2)) await change(server, owner, name, { is_archived: false });
        await archive(server, owner, "web");
        await archive(server, owner, "private without");
        await change(server, owner, "private without", { is_archived: false, is_private: false, new_name: "open now" });
        await owner.say("before", "again", "awake");
      },
      asRole,
    ),
  );

  t.test(`[S1] a ${who}'s state stays correct while permissions on a private channel are granted and revoked`, (t) =>
    watch(
      t,
      async ({ server, owner, member, other }) => {
        const settings = ["can_administer_channel_group", "can_add_subscribers_group", "can_subscribe_group"] as const;
        const nobody = server.group("role:nobody");
        const all = server.group("role:members");
        for (const setting of settings) {
          await change(server, owner, "private without", { [setting]: { new: people(member, other) } });
          await change(server, owner, "private without", { description: `known by ${setting}` });
          await change(server, owner, "private without", { [setting]: { new: people(other) } });
          await change(server, owner, "private without", { [setting]: { new: nobody }, new_name: "Private Without" });
          await change(server, owner, "private without", { [setting]: { new: all }, new_name: "private without" });
          await change(server, owner, "private without", { [setting]: { new: nobody } });
        }
        await change(server, owner, "private without", { can_subscribe_group: { new: people(member) } });
      },
      asRole,
    ),
  );
}
