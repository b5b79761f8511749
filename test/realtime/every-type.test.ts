/**
 * State before + events = fresh fetch for what is a list of a person or of the organization, live and repeated; and a look
 * at the sources: a type of event that no such comparison follows makes this fail until it is followed, or said to be no state.
 */
import t from "tap";
import { personOf } from "../support/conversation.ts";
import { emittedTypes } from "../support/event-types.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { applyLists, listsPicture, listTypes } from "../support/mirror-lists.ts";
import { picture, upload } from "../support/pictures.ts";
import { connect, type Event, readNow } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

const everyOp: Readonly<Record<string, readonly (string | undefined)[]>> = {
  alert_words: [undefined],
  channel_folder: ["add", "reorder", "update"],
  drafts: ["add", "remove", "update"],
  muted_users: [undefined],
  navigation_view: ["add", "remove", "update"],
  realm_domains: ["add", "change", "remove"],
  realm_emoji: ["update"],
  realm_linkifiers: [undefined],
  realm_playgrounds: [undefined],
  saved_snippets: ["add", "remove", "update"],
  user_status: [undefined],
};

async function must(answer: Promise<{ status: number; body: Event }>): Promise<Event> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

t.test("[architecture, Event log] lists of a person and of the organization, op by op", async (t) => {
  const other = await personOf(server, "other");
  const params = {
    event_types: [...listTypes, "message"],
    fetch_event_types: listTypes,
    client_capabilities: { notification_settings_null: true, linkifier_url_template: true },
  };
  const socket = await connect(owner);
  const state = await socket.ask({ type: "register", ...params });
  const queue = await owner.register(params);

  await must(owner.post("/users/me/alert_words", { alert_words: ["fire", "water"] }));
  await must(owner.delete("/users/me/alert_words", { alert_words: ["fire"] }));
  const draft = { type: "private", to: [other.userId], topic: "", content: "a", timestamp: 1_700_000_000 };
  const { ids: drafts } = await must(owner.post("/drafts", { drafts: [draft, { ...draft, content: "b" }, draft] }));
  await must(owner.patch(`/drafts/${drafts[0]}`, { draft: { ...draft, content: "c" } }));
  await must(owner.delete(`/drafts/${drafts[1]}`));
  await must(owner.post(`/users/me/muted_users/${other.userId}`));
  for (const [title, content] of Object.entries({ one: "1", two: "2" })) {
    const { saved_snippet_id: id } = await must(owner.post("/saved_snippets", { title, content }));
    await must(owner.patch(`/saved_snippets/${id}`, { content: "changed" }));
    if (title === "two") await must(owner.delete(`/saved_snippets/${id}`));
  }
  for (const fragment of ["narrow/topic/lunch", "narrow/topic/dinner"]) {
    await must(owner.post("/navigation_views", { fragment, is_pinned: true, name: fragment }));
    await must(owner.patch(`/navigation_views/${fragment}`, { is_pinned: false }));
  }
  await must(owner.delete("/navigation_views/narrow/topic/lunch"));
  const folders: number[] = [];
  for (const name of ["first", "second"]) {
    folders.push((await must(owner.post("/channel_folders/create", { name, description: "" }))).channel_folder_id);
  }
  await must(owner.patch(`/channel_folders/${folders[0]}`, { name: "renamed" }));
  await must(owner.patch("/channel_folders", { order: [...folders].reverse() }));
  for (const domain of ["one.example", "two.example"]) {
    await must(owner.post("/realm/domains", { domain, allow_subdomains: false }));
    await must(owner.patch(`/realm/domains/${domain}`, { allow_subdomains: true }));
  }
  await must(owner.delete("/realm/domains/one.example"));
  const linkifier = { pattern: "#(?P<id>[0-9]+)", url_template: "https://example.com/{id}" };
  await must(owner.post("/realm/filters", linkifier));
  const playground = { name: "P", pygments_language: "Python", url_template: "https://example.com/{code}" };
  await must(owner.post("/realm/playgrounds", playground));
  await must(upload(owner, "/realm/emoji/square", await picture("png", 64, 64)));
  for (const who of [owner, other]) {
    await must(who.post("/users/me/status", { status_text: "busy", emoji_name: "tada" }));
  }
  await must(other.post("/users/me/status", { status_text: "", emoji_name: "" }));

  const last = await owner.say("general", "t", "the end");
  await socket.event((event) => event.message?.id === last);
  const fresh = listsPicture(await owner.register(params));
  const repeated = await readNow(owner, queue);
  for (const [how, start, events] of [
    ["live", state, socket.events],
    ["repeated", queue, repeated],
  ] as const) {
    const known: Event = structuredClone(start);
    applyLists(known, events);
    for (const [key, value] of Object.entries(listsPicture(known))) t.strictSame(value, fresh[key], `${how}: ${key}`);
    for (const [type, ops] of Object.entries(everyOp)) {
      const told = new Set(events.filter((event) => event.type === type).map((event) => event.op));
      t.strictSame([...told].sort(), ops, `${how}: ${type} was told with every op`);
    }
  }
  socket.terminate();
});

/** Events that change nothing of what /register tells; why, and who proves them. */
const stateless: Readonly<Record<string, string>> = {
  attachment: "no state: GET /attachments (test/api/attachments)",
  muted_topics: "compared in a play of its own (state-and-events)",
  invites_changed: "no state: GET /invites (test/api/invites)",
  submessage: "a message's own (test/support/message-mirror)",
  reaction: "a message's own (test/support/message-mirror)",
  typing: "volatile",
  typing_edit_message: "volatile",
  presence: "volatile, mirrored",
  update_display_settings: "tells older clients again what user_settings tells",
  update_global_notifications: "tells older clients again what user_settings tells",
};

t.test("[architecture, Event log] every type of event that is emitted is compared with a fresh fetch", (t) => {
  const { literal: types, computed } = emittedTypes();
  t.ok(types.length > 20, `${types.length} types`);
  const followed = new Set([...mirroredTypes, ...listTypes, ...Object.keys(stateless)]);
  t.strictSame(
    types.filter((type) => !followed.has(type)),
    [],
  );
  // Those whose name is computed: of older clients' settings events.
  t.strictSame(computed, ["older.type"]);
  t.end();
});
