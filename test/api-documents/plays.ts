/**
 * One successful request of every operation, in an order in which each finds what it needs. What is recorded becomes the
 * examples of the API documents, so names and texts are ones that a reader understands.
 */
import { areaCases } from "../areas/index.ts";
import { Page } from "../support/page.ts";
import { picture as pictureOf } from "../support/pictures.ts";
import type { TestServer } from "../support/server.ts";
import type { Recorder } from "./recorder.ts";

interface Stage {
  readonly server: TestServer;
  readonly recorder: Recorder;
  /** The ids of what the plays before have made. */
  readonly annId: number;
  readonly channelId: number;
  readonly messageId: number;
}

/** UNIX seconds; the server's clock is earlier. */
const later = 1_798_761_600;

async function playChannels({ recorder: { call }, annId, channelId }: Stage): Promise<void> {
  const { channel_folder_id: folder } = await call("create-channel-folder", {
    name: "Teams",
    description: "One channel for each team",
  });
  await call("get-channel-folders");
  await call("update-channel-folder", { channel_folder_id: folder, name: "All teams" });
  await call("patch-channel-folders", { order: [folder] });
  await call("subscribe", { subscriptions: [{ name: "design", description: "How it looks" }], principals: [annId] });
  await call("get-streams", { include_public: true });
  await call("get-stream-by-id", { stream_id: channelId });
  await call("get-stream-id", { stream: "kitchen" });
  await call("get-stream-email-address", { stream_id: channelId });
  await call("update-stream", { stream_id: channelId, description: "Lunch, and who cooks it" });
  await call("add-default-stream", { stream_id: channelId });
  await call("remove-default-stream", { stream_id: channelId });
  await call("get-subscriptions");
  const subscription_data = [{ stream_id: channelId, property: "pin_to_top", value: true }];
  await call("update-subscription-settings", { subscription_data });
  await call("get-subscribers", { stream_id: channelId });
  await call("get-user-channels", { user_id: annId });
  await call("get-subscription-status", { user_id: annId, stream_id: channelId });
  await call("update-subscriptions", { add: [{ name: "releases" }], delete: [] });
  await call("unsubscribe", { subscriptions: ["releases"] });
  const { id: old } = await call("create-channel", { name: "spring 2025", subscribers: [annId] });
  await call("archive-stream", { stream_id: old });
  await call("create-big-blue-button-video-call", { meeting_name: "Standup" }, { fails: true });
}

async function playMessages({ recorder: { call }, server, annId, channelId, messageId }: Stage): Promise<void> {
  await call("get-messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: lunch });
  await call("get-message", { message_id: messageId });
  await call("render-message", { content: "Soup is **ready**" });
  await call("check-messages-match-narrow", {
    msg_ids: [messageId],
    narrow: [{ operator: "search", operand: "soup" }],
  });
  await call("update-message", { message_id: messageId, content: "Soup is **ready**, and bread" });
  await call("get-message-history", { message_id: messageId });
  await call("add-reaction", { message_id: messageId, emoji_name: "tada" });
  await call("remove-reaction", { message_id: messageId, emoji_name: "tada" });
  await call("update-message-flags", { messages: [messageId], op: "add", flag: "starred" });
  const around = { anchor: "newest", num_before: 100, num_after: 0, narrow: lunch };
  await call("update-message-flags-for-narrow", { ...around, op: "add", flag: "read" });
  await call("get-read-receipts", { message_id: messageId });
  const moderation = { name: "moderation", subscribers: [2], invite_only: true };
  const { body } = await server.owner.post("/channels/create", moderation);
  await server.owner.patch("/realm", { moderation_request_channel_id: body.id });
  await call("report-message", { message_id: messageId, report_type: "spam" });
  await call("set-typing-status", { op: "start", type: "direct", to: [annId] });
  await call("set-typing-status-for-message-edit", { message_id: messageId, op: "start" });
  await call("mark-topic-as-read", { stream_id: channelId, topic_name: "lunch" });
  await call("mark-stream-as-read", { stream_id: channelId });
  await call("mark-all-as-read");
  await call("get-stream-topics", { stream_id: channelId });
  await call("update-user-topic", { stream_id: channelId, topic: "lunch", visibility_policy: 3 });
  await call("mute-topic", { stream_id: channelId, topic: "coffee", op: "add" });
  const poll = await server.owner.say(channelId, "lunch", "/poll Where to?\nCorner\nHome");
  const vote = { type: "vote", key: "canned,1", vote: 1 };
  await call("add-submessage", { message_id: poll, msg_type: "widget", content: JSON.stringify(vote) });
  await call("delete-message", { message_id: poll });
  await server.owner.say(channelId, "old plans", "To be deleted");
  await call("delete-topic", { stream_id: channelId, topic_name: "old plans" });
  const { reminder_id } = await call("create-message-reminder", {
    message_id: messageId,
    scheduled_delivery_timestamp: later,
  });
  await call("get-reminders");
  await call("delete-reminder", { reminder_id });
  const { scheduled_message_id } = await call("create-scheduled-message", {
    type: "channel",
    to: channelId,
    topic: "lunch",
    content: "Soup again",
    scheduled_delivery_timestamp: later,
  });
  await call("get-scheduled-messages");
  await call("update-scheduled-message", { scheduled_message_id, content: "Soup again, at noon" });
  await call("delete-scheduled-message", { scheduled_message_id });
}

const lunch = [
  { operator: "channel", operand: "kitchen" },
  { operator: "topic", operand: "lunch" },
];

async function playPersonal({ recorder: { call }, annId, channelId }: Stage): Promise<void> {
  await call("add-alert-words", { alert_words: ["soup", "bread"] });
  await call("get-alert-words");
  await call("remove-alert-words", { alert_words: ["bread"] });
  const draft = { type: "stream", to: [channelId], topic: "lunch", content: "Who is in for", timestamp: 1_779_000_000 };
  const { ids } = await call("create-drafts", { drafts: [draft] });
  await call("get-drafts");
  await call("edit-draft", { draft_id: ids[0], draft: { ...draft, content: "Who is in for soup?" } });
  await call("delete-draft", { draft_id: ids[0] });
  for (const { examples } of areaCases) await examples?.(call);
  await call("mute-user", { muted_user_id: annId });
  await call("unmute-user", { muted_user_id: annId });
  await call("update-status", { status_text: "At lunch", emoji_name: "fork_and_knife" });
  await call("update-status-for-user", { user_id: annId, status_text: "On holiday" });
  await call("get-user-status", { user_id: annId });
  await call("update-presence", { status: "active", new_user_input: true, ping_only: false });
  await call("get-presence");
  await call("get-user-presence", { user_id_or_email: "2" });
  await call("update-settings", { twenty_four_hour_time: true });
  await call("update-display-settings", { twenty_four_hour_time: false });
  await call("update-notification-settings", { enable_sounds: false });
  await call("add-apns-token", { token: "abcd", appid: "org.example.chat" });
  await call("remove-apns-token", { token: "abcd" });
  await call("add-fcm-token", { token: "abcd" });
  await call("remove-fcm-token", { token: "abcd" });
  await call("test-notify");
  await call("e2ee-test-notify", {}, { fails: true });
  const keys = { push_public_key: "a2V5", bouncer_public_key: "a2V5", encrypted_push_registration: "ZGF0YQ==" };
  await call("register-push-device", { token_kind: "fcm", push_account_id: 1, ...keys }, { fails: true });
  const { device_id } = await call("register-client-device");
  await call("remove-client-device", { device_id });
}

async function playUsers({ recorder: { call }, server, annId }: Stage): Promise<void> {
  const email = "bob@example.com";
  const password = "correct horse battery";
  const { user_id: bobId } = await call("create-user", { email, password, full_name: "Bob" });
  await call("get-own-user");
  await call("get-users", { user_ids: [annId, bobId] });
  await call("get-user", { user_id: annId });
  await call("get-user-by-email", { email });
  await call("update-user", { user_id: bobId, role: 300 });
  await call("update-user-by-email", { email, full_name: "Bob Baker" });
  await call("deactivate-user", { user_id: bobId });
  await call("reactivate-user", { user_id: bobId });
  const anonymous = server.owner.anonymous();
  await call("fetch-api-key", { username: email, password }, { by: anonymous });
  await call("dev-fetch-api-key", { username: email }, { by: anonymous, fails: true });
  const page = new Page(server.url);
  await call("log-in", { username: email, password }, { by: page });
  await call("get-session", {}, { by: page });
  await new Page(server.url).logIn(email, password);
  const { sessions } = await call("get-sessions", {}, { by: page });
  const other = sessions.find((one: { current: boolean }) => !one.current);
  await call("end-session", { session_id: other.id }, { by: page });
  await call("deactivate-own-user", {}, { by: page });
  await server.owner.post(`/users/${bobId}/reactivate`);
  await page.logIn(email, password);
  await call("log-out", {}, { by: page });
  const { group_id: user_group_id } = await call("create-user-group", {
    name: "cooks",
    description: "Who cooks lunch",
    members: [annId],
  });
  await call("get-user-groups");
  await call("update-user-group", { user_group_id, description: "They cook lunch" });
  await call("update-user-group-members", { user_group_id, add: [bobId] });
  await call("get-user-group-members", { user_group_id });
  await call("get-is-user-group-member", { user_group_id, user_id: annId });
  const { group_id: inner } = await server.owner
    .post("/user_groups/create", { name: "bakers", description: "", members: [bobId] })
    .then(({ body }) => body);
  await call("update-user-group-subgroups", { user_group_id, add: [inner] });
  await call("get-user-group-subgroups", { user_group_id });
  await call("deactivate-user-group", { user_group_id });
}

async function playBots({ recorder: { call }, server }: Stage): Promise<void> {
  const { user_id: bot_id, email, api_key } = await call("create-bot", { full_name: "Lunch bot", short_name: "lunch" });
  await call("get-bots");
  await call("update-bot", { bot_id, full_name: "The lunch bot" });
  await call("get-bot-api-key", { bot_id });
  const by = Object.assign(Object.create(server.owner), { account: { email, key: api_key, userId: bot_id } });
  await call("update-bot-storage", { storage: { menu: "soup" } }, { by });
  await call("get-bot-storage", { keys: ["menu"] }, { by });
  await call("remove-bot-storage", { keys: ["menu"] }, { by });
  await call("regenerate-bot-api-key", { bot_id });
  await call("deactivate-bot", { bot_id });
  await call("service-outgoing-webhook");
}

async function playFiles({ recorder: { call } }: Stage): Promise<void> {
  const text = { bytes: "Leek and potato", name: "menu.txt" };
  const { url } = await call("upload-file", {}, { file: text });
  const [, realm_id_str, filename] = /^\/user_uploads\/(\d+)\/(.*)$/.exec(url) ?? [];
  await call("get-file-temporary-url", { realm_id_str: Number(realm_id_str), filename });
  const { attachments } = await call("get-attachments");
  await call("remove-attachment", { attachment_id: attachments[0].id });
  const picture = { file: { bytes: await pictureOf("png", 64, 64), name: "picture.png" } };
  await call("upload-avatar", {}, picture);
  await call("delete-avatar");
  await call("upload-custom-emoji", { emoji_name: "soup" }, picture);
  await call("get-custom-emoji");
  await call("deactivate-custom-emoji", { emoji_name: "soup" });
  await call("upload-realm-icon", {}, picture);
  await call("get-realm-icon");
  await call("delete-realm-icon");
  await call("upload-realm-logo", { night: false }, picture);
  await call("get-realm-logo", { night: false });
  await call("delete-realm-logo", { night: false });
}

async function playOrganization({ recorder: { call } }: Stage): Promise<void> {
  await call("get-server-settings");
  await call("update-realm", { description: "A chat for a kitchen" });
  await call("update-realm-user-settings-defaults", { twenty_four_hour_time: true });
  await call("get-usage");
  await call("get-realm-statistics");
  await call("test-welcome-bot-custom-message", { welcome_message_custom_text: "Welcome! Lunch is at noon." });
  await call("create-realm-domain", { domain: "example.org", allow_subdomains: false });
  await call("get-realm-domains");
  await call("update-realm-domain", { domain: "example.org", allow_subdomains: true });
  await call("delete-realm-domain", { domain: "example.org" });
  const pattern = "#(?P<id>[0-9]+)";
  const { id: filter_id } = await call("add-linkifier", { pattern, url_template: "https://example.org/issue/{id}" });
  await call("get-linkifiers");
  const preview = { pattern, url_template: "https://example.org/issue/{id}", text: "Soup is #12" };
  await call("preview-linkifier", preview);
  await call("update-linkifier", { filter_id, pattern, url_template: "https://example.org/issues/{id}" });
  await call("reorder-linkifiers", { ordered_linkifier_ids: [filter_id] });
  await call("remove-linkifier", { filter_id });
  const url_template = "https://example.org/run?code={code}";
  const { id: playground_id } = await call("add-code-playground", {
    name: "Example",
    pygments_language: "Python",
    url_template,
  });
  await call("remove-code-playground", { playground_id });
  const { id: field_id } = await call("create-custom-profile-field", { name: "Favorite soup", field_type: 1 });
  await call("get-custom-profile-fields");
  await call("reorder-custom-profile-fields", { order: [field_id] });
  await call("update-custom-profile-field", { field_id, hint: "Leek, for example" });
  await call("update-own-profile-data", { data: [{ id: field_id, value: "Leek" }] });
  await call("remove-own-profile-data", { data: [field_id] });
  await call("delete-custom-profile-field", { field_id });
  await call("create-invite-link", { invite_expires_in_minutes: 1440, invite_as: 400, stream_ids: [] });
  await call("send-invites", { invitee_emails: "eve@example.com", stream_ids: [] });
  const { invites } = await call("get-invites");
  const idOf = (isLink: boolean) => invites.find((one: { is_multiuse: boolean }) => one.is_multiuse === isLink).id;
  await call("edit-invite-link", { invite_id: idOf(true), invite_as: 600 });
  await call("revoke-invite-link", { invite_id: idOf(true) });
  await call("resend-email-invite", { invite_id: idOf(false) });
  await call("revoke-email-invite", { invite_id: idOf(false) });
}

/** @param server a new one, whose owner the recorder calls as */
export async function playAll(server: TestServer, recorder: Recorder): Promise<void> {
  const { call } = recorder;
  const { userId: annId } = await server.person("Ann");
  const queue = { event_types: ["message"], fetch_event_types: ["realm_domains"] };
  const { queue_id, last_event_id } = await call("register-queue", queue);
  await server.owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }], principals: [2, annId] });
  const { body } = await server.owner.get("/get_stream_id", { stream: "kitchen" });
  const message = { type: "channel", to: "kitchen", topic: "lunch", content: "Soup is **ready**" };
  const { id: messageId } = await call("send-message", message);
  await call("get-events", { queue_id, last_event_id, dont_block: true });
  await call("delete-queue", { queue_id });
  const stage = { server, recorder, annId, channelId: body.stream_id, messageId };
  for (const play of [playChannels, playMessages, playPersonal, playUsers, playBots, playFiles, playOrganization]) {
    await play(stage);
  }
  await call("regenerate-own-api-key", {}, { by: await server.person("Cleo") });
  await call("deactivate-realm");
}
