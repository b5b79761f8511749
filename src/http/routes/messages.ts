/** Messages (spec 2.9, 4.10; public API: send-message, get-messages). */
import { type Address, command } from "../../../actors/commands.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { getMessage, getMessages, sendMessage } from "../../../schemas/messages.ts";
import type { ChannelRecord, MessageRecord, UserRecord } from "../../../schemas/records.ts";
import { userSetting } from "../../../schemas/user-settings.ts";
import { lookUp } from "../../domain/look-up.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { cutContent } from "../../domain/message-content.ts";
import { readNarrow, termsOf } from "../../domain/narrow.ts";
import { personByAddress } from "../../domain/people.ts";
import { canReadMessage, hasMetadataAccess } from "../../domain/permissions.ts";
import { checkChannelName, unprintablePosition } from "../../domain/text.ts";
import { meantTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { fetchMessages } from "../../queries/message-fetch.ts";
import { flagsOf, type MessageOptions, messageBody } from "../../queries/messages.ts";
import { bind, callerOf, type Handled } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import type { Realm } from "../../runtime/realm.ts";

type SendParams = ParamsOf<typeof sendMessage>;
type FetchParams = ParamsOf<typeof getMessages>;

export const messageRoutes = [
  bind(sendMessage, (call) => {
    const sender = callerOf(call);
    const { realm } = call;
    const params = addressed(realm.view, sender, call.params);
    if ("kind" in params) return params;
    const content = readContent(params.content);
    if (typeof content !== "string") return content;
    const to = isToChannel(params)
      ? channelAddress(realm.view, sender, params)
      : directAddress(realm.view, sender, params.to);
    if ("kind" in to) return to;
    const parsed = parseContent(content, {
      linkifiers: [],
      translateEmoticons: userSetting(sender, "translate_emoticons"),
    });
    return realm.dispatcher.ask(
      command(
        to,
        "message.post",
        {
          content,
          parsed,
          client: call.client,
          queueId: params.queue_id ?? null,
          localId: params.local_id ?? null,
        },
        sender.id,
      ),
      call.claim,
    );
  }),

  bind(getMessages, (call) => {
    let isAbandoned = false;
    call.onAbort(() => {
      isAbandoned = true;
    });
    return fetch(call.realm, callerOf(call), call.params, () => isAbandoned);
  }),

  bind(getMessage, (call) => {
    const { view } = call.realm;
    const caller = callerOf(call);
    const message = view.row("messages", call.params.message_id);
    if (message === undefined || !canReadMessage(view, caller, message)) return refuse.invalidMessage();
    const body = messageForReader(view, caller, message, {
      applyMarkdown: call.params.apply_markdown,
      allowEmptyTopicName: call.params.allow_empty_topic_name,
      clientGravatar: true,
    });
    return body === null ? refuse.invalidMessage() : ok({ message: body, raw_content: message.content });
  }),
];

/** A message that says where it goes. */
type Addressed = SendParams & { readonly to: NonNullable<SendParams["to"]> };

function isToChannel({ type }: SendParams): boolean {
  return type === "channel" || type === "stream";
}

/** What a bot sends to no channel in particular goes to its default one (public API, /bots). */
function addressed(view: View, sender: UserRecord, params: SendParams): Addressed | Refusal {
  const { to } = params;
  const isNowhere = to === undefined || (Array.isArray(to) && to.length === 0);
  const fallback = isNowhere && isToChannel(params) ? view.row("bots", sender.id)?.defaultSendingChannelId : null;
  if (typeof fallback === "number") return { ...params, to: fallback };
  return to === undefined ? refuse.missing("to") : { ...params, to };
}

/** Trailing blanks go, what is too long is cut (behaviour 5.1). */
function readContent(raw: string): string | Refusal {
  if (raw.includes("\0")) return refuse.badRequest("Message must not contain null bytes");
  return raw.trim() === "" ? refuse.badRequest("Message must not be empty") : cutContent(raw);
}

function channelAddress(view: View, sender: UserRecord, params: Addressed): Address | Refusal {
  const { to } = params;
  const target = Array.isArray(to) ? to[0] : to;
  if (target === undefined || (Array.isArray(to) && to.length !== 1))
    return refuse.badRequest("Expected exactly one channel");
  const badName =
    typeof target === "number" ? null : checkChannelName(target.trim(), limits.channel_name_code_points_max);
  if (badName !== null) return badName;
  const channel = typeof target === "number" ? view.channels.get(target) : view.channels.byName(target.trim());
  if (channel === undefined || !mayKnow(view, sender, channel)) {
    return typeof target === "number" ? refuse.channelIdUnknown(target) : refuse.channelNameUnknown(target);
  }
  if (params.topic === undefined) return { actor: "topic", channelId: channel.id, topic: "" };
  const topic = meantTopic(view, params.topic);
  const position = unprintablePosition(topic);
  if (position > 0) return refuse.badRequest(`Invalid character in topic, at position ${position}!`);
  return { actor: "topic", channelId: channel.id, topic };
}

/** A bot may know what its owner knows (behaviour 5.1). */
function mayKnow(view: View, sender: UserRecord, channel: ChannelRecord): boolean {
  const owner = sender.botOwnerId === null ? undefined : view.users.get(sender.botOwnerId);
  return hasMetadataAccess(view, sender, channel) || (owner !== undefined && hasMetadataAccess(view, owner, channel));
}

function directAddress(view: View, sender: UserRecord, to: Addressed["to"]): Address | Refusal {
  const recipients = Array.isArray(to) ? to : typeof to === "string" ? to.split(",") : [to];
  if (recipients.length === 0) return refuse.badRequest("Message must have recipients");
  if (new Set(recipients.map((recipient) => typeof recipient)).size > 1) {
    return refuse.badRequest("Recipient lists may contain emails or user IDs, but not both.");
  }
  const ids = new Set<number>([sender.id]);
  for (const recipient of recipients) {
    const user = findRecipient(view, sender, recipient);
    if (user === undefined) {
      return refuse.badRequest(
        typeof recipient === "number" ? `Invalid user ID ${recipient}` : `Invalid email '${recipient.trim()}'`,
      );
    }
    ids.add(user.id);
  }
  if (ids.size > limits.direct_recipients_max) return refuse.badRequest("Too many recipients");
  return { actor: "direct", userIds: [...ids].sort((a, b) => a - b) };
}

function findRecipient(view: View, sender: UserRecord, recipient: number | string): UserRecord | undefined {
  return typeof recipient === "number" ? view.users.get(recipient) : personByAddress(view, sender, recipient.trim());
}

/** The message with the reader's flags; null when its conversation is gone. */
function messageForReader(view: View, reader: UserRecord, message: MessageRecord, options: MessageOptions) {
  const body = messageBody(view, message, options);
  return body === undefined ? null : { ...body, flags: flagsOf(view, reader, message) };
}

/** Larger than any id; what `newest` stands for (behaviour 5.4). */
const newestAnchor = 10_000_000_000_000_000 - 1;

async function fetch(
  realm: Realm,
  reader: UserRecord,
  params: FetchParams,
  isAbandoned: () => boolean,
): Promise<Handled> {
  const { view } = realm;
  const options: MessageOptions = {
    applyMarkdown: params.apply_markdown,
    clientGravatar: params.client_gravatar,
    allowEmptyTopicName: params.allow_empty_topic_name,
  };
  const show = (messages: readonly MessageRecord[]) =>
    messages.flatMap((message) => messageForReader(view, reader, message, options) ?? []);
  if (params.message_ids !== undefined) return fetchByIds(view, reader, params, show);

  const range = readRange(params);
  if ("kind" in range) return range;
  const narrowed = readNarrow(view, reader, termsOf(params.narrow ?? []));
  if ("kind" in narrowed) return narrowed;
  const fetched = await fetchMessages(view, reader, narrowed, range, isAbandoned);
  return ok({
    messages: show(fetched.messages),
    anchor: range.anchor,
    found_anchor: fetched.foundAnchor,
    found_oldest: range.anchor === 0 || fetched.foundOldest,
    found_newest: range.anchor === newestAnchor || fetched.foundNewest,
    history_limited: false,
  });
}

const notWithIds = ["anchor", "include_anchor", "num_after", "num_before", "use_first_unread_anchor"] as const;

function fetchByIds(
  view: View,
  reader: UserRecord,
  params: FetchParams,
  show: (messages: readonly MessageRecord[]) => unknown[],
): Handled {
  const others = notWithIds.filter((name) => params[name] !== undefined);
  if (others.length > 0) return refuse.parameterCombination([...others, "message_ids"].sort());
  const narrowed = readNarrow(view, reader, termsOf(params.narrow ?? []));
  if ("kind" in narrowed) return narrowed;
  const ids = [...new Set(params.message_ids)].sort((a, b) => a - b);
  if (ids.length > limits.messages_per_fetch_max) return tooMany();
  const readable = ids.flatMap((id) => {
    const message = view.row("messages", id);
    const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
    if (message === undefined || conversation === undefined || !canReadMessage(view, reader, message)) return [];
    return narrowed.matches({ message, conversation }) ? [message] : [];
  });
  return ok({
    messages: show(readable),
    found_anchor: false,
    found_oldest: false,
    found_newest: false,
    history_limited: false,
  });
}

function tooMany(): Refusal {
  return refuse.badRequest(`Too many messages requested (maximum ${limits.messages_per_fetch_max}).`);
}

function readRange(params: FetchParams) {
  const { num_before: before, num_after: after } = params;
  if (before === undefined) return refuse.missing("num_before");
  if (after === undefined) return refuse.missing("num_after");
  const anchor = readAnchor(params);
  if (typeof anchor !== "number") return anchor;
  if (before + after > limits.messages_per_fetch_max) return tooMany();
  const includesAnchor = params.include_anchor ?? true;
  if (!includesAnchor && before > 0 && after > 0) {
    return refuse.badRequest("The anchor can only be excluded at an end of the range");
  }
  return { anchor, before, after, includesAnchor };
}

/** Nothing is unread by rule yet, so `first_unread` is the newest, as the public API defines it then. */
const namedAnchors: Readonly<Record<string, number>> = {
  newest: newestAnchor,
  first_unread: newestAnchor,
  oldest: 0,
};

function readAnchor(params: FetchParams): number | Refusal {
  if (params.anchor === undefined) {
    return params.use_first_unread_anchor === true ? newestAnchor : refuse.badRequest("Missing 'anchor' argument.");
  }
  const named = lookUp(namedAnchors, params.anchor.replaceAll('"', ""));
  if (named !== undefined) return named;
  if (!/^-?\d{1,20}$/.test(params.anchor)) return refuse.badRequest("Invalid anchor");
  return Math.min(Math.max(0, Number(params.anchor)), newestAnchor);
}
