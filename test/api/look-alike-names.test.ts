/** Names and addresses that look like others are rejected at every door (D264). */
import t from "tap";
import { type Answer, type Client, expects, refusal } from "../support/client.ts";
import { createGroup } from "../support/groups.ts";
import { makeField } from "../support/profiles.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { owner, member } = await startServerWithUsers(t, ["member"]);
const channel = await owner.createChannel("kitchen", [owner]);
const group = await createGroup(owner, "cooks");
const field = await makeField(owner, "Site", 1);
const post = await owner.say("kitchen", "lunch", "soup");
await owner.post("/navigation_views", { fragment: "narrow/is/alerted", is_pinned: true, name: "mine" });

type Door = (by: Client, name: string) => Promise<Answer>;
const good = { email: "new@example.com", password: "12345678" };
const fieldOf = (name: string) => ({ name, field_type: 1, hint: "" });
const linkifier = (pattern: string) => ({ pattern, url_template: "https://example.com/" });

/** What each operation calls the name that it rejects; null: it says less. */
const names: readonly (readonly [what: string | null, Door])[] = [
  ["channel name", (by, name) => by.post("/users/me/subscriptions", { subscriptions: [{ name }] })],
  ["channel name", (by, name) => by.post("/channels/create", { name, subscribers: [] })],
  ["channel name", (by, new_name) => by.patch(`/streams/${channel}`, { new_name })],
  ["channel folder name", (by, name) => by.post("/channel_folders/create", { name, description: "" })],
  ["user group name", (by, name) => by.post("/user_groups/create", { name, description: "", members: [] })],
  ["user group name", (by, name) => by.patch(`/user_groups/${group}`, { name })],
  ["name", (by, name) => by.post("/realm/profile_fields", fieldOf(name))],
  ["name", (by, name) => by.patch(`/realm/profile_fields/${field}`, fieldOf(name))],
  ["name", (by, name) => by.post("/navigation_views", { fragment: "narrow/a", is_pinned: true, name })],
  ["name", (by, name) => by.patch("/navigation_views/narrow/is/alerted", { name })],
  [
    "name",
    (by, name) =>
      by.post("/realm/playgrounds", { name, pygments_language: "a", url_template: "https://example.com/{code}" }),
  ],
  ["name", (by, name) => by.patch("/realm", { name })],
  [
    "service_name",
    (by, service_name) =>
      by.post("/bots", {
        full_name: "bot",
        short_name: "bot",
        bot_type: 3,
        payload_url: "https://example.com",
        service_name,
      }),
  ],
  [null, (by, full_name) => by.post("/users", { ...good, full_name })],
  [null, (by, full_name) => by.patch("/settings", { full_name })],
  [null, (by, full_name) => by.patch(`/users/${member.userId}`, { full_name })],
  [null, (by, full_name) => by.post("/bots", { full_name, short_name: "helper" })],
];

const topics: readonly Door[] = [
  (by, topic) => by.post("/messages", { type: "channel", to: channel, topic, content: "a" }),
  (by, topic) => by.patch(`/messages/${post}`, { topic }),
  (by, topic) => by.post("/user_topics", { stream_id: channel, topic, visibility_policy: 3 }),
  (by, topic) =>
    by.post("/scheduled_messages", {
      type: "channel",
      to: channel,
      topic,
      content: "a",
      scheduled_delivery_timestamp: 4_000_000_000,
    }),
];

t.test("[D264] a name that looks like another one is rejected by each operation, and nothing is written", async (t) => {
  const changes = await owner.watchChanges();
  for (const name of ["ad\u200bmin", "ad\u202emin", "ad\u00admin", "ad\u0007min", "ad\ue000min", "ad\u{e0041}min"]) {
    for (const [what, door] of names) {
      const message = what === null ? "Invalid characters in name!" : `Invalid character in ${what}, at position 3.`;
      await expects(t, door(owner, name), message, `${door}`);
    }
    for (const door of topics)
      await expects(t, door(owner, name), "Invalid character in topic, at position 3!", `${door}`);
  }
  t.strictSame(await changes(), []);
});

t.test("[D264] shorter texts that are shown hold no control characters, and nothing is written", async (t) => {
  const texts: readonly (readonly [what: string, Door])[] = [
    ["status_text", (by, status_text) => by.post("/users/me/status", { status_text })],
    ["alert word", (by, word) => by.post("/users/me/alert_words", { alert_words: [word] })],
    ["pattern", (by, pattern) => by.post("/realm/filters", linkifier(pattern))],
    ["hint", (by, hint) => by.post("/realm/profile_fields", { ...fieldOf("New"), hint })],
    ["Site", (by, value) => by.patch("/users/me/profile_data", { data: [{ id: field, value }] })],
    [
      "field_data",
      (by, text) =>
        by.post("/realm/profile_fields", { ...fieldOf("New"), field_type: 3, field_data: { a: { text, order: "1" } } }),
    ],
  ];
  const changes = await owner.watchChanges();
  for (const [what, door] of texts)
    for (const character of ["\0", "\u001b", "\u0085"])
      await expects(t, door(owner, `ab${character}c`), `Invalid character in ${what}, at position 3.`, `${door}`);
  t.strictSame(await changes(), []);
});

t.test("[D264] texts of several lines hold no control characters but tabs and line breaks", async (t) => {
  const moderation_request_channel_id = await owner.createChannel("reports", [owner], { invite_only: true });
  await owner.patch("/realm", { moderation_request_channel_id });
  const long = await makeField(owner, "Life", 2);
  const folder = (await owner.post("/channel_folders/create", { name: "Folder", description: "" })).body;
  const reminder = { message_id: post, scheduled_delivery_timestamp: 4_000_000_000 };
  const snippet = (await owner.post("/saved_snippets", { title: "a", content: "b" })).body.saved_snippet_id;
  let number = 0;
  const name = () => `new ${++number}`;
  const texts: readonly (readonly [what: string, Door])[] = [
    [
      "description",
      (by, description) => by.post("/users/me/subscriptions", { subscriptions: [{ name: name(), description }] }),
    ],
    ["description", (by, description) => by.post("/channels/create", { name: name(), description, subscribers: [] })],
    ["description", (by, description) => by.patch(`/streams/${channel}`, { description })],
    ["description", (by, description) => by.post("/channel_folders/create", { name: name(), description })],
    ["description", (by, description) => by.patch(`/channel_folders/${folder.channel_folder_id}`, { description })],
    ["description", (by, description) => by.post("/user_groups/create", { name: name(), description, members: [] })],
    ["description", (by, description) => by.patch(`/user_groups/${group}`, { description })],
    ["description", (by, description) => by.patch("/realm", { description })],
    ["description", (by, text) => by.post(`/messages/${post}/report`, { report_type: "spam", description: text })],
    ["note", (by, note) => by.post("/reminders", { ...reminder, note })],
    ["Life", (by, value) => by.patch("/users/me/profile_data", { data: [{ id: long, value }] })],
    ["content", (by, content) => by.post("/saved_snippets", { title: name(), content })],
    ["content", (by, content) => by.patch(`/saved_snippets/${snippet}`, { content })],
  ];
  const changes = await owner.watchChanges();
  for (const [what, door] of texts)
    for (const character of ["\0", "\u001b", "\u0085"])
      await expects(t, door(owner, `ab${character}c`), `Invalid character in ${what}, at position 3.`, `${door}`);
  t.strictSame(await changes(), []);
  for (const [, door] of texts) {
    const { status, body } = await door(owner, "a\tb\r\nc");
    t.equal(status, 200, `${door}: ${body.msg}`);
  }
});

t.test("[D264] an address with an invisible character is rejected for accounts and changes", async (t) => {
  const changes = await owner.watchChanges();
  for (const email of ["ad\u0001min@example.com", "ad\u200bmin@example.com", "ad\u200dmin@example.com"]) {
    const invalid = refusal("Enter a valid email address.");
    await expects(t, owner.post("/users", { ...good, full_name: "New", email }), invalid);
    await expects(t, owner.patch("/settings", { email }), invalid);
  }
  t.strictSame(await changes(), []);
});

t.test("[D264] addresses that differ in case or composition only are one account's", async (t) => {
  const [composed, decomposed] = ["jos\u00e9@example.com", "JOSE\u0301@example.com"];
  t.equal((await owner.post("/users", { ...good, full_name: "José", email: composed })).status, 200);
  await expects(t, owner.post("/users", { ...good, full_name: "Jose", email: decomposed }), "Email is already in use.");
  const { body } = await owner.anonymous().post("/fetch_api_key", { username: decomposed, password: good.password });
  t.equal(body.result, "success", "it logs in");
  const Authorization = `Basic ${Buffer.from(`${decomposed}:${body.api_key}`).toString("base64")}`;
  t.match((await owner.anonymous().get("/users/me", {}, { Authorization })).body, { email: composed });
  t.match((await owner.get(`/users/${encodeURIComponent(decomposed)}`)).body, { user: { email: composed } });
});

t.test("[D264] names with the joiners of emoji and Persian are accepted by each operation", async (t) => {
  let number = 0;
  for (const door of [...names.map(([, door]) => door), ...topics]) {
    const { status, body } = await door(owner, `می\u200cخواهم 👩\u200d🍳 ${++number}`);
    t.equal(status, 200, `${door}: ${body.msg}`);
  }
});
