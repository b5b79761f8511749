/** Sending messages (public API: send-message). Reading them: message-fetch.ts. */
import { type Address, command } from "../../../actors/commands.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { renderMessage, sendMessage } from "../../../schemas/messages.ts";
import type { ChannelRecord, UserRecord } from "../../../schemas/records.ts";
import { resolveContent } from "../../domain/markdown/resolve.ts";
import { mentionResolver } from "../../domain/mention-resolver.ts";
import { parseMessage, readContent } from "../../domain/message-content.ts";
import { personByAddress } from "../../domain/people.ts";
import { hasMetadataAccess } from "../../domain/permissions.ts";
import { checkChannelName, unprintablePosition } from "../../domain/text.ts";
import { meantTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import { isReadingClient } from "../client-name.ts";

type SendParams = ParamsOf<typeof sendMessage>;

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
    const parsed = parseMessage(realm.view, sender, content, call.siteUrl);
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
          isReadBySender: params.read_by_sender ?? isReadingClient(call.client),
        },
        sender.id,
      ),
      call.claim,
    );
  }),

  bind(renderMessage, (call) => {
    const { view } = call.realm;
    const caller = callerOf(call);
    const content = readContent(call.params.content);
    if (typeof content !== "string") return content;
    const parsed = parseMessage(view, caller, content, call.siteUrl);
    return ok({ rendered: resolveContent(parsed, mentionResolver(view, caller)).html });
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
