/** Changing the permissions of a channel with PATCH /streams/{stream_id} (spec 2.2, 4.4, D16; behaviour 2.4, 3.3). */
import t from "tap";
import { named, startChannelServer } from "../support/channels.ts";
import { expects, refusal, success } from "../support/client.ts";

const { owner, administrator, moderator, member, group, channel, patch, record, refuses } = await startChannelServer(t);
const insufficient = "Insufficient permission";

const settings = [
  "can_add_subscribers_group",
  "can_administer_channel_group",
  "can_delete_any_message_group",
  "can_delete_own_message_group",
  "can_move_messages_out_of_channel_group",
  "can_move_messages_within_channel_group",
  "can_remove_subscribers_group",
  "can_send_message_group",
  "can_subscribe_group",
  "can_resolve_topics_group",
];

t.test("[spec 2.2, D16] every permission changes in the {new, old} form", async (t) => {
  const id = await channel();
  const mismatch = refusal("'old' value does not match the expected value.", "EXPECTATION_MISMATCH", 400, {
    field_name: "old",
  });
  for (const setting of settings) {
    const first = (await record(id))[setting];
    const people = named(owner, member);
    await expects(t, patch(id, { [setting]: { new: people, old: first } }), success(), setting);
    t.strictSame((await record(id))[setting], people, setting);
    await expects(t, patch(id, { [setting]: { new: group("members"), old: first } }), mismatch, setting);
    const turned = { direct_members: [...people.direct_members].reverse(), direct_subgroups: [] };
    const change = { new: { direct_members: [], direct_subgroups: [group("moderators")] }, old: turned };
    await expects(t, patch(id, { [setting]: change }), success(), setting);
    t.equal((await record(id))[setting], group("moderators"), setting);
    await refuses(t, id, { [setting]: { new: 9999 } }, "Invalid user group");
    await refuses(
      t,
      id,
      { [setting]: { new: group("internet") } },
      `'${setting}' setting cannot be set to 'role:internet' group.`,
    );
    t.equal((await patch(id, { [setting]: { new: group("nobody"), old: null } })).status, 200, setting);
  }
  const last = { can_send_message_group: { new: group("everyone"), old: group("owners") }, description: "not kept" };
  await expects(t, patch(id, last), mismatch);
  t.equal((await record(id)).description, "", "all or nothing");
});

t.test("[spec 2.2] each list of members in one request becomes its own anonymous group", async (t) => {
  const id = await channel();
  const [first, second] = [named(owner, member), named(owner, moderator)];
  await patch(id, { can_add_subscribers_group: { new: first }, can_send_message_group: { new: second } });
  await patch(id, { can_add_subscribers_group: { new: second }, can_resolve_topics_group: { new: first } });
  const other = await channel({ can_resolve_topics_group: named(administrator, member) });
  t.match(await record(id), {
    can_add_subscribers_group: second,
    can_send_message_group: second,
    can_resolve_topics_group: first,
  });
  t.match(await record(other), { can_resolve_topics_group: named(administrator, member) });
});

t.test("[behaviour 2.4] only holders of the organization's permission may set who deletes messages", async (t) => {
  const id = await channel({ can_administer_channel_group: named(member) });
  for (const setting of ["can_delete_any_message_group", "can_delete_own_message_group"]) {
    await refuses(t, id, { [setting]: { new: group("members") } }, insufficient, member);
    t.equal((await patch(id, { [setting]: { new: group("members") } }, moderator)).status, 400, "nor administers it");
    t.equal((await patch(id, { [setting]: { new: group("members") } }, administrator)).status, 200);
  }
});
