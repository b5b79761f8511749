/**
 * Emoji reactions: POST and DELETE /messages/{id}/reactions (spec 2.7, 2.9, D22; public API: add-reaction,
 * remove-reaction).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params, refusal, success } from "../support/client.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const channelId = await owner.createChannel("reactions", [owner, member, other]);

const done = success();
const smile = { emoji_name: "smile", emoji_code: "1f642", reaction_type: "unicode_emoji" };

function add(by: Client, id: number | string, params: Params) {
  return by.post(`/messages/${id}/reactions`, params);
}

function remove(by: Client, id: number | string, params: Params) {
  return by.delete(`/messages/${id}/reactions`, params);
}

async function reactionsOf(by: Client, id: number) {
  return (await by.get(`/messages/${id}`)).body.message.reactions;
}

/** A custom emoji, as an upload would have created it. */
function customEmoji(id: number, name: string, isActive = true): void {
  server.write("realmEmoji", id, {
    id,
    name,
    authorId: owner.userId,
    isActive,
    file: `emoji/${id}.png`,
    stillFile: null,
    createdAt: 0,
  });
}

t.test("[spec 2.9] a reaction by name, or with code and type, is added to the message, oldest first", async (t) => {
  const id = await member.say(channelId, "t", "x");
  await expects(t, add(other, id, { emoji_name: "tada" }), done);
  await expects(t, add(member, id, smile), done);
  await expects(t, add(member, id, { emoji_name: "tada" }), done);
  const tada = { emoji_name: "tada", emoji_code: "1f389", reaction_type: "unicode_emoji" };
  t.strictSame(await reactionsOf(owner, id), [
    { ...tada, user_id: other.userId },
    { ...smile, user_id: member.userId },
    { ...tada, user_id: member.userId },
  ]);
  await expects(t, remove(member, id, tada), done);
  t.equal((await reactionsOf(owner, id)).length, 2);
  const narrow = [
    { operator: "has", operand: "reaction" },
    { operator: "channel", operand: channelId },
  ];
  const { body } = await owner.get("/messages", { anchor: "newest", num_before: 10, num_after: 0, narrow });
  const found = body.messages.map((message: Params) => message["id"]);
  t.strictSame(found, [id]);
});

t.test("each user reacts once with an emoji, and removes only their own reaction", async (t) => {
  const id = await member.say(channelId, "t", "x");
  const twice = refusal("Reaction already exists.", "REACTION_ALREADY_EXISTS");
  const absent = refusal("Reaction doesn't exist.", "REACTION_DOES_NOT_EXIST");
  await expects(t, remove(member, id, smile), absent);
  await expects(t, add(member, id, smile), done);
  await expects(t, add(member, id, smile), twice);
  await expects(t, add(member, id, { emoji_name: "smile" }), twice, "by any of its parts");
  await expects(t, remove(other, id, smile), absent, "only one's own");
  await expects(t, remove(member, id, { emoji_name: "smile" }), done);
  await expects(t, remove(member, id, { emoji_code: "1f642" }), absent);
  t.strictSame(await reactionsOf(member, id), []);
  await expects(t, add(member, id, smile), done, "and again");
  await expects(t, remove(member, id, { emoji_code: "1f642" }), done);
  await expects(
    t,
    remove(member, id, {}),
    "At least one of the following arguments must be present: emoji_name, emoji_code",
  );
});

t.test("[spec 7, 2.7] unknown emoji and parts that do not match are rejected", async (t) => {
  const id = await member.say(channelId, "t", "x");
  customEmoji(101, "party_parrot");
  customEmoji(102, "old_parrot", false);
  for (const [params, msg] of [
    [{ emoji_name: "no such" }, "Emoji 'no such' does not exist"],
    [{ ...smile, emoji_name: "tada" }, "Invalid emoji name."],
    [{ ...smile, emoji_code: "zz" }, "Invalid emoji code."],
    [{ ...smile, reaction_type: "other" }, "Invalid emoji type."],
    [{ emoji_name: "x", emoji_code: "999", reaction_type: "realm_emoji" }, "Invalid custom emoji."],
    [
      { emoji_name: "old_parrot", emoji_code: "102", reaction_type: "realm_emoji" },
      "This custom emoji has been deactivated.",
    ],
    [
      { ...smile, emoji_name: "x".repeat(limits.emoji_name_or_code_code_points_max + 1) },
      `emoji_name is too long (limit: ${limits.emoji_name_or_code_code_points_max} characters)`,
    ],
  ] as const) {
    await expects(t, add(member, id, params), msg);
  }
  t.match((await add(member, id, {})).body, { code: "REQUEST_VARIABLE_MISSING", var_name: "emoji_name" });
  t.strictSame(await reactionsOf(member, id), []);
});

t.test("a reaction from before its emoji was renamed can be joined and removed", async (t) => {
  const id = await member.say(channelId, "t", "x");
  await expects(t, add(owner, id, smile), done);
  // The emoji was once named "kiss", which is another emoji's name now.
  const old = { emojiName: "kiss", emojiCode: "1f48b", reactionType: "unicode_emoji", position: 0 } as const;
  server.write("reactions", [id, member.userId, "unicode_emoji:1f48b"], old);
  const kiss = { emoji_name: "kiss", emoji_code: "1f48b", reaction_type: "unicode_emoji" };
  t.match(await reactionsOf(other, id), [{ ...kiss, user_id: member.userId }, smile], "shown as it was added");
  await expects(t, add(other, id, kiss), done);
  await expects(t, remove(other, id, kiss), done);
  await expects(t, remove(member, id, { emoji_name: "kiss" }), done);
  await expects(t, add(member, id, kiss), "Invalid emoji name.", "and now it is removed");
});

t.test("[D22] custom emoji and the extra emoji, under both names of its type, work as reactions", async (t) => {
  const id = await member.say(channelId, "t", "x");
  customEmoji(103, "blob");
  await expects(t, add(member, id, { emoji_name: "blob" }), done);
  await expects(
    t,
    add(member, id, { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "zulip_extra_emoji" }),
    done,
  );
  t.match(await reactionsOf(other, id), [
    { emoji_name: "blob", emoji_code: "103", reaction_type: "realm_emoji" },
    { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "service_extra_emoji" },
  ]);
  customEmoji(103, "blob", false);
  const blob = { emoji_name: "blob", emoji_code: "103", reaction_type: "realm_emoji" };
  await expects(t, add(other, id, blob), done, "joining an existing reaction");
  await expects(
    t,
    remove(member, id, { emoji_name: "blob" }),
    done,
    "a user's own reaction is removed by its former name",
  );
  await expects(
    t,
    remove(other, id, { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "zulip_extra_emoji" }),
    refusal("Reaction doesn't exist.", "REACTION_DOES_NOT_EXIST"),
  );
});

t.test("[behaviour 4.4] readers receive an event with the user in both forms, and only after a change", async (t) => {
  const sealed = await member.createChannel("sealed", [member, other], { invite_only: true });
  const id = await member.say(sealed, "t", "x");
  const [inside, outside] = [await other.follow(), await owner.follow()];
  await add(member, id, smile);
  await add(member, id, smile);
  await remove(member, id, smile);
  await remove(member, id, smile);
  await inside.settled();
  await outside.settled();
  const { email } = (await other.get(`/users/${member.userId}`)).body.user;
  const event = {
    type: "reaction",
    user_id: member.userId,
    user: { email, full_name: "member 0", user_id: member.userId },
    message_id: id,
    ...smile,
  };
  t.strictSame(inside.ofType("reaction"), [
    { ...event, op: "add" },
    { ...event, op: "remove" },
  ]);
  t.strictSame(outside.ofType("reaction"), []);
});

t.test("[spec 7, D24] readers of a message can react to it; for others it is missing", async (t) => {
  const outsider = await server.user("outsider");
  const guest = await server.user("guest", roles.guest);
  const id = await member.say(channelId, "t", "x");
  await expects(t, add(outsider, id, smile), done, "the channel is public");
  await expects(t, add(guest, id, smile), "Invalid message(s)");
  const direct = (await member.post("/messages", { type: "direct", to: [other.userId], content: "x" })).body.id;
  const watcher = await member.follow();
  await expects(t, add(other, direct, smile), done);
  await expects(t, add(owner, direct, smile), "Invalid message(s)");
  await watcher.settled();
  t.equal(watcher.ofType("reaction").length, 1);
  for (const path of ["999999"]) await expects(t, add(owner, path, smile), "Invalid message(s)");
  t.equal((await add(owner, "x", smile)).status, 404);
  t.equal((await add(owner.anonymous(), id, smile)).status, 401);
});

t.test("[S3] the number of reactions of a message is limited", async (t) => {
  const id = await member.say(channelId, "t", "x");
  await add(member, id, smile);
  const row = { emojiName: "smile", emojiCode: "1f642", reactionType: "unicode_emoji", position: 1 } as const;
  const count = limits.reactions_per_message_max - 2;
  server.writeMany(
    "reactions",
    Array.from({ length: count }, (_, index) => [[id, 10_000 + index, "unicode_emoji:1f642"], row] as const),
  );
  await expects(t, add(other, id, smile), done, "at the bound");
  await expects(t, add(owner, id, smile), "Too many reactions");
  t.equal((await reactionsOf(owner, id)).length, limits.reactions_per_message_max);
  t.equal(server.realm.view.row("messages", id)?.id, id);
});

t.test("[M1, D25] reactions survive a restart, and a repeated key reacts once", async (t) => {
  const before = await startTestServer(t);
  const id = await before.owner.say("general", "t", "x");
  const key = { "Idempotency-Key": "react-1" };
  await expects(t, before.owner.post(`/messages/${id}/reactions`, smile, key), done);
  const { server, as } = await restart(t, before);
  const again = as(server.owner);
  await expects(t, again.post(`/messages/${id}/reactions`, smile, key), done);
  t.strictSame(await reactionsOf(again, id), [{ ...smile, user_id: again.userId }]);
});
