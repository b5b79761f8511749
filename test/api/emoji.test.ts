/**
 * Custom emoji (D149, D187; public API: upload-custom-emoji, get-custom-emoji, deactivate-custom-emoji): names,
 * permissions, animations, deactivation, and how messages show them.
 */
import t from "tap";
import { EMOJI_NAME_CHARS_MAX } from "../../domain/markdown/bounds.ts";
import { limits } from "../../schemas/limits.ts";
import { type Role, roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, outcome, refusal, success } from "../support/client.ts";
import {
  animation,
  fetchPage,
  longGif,
  lookAt,
  multipart,
  multipartType,
  picture,
  upload,
} from "../support/pictures.ts";
import { rowsFor } from "../support/rows.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const people: Readonly<Record<string, Client>> = Object.fromEntries(
  await Promise.all(
    Object.entries(roles).map(async ([name, role]) => [name, await server.user(`one-${name}`, role)] as const),
  ),
);
const member = await server.user("member");
const png = await picture("png", 40, 20);
const undecodable = refusal("Could not decode image; did you upload an image file?");
const insufficient = refusal("Insufficient permission");

const pathOf = (name: string) => `/realm/emoji/${encodeURIComponent(name)}`;
const add = (client: Client, name: string, bytes: Buffer | string = png, more = {}) =>
  upload(client, pathOf(name), bytes, more);

async function emojiNamed(name: string): Promise<Event> {
  const { body } = await owner.get("/realm/emoji");
  return Object.values(body.emoji).find((emoji) => (emoji as Event).name === name && !(emoji as Event).deactivated);
}

t.test("everybody receives the new emoji; its picture is 64 pixels square", async (t) => {
  const types = { event_types: ["realm_emoji", "message"], fetch_event_types: ["realm_emoji"] };
  const followers = [await member.follow(types), await (people["guest"] ?? owner).follow(types)];
  await expects(t, add(member, "green tick"), success());
  const emoji = await emojiNamed("green_tick");
  t.strictSame(emoji, {
    id: emoji.id,
    name: "green_tick",
    source_url: emoji.source_url,
    still_url: null,
    deactivated: false,
    author_id: member.userId,
  });
  t.match(emoji.source_url, /^\/user_avatars\/1\/emoji\/images\/[0-9a-f]{32}\.png$/);
  const page = await fetchPage(url, emoji.source_url);
  t.equal(page.headers.get("Content-Type"), "image/png");
  t.equal(page.headers.get("X-Content-Type-Options"), "nosniff");
  const size = limits.emoji_size_px;
  t.strictSame(await lookAt(page.bytes), { format: "png", width: size, height: size, pages: 1, hasMetadata: false });
  const all = (await owner.get("/realm/emoji")).body.emoji;
  t.strictSame(all[emoji.id], emoji, "by id");
  for (const follower of followers) {
    await follower.settled();
    const [event, ...more] = follower.ofType("realm_emoji");
    t.strictSame(event, { type: "realm_emoji", op: "update", realm_emoji: all });
    t.strictSame(more, []);
    const state = await follower.client.register({ fetch_event_types: ["realm_emoji"] });
    t.strictSame(state["realm_emoji"], event.realm_emoji, "state before + event = state after");
  }
});

t.test("a name has letters, digits, dashes, underscores and periods; spaces become underscores", async (t) => {
  const badCharacters = refusal(
    "Emoji names must contain only lowercase English letters, digits, spaces, dashes, underscores, and periods.",
  );
  const badEnd = refusal("Emoji names must end with either an English letter or digit.");
  const longest = "n".repeat(limits.emoji_name_code_points_max);
  const bad: readonly (readonly [string, object])[] = [
    [" ", refusal("Emoji name is missing")],
    ["über", badCharacters],
    ["a+b", badCharacters],
    ["a:b", badCharacters],
    ["a/b", badCharacters],
    ["a\nb", badCharacters],
    ["<b>", badCharacters],
    ["ends-", badEnd],
    ["ends_", badEnd],
    ["ends.", badEnd],
    [`${longest}n`, refusal(`emoji_name is too long (limit: ${limits.emoji_name_code_points_max} characters)`)],
  ];
  const changes = await owner.watchChanges();
  for (const [name, expected] of bad) await expects(t, add(owner, name), expected, JSON.stringify(name));
  t.strictSame(await changes(), []);
  for (const name of ["qx", "0", "my-emoji_2.0", "  around  ", longest]) {
    t.equal((await add(member, name)).status, 200, name);
  }
  t.ok(await emojiNamed("around"), "surrounding spaces are removed");
  t.equal((await add(member, "Upper Case")).status, 200, "upper and lower case are treated the same");
  t.ok(await emojiNamed("upper_case"));
  t.equal((await add(member, "UPPER_CASE")).status, 400, "so this name is in use");
  t.ok(limits.emoji_name_code_points_max <= EMOJI_NAME_CHARS_MAX, "messages can use all of them");
});

t.test("the name of an active emoji is in use; that of a deactivated one is free, the old emoji is kept", async (t) => {
  t.equal((await add(member, "taken")).status, 200);
  const first = await emojiNamed("taken");
  const exists = refusal("A custom emoji with this name already exists.");
  await expects(t, add(member, "taken"), exists);
  await expects(t, add(owner, "taken"), exists);
  await expects(t, member.delete(pathOf("taken")), success());
  t.equal((await add(owner, "taken")).status, 200);
  const second = await emojiNamed("taken");
  t.not(second.id, first.id);
  t.strictSame((await owner.get("/realm/emoji")).body.emoji[first.id], { ...first, deactivated: true });
  t.equal((await fetchPage(url, first.source_url)).status, 200, "messages written with it keep its picture");
});

t.test("only administrators may use the name of a built-in emoji", async (t) => {
  const override = refusal("Only administrators can override default emoji.");
  for (const name of ["tada", "zulip"]) {
    await expects(t, add(people["moderator"] ?? owner, name), override, name);
  }
  t.equal((await add(people["administrator"] ?? owner, "tada")).status, 200);
});

t.test("the setting decides which roles may add emoji", async (t) => {
  const groups: Readonly<Record<string, number>> = {
    "role:members": roles.member,
    "role:administrators": roles.administrator,
    "role:everyone": roles.member,
    "role:nobody": 0,
  };
  for (const [group, roleMax] of Object.entries(groups)) {
    server.setRealm({ can_add_custom_emoji_group: server.group(group) });
    for (const [name, role] of Object.entries(roles) as [string, Role][]) {
      const answer = await add(people[name] ?? owner, `${group.replace("role:", "")}-${name}`);
      // Guests may not, whatever the setting says.
      t.strictSame(outcome(answer), role <= roleMax ? success() : insufficient, `${name}, ${group}`);
    }
  }
  server.setRealm({ can_add_custom_emoji_group: undefined });
  const state = await member.register({ fetch_event_types: ["realm"] });
  t.equal(state["realm_can_add_custom_emoji_group"], server.group("role:members"), "the default");
  t.match(state["server_supported_permission_settings"], { realm: { can_add_custom_emoji_group: Object } });
  const bot = await server.bot("emoji-bot", owner);
  t.equal((await add(bot, "from-a-bot")).status, 200);
});

t.test("the author and administrators may deactivate an emoji, with one event to everybody", async (t) => {
  const neither = refusal("Must be an organization administrator or emoji author");
  for (const [name, role] of Object.entries(roles) as [string, Role][]) {
    const emoji = `of-member-${name}`;
    t.equal((await add(member, emoji)).status, 200);
    const changes = await owner.watchChanges();
    const answer = await (people[name] ?? owner).delete(pathOf(emoji));
    const may = role <= roles.administrator;
    t.strictSame(outcome(answer), may ? success() : neither, name);
    const received = (await changes()) as Event[];
    t.equal(received.length, may ? 1 : 0);
    t.match(received, may ? [{ type: "realm_emoji", op: "update" }] : []);
  }
  await expects(t, member.delete(pathOf("of-member-guest")), success(), "one's own");
  const gone = refusal("Emoji 'of-member-guest' does not exist", "NOT_FOUND", 404);
  await expects(t, member.delete(pathOf("of-member-guest")), gone, "a second time");
  await expects(
    t,
    owner.delete(pathOf("green_nothing")),
    refusal("Emoji 'green_nothing' does not exist", "NOT_FOUND", 404),
  );
  await expects(t, owner.delete(pathOf("heart")), refusal("Emoji 'heart' does not exist", "NOT_FOUND", 404));
});

t.test("an animation stays animated and gets a still picture", async (t) => {
  for (const format of ["gif", "webp"] as const) {
    t.equal(
      (await add(member, `moving-${format}`, await animation(format, 5), { contentType: "text/html" })).status,
      200,
    );
    const emoji = await emojiNamed(`moving-${format}`);
    const image = await fetchPage(url, emoji.source_url);
    t.equal(image.headers.get("Content-Type"), `image/${format}`);
    t.strictSame(await lookAt(image.bytes), { format, width: 64, height: 64, pages: 5, hasMetadata: false });
    t.match(emoji.still_url, /^\/user_avatars\/1\/emoji\/images\/[0-9a-f]{32}-still\.png$/);
    const still = await fetchPage(url, emoji.still_url);
    t.equal(still.headers.get("Content-Type"), "image/png");
    t.match(await lookAt(still.bytes), { format: "png", width: 64, height: 64, pages: 1 });
  }
  t.equal((await add(member, "one-frame", await picture("gif", 9, 9))).status, 200);
  t.match(await emojiNamed("one-frame"), { still_url: null, source_url: /\.png$/ });
});

t.test("[S3] emoji_frames_max: one frame more is rejected, and so is a file that is no picture", async (t) => {
  const tooLarge = refusal("Image size exceeds limit.");
  const changes = await owner.watchChanges();
  await expects(t, add(member, "many", longGif(limits.emoji_frames_max + 1)), tooLarge);
  await expects(t, add(member, "many", longGif(10_000)), tooLarge);
  await expects(t, add(member, "bad", "<svg xmlns='http://www.w3.org/2000/svg'/>"), undecodable);
  await expects(t, add(member, "bad", png.subarray(0, 40)), undecodable);
  const half = await animation("gif", 20);
  await expects(t, add(member, "bad", half.subarray(0, 60)), undecodable);
  t.strictSame(await changes(), []);
  t.equal((await add(member, "many", longGif(limits.emoji_frames_max))).status, 200);
});

t.test("[behaviour 1.8] a request must hold exactly one file of at most 5 MiB", async (t) => {
  const exactlyOne = refusal("You must upload exactly one file.");
  await expects(t, member.post(pathOf("no_such_picture")), exactlyOne);
  const two = multipart([
    { bytes: png, filename: '"a"' },
    { bytes: png, filename: '"b"', name: "b" },
  ]);
  const headers = { "Content-Type": multipartType };
  await expects(t, member.send("POST", pathOf("pair"), two, headers), exactlyOne);
  await expects(t, add(member, "large", Buffer.alloc(limits.emoji_bytes_max)), undecodable);
  await expects(
    t,
    add(member, "large", Buffer.alloc(limits.emoji_bytes_max + 1)),
    refusal("Uploaded file is larger than the allowed limit of 5 MiB", "PAYLOAD_TOO_LARGE", 413),
  );
  await expects(
    t,
    add(people["guest"] ?? owner, "large", "no picture"),
    insufficient,
    "the permission is checked first",
  );
});

t.test("[M7] of two concurrent uploads with one name, one succeeds and the file of the other is deleted", async (t) => {
  const answers = await Promise.all([add(member, "wanted"), add(owner, "wanted")]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400]);
  await server.realm.files.idle();
  const claimed = [...server.realm.view.realmEmoji.all()].filter(({ name }) => name === "wanted");
  t.equal(claimed.length, 1);
});

t.test("[D25] a repeated request with the same key gets the same answer and creates no second emoji", async (t) => {
  const headers = { "Idempotency-Key": "an-emoji" };
  await expects(t, add(member, "once", png, { headers }), success());
  const changes = await owner.watchChanges();
  await expects(t, add(member, "once", png, { headers }), success());
  t.strictSame(await changes(), []);
});

t.test("a custom emoji is an image and overrides the built-in one of its name", async (t) => {
  await member.post("/users/me/subscriptions", { subscriptions: [{ name: "general" }] });
  const rendered = async (content: string) => {
    const id = await member.say("general", "emoji", content);
    return (await member.get(`/messages/${id}`)).body.message.content;
  };
  const { source_url: tick } = await emojiNamed("green_tick");
  const image = `<img alt=":green_tick:" class="emoji" src="${tick}" title="green tick">`;
  t.equal(await rendered("look: :green_tick:"), `<p>look: ${image}</p>`);
  t.equal(await rendered("`:green_tick:` :no_such_emoji:"), "<p><code>:green_tick:</code> :no_such_emoji:</p>");
  const { source_url: tada } = await emojiNamed("tada");
  t.equal(await rendered(":tada:"), `<p><img alt=":tada:" class="emoji" src="${tada}" title="tada"></p>`);
  t.match(await rendered("🎉"), /emoji-1f389/, "the character itself is not replaced");
  const id = await member.say("general", "emoji", ":green_tick:");
  t.equal((await owner.delete(pathOf("green_tick"))).status, 200);
  t.equal((await member.get(`/messages/${id}`)).body.message.content, `<p>${image}</p>`, "a stored message keeps it");
  t.equal(await rendered(":green_tick:"), "<p>:green_tick:</p>", "the name of a deactivated emoji is plain text");
  t.equal((await owner.delete(pathOf("tada"))).status, 200);
  t.match(await rendered(":tada:"), /emoji-1f389/, "the built-in emoji is used again");
});

t.test("[M2, E2] emoji survive a restart, and a queue from before receives the current list", async (t) => {
  const first = await startTestServer(t);
  const queue = await first.owner.register({ event_types: ["realm_emoji"], fetch_event_types: [] });
  t.equal((await add(first.owner, "kept")).status, 200);
  t.equal((await first.owner.delete(pathOf("kept"))).status, 200);
  const { emoji } = (await first.owner.get("/realm/emoji")).body;
  await first.stop();
  const second = await startTestServer(t, { dataDir: first.dataDir });
  t.strictSame((await second.owner.get("/realm/emoji")).body.emoji, emoji);
  t.equal((await fetchPage(second.url, emoji["1"].source_url)).status, 200);
  const { body } = await second.owner.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  t.equal(body.events.length, 2);
  for (const event of body.events) t.match(event, { op: "update", realm_emoji: emoji });
});

t.test("[S3] emoji_per_person_max: a person adds no more, and nor do their bots; an administrator does", async (t) => {
  const fresh = await startTestServer(t);
  const [person, other] = await Promise.all(["person", "other"].map((name) => fresh.user(name)));
  if (person === undefined || other === undefined) throw new Error("nobody there");
  const bot = await fresh.bot("helper", person);
  const some = { file: "none.png", stillFile: null, createdAt: 0, isActive: false };
  const authors = [person.userId, bot.userId];
  fresh.writeMany(
    "realmEmoji",
    rowsFor<"realmEmoji">(
      limits.emoji_per_person_max - 1,
      (id) => [id, { ...some, id, name: `filler-${id}`, authorId: authors[id % 2] ?? 0 }],
      100_000,
    ),
  );
  const full = refusal(`You have added too many custom emoji (maximum ${limits.emoji_per_person_max}).`);
  await expects(t, add(person, "the-last"), success());
  await expects(t, person.delete(pathOf("the-last")), success());
  await expects(t, add(person, "one-more"), full, "deactivated emoji count");
  await expects(t, add(bot, "by-bot"), full);
  await expects(t, add(other, "of-another"), success());
  const change = { role: roles.administrator };
  await expects(t, fresh.owner.patch(`/users/${person.userId}`, change), success());
  await expects(t, add(person, "by-administrator"), success());
  await expects(t, add(bot, "by-their-bot"), success(), "the bot of an administrator");
});

t.test("[S3] emoji_per_realm_max: one more is rejected; deactivated emoji count", async (t) => {
  const { view, lmdb, projections } = server.realm;
  const before = [...view.realmEmoji.all()];
  const [some] = before;
  if (some === undefined) throw new Error("there are emoji");
  const fillers = Array.from({ length: limits.emoji_per_realm_max - before.length - 1 }, (_, index) => {
    // Ids above the counter, so that none is used twice.
    return { ...some, id: 100_000 + index, name: `filler-${index}`, isActive: false };
  });
  lmdb.transaction(() => {
    for (const row of fillers) lmdb.put("realmEmoji", row.id, row);
  });
  for (const row of fillers) projections.apply({ table: "realmEmoji", key: row.id, row });
  t.equal((await add(owner, "the-last")).status, 200);
  await expects(t, add(owner, "one-more"), "Too many custom emoji");
  await owner.delete(pathOf("the-last"));
  await expects(t, add(owner, "one-more"), "Too many custom emoji");
});
