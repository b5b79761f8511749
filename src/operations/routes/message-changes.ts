/** Changing messages (public API: update-message, delete-message, get-message-history). */
import { command } from "../../../actors/protocol/decision.ts";
import { contentDiff } from "../../../domain/content-diff.ts";
import { cutContent, parseMessage } from "../../../domain/message-content.ts";
import { canReadMessage } from "../../../domain/permissions.ts";
import { realmSetting } from "../../../domain/realm-settings.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { deleteMessage, getMessageHistory, updateMessage } from "../../../schemas/message-changes.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { hiddenOrigins, type MessageSnapshot, messageHistory } from "../../queries/message-history.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, callerNow, requireCaller } from "../calls.ts";
import { codeHighlighter, writerOf } from "../media/code-highlighter.ts";

export const messageChangeRoutes = [
  bind(updateMessage, (call) => {
    const caller = requireCaller(call);
    const { params } = call;
    const content = params.content === undefined ? null : readEdit(call, params.content);
    if (isRefusal(content)) return content;
    const edit = {
      topic: params.topic ?? null,
      channelId: params.stream_id ?? null,
      propagateMode: params.propagate_mode,
      notifiesOldThread: params.send_notification_to_old_thread,
      notifiesNewThread: params.send_notification_to_new_thread,
      prevContentSha256: params.prev_content_sha256 ?? null,
    } as const;
    const to = { actor: "message", id: params.message_id } as const;
    const ask = (shown: typeof content) =>
      call.realm.dispatcher.ask(
        command(to, "message.edit", { ...edit, content: shown }, caller.id),
        call.idempotencyKey,
      );
    if (content === null) return ask(null);
    return codeHighlighter.whenHighlighted(content.parsed, writerOf(call), (parsed) => ask({ ...content, parsed }));
  }),

  bind(deleteMessage, (call) => {
    const to = { actor: "message", id: call.params.message_id } as const;
    return call.realm.dispatcher.ask(command(to, "message.delete", {}, requireCaller(call).id), call.idempotencyKey);
  }),

  bind(getMessageHistory, async (call) => {
    const history = historyOf(call, requireCaller(call));
    if (isRefusal(history)) return history;
    const compared = await withDiffs(history);
    // Other turns ran meanwhile: messages that the caller may no longer read are not returned (S1).
    const now = historyOf(call, callerNow(call));
    return isRefusal(now) ? now : ok({ message_history: compared });
  }),
];

function historyOf(call: Call<ParamsOf<typeof getMessageHistory>>, reader: UserRecord): MessageSnapshot[] | Refusal {
  const { view } = call.realm;
  if (realmSetting(view, "message_edit_history_visibility_policy") === "none") {
    return refuse.badRequest("Message edit history is disabled in this organization");
  }
  const message = view.row("messages", call.params.message_id);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined || !canReadMessage(view, reader, message)) {
    return refuse.invalidMessage();
  }
  const hidden = hiddenOrigins(view, reader, message);
  return messageHistory(view, message, conversation, call.params.allow_empty_topic_name, hidden);
}

/** One comparison blocks the event loop for some milliseconds, so each runs in its own iteration. */
async function withDiffs(history: readonly MessageSnapshot[]): Promise<MessageSnapshot[]> {
  const compared: MessageSnapshot[] = [];
  for (const snapshot of history) {
    const { prev_rendered_content: before, rendered_content: after } = snapshot;
    const diff = before === undefined ? null : contentDiff(before, after);
    compared.push(diff === null ? snapshot : { ...snapshot, content_html_diff: diff });
    if (diff !== null) await new Promise<void>((resume) => setImmediate(resume));
  }
  return compared;
}

/** Blank content becomes "(deleted)" (public API). */
function readEdit(call: Call, raw: string) {
  if (raw.includes("\0")) return refuse.badRequest("Message must not contain null bytes") satisfies Refusal;
  const text = raw.trim() === "" ? "(deleted)" : cutContent(raw);
  return { text, parsed: parseMessage(call.realm.view, requireCaller(call), text, call.siteUrl) };
}
