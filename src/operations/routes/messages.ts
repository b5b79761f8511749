/** Sending messages (public API: send-message). Reading them is in message-fetch.ts. */
import { command } from "../../../actors/protocol/decision.ts";
import { resolveContent } from "../../../domain/markdown/resolve.ts";
import { mentionResolver } from "../../../domain/mention-resolver.ts";
import { parseMessage, readContent } from "../../../domain/message-content.ts";
import { channelAddress, directAddress } from "../../../domain/post-address.ts";
import type { View } from "../../../domain/view.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { renderMessage, sendMessage } from "../../../schemas/messages.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";
import { isReadingClient } from "../identity/client-name.ts";
import { codeHighlighter, writerOf } from "../media/code-highlighter.ts";

type SendParams = ParamsOf<typeof sendMessage>;

export const messageRoutes = [
  bind(sendMessage, (call) => {
    const sender = requireCaller(call);
    const { realm } = call;
    const params = addressed(realm.view, sender, call.params);
    if (isRefusal(params)) return params;
    const content = readContent(params.content);
    if (typeof content !== "string") return content;
    const to = isToChannel(params)
      ? channelAddress(realm.view, sender, params.to, params.topic)
      : directAddress(realm.view, sender, params.to);
    if (isRefusal(to)) return to;
    const written = parseMessage(realm.view, sender, content, call.siteUrl);
    return codeHighlighter.whenHighlighted(written, writerOf(call), (parsed) =>
      realm.dispatcher.ask(
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
        call.idempotencyKey,
      ),
    );
  }),

  bind(renderMessage, (call) => {
    const { view } = call.realm;
    const caller = requireCaller(call);
    const content = readContent(call.params.content);
    if (typeof content !== "string") return content;
    const written = parseMessage(view, caller, content, call.siteUrl);
    return codeHighlighter.whenHighlighted(written, writerOf(call), (parsed) =>
      ok({ rendered: resolveContent(parsed, mentionResolver(view, caller)).html }),
    );
  }),
];

/** A message with a destination. */
type Addressed = SendParams & { readonly to: NonNullable<SendParams["to"]> };

function isToChannel({ type }: SendParams): boolean {
  return type === "channel" || type === "stream";
}

/**
 * A channel message that a bot sends without naming a channel is posted in the bot's default channel (public API,
 * /bots).
 */
function addressed(view: View, sender: UserRecord, params: SendParams): Addressed | Refusal {
  const { to } = params;
  const isNowhere = to === undefined || (Array.isArray(to) && to.length === 0);
  const fallback = isNowhere && isToChannel(params) ? view.row("bots", sender.id)?.defaultSendingChannelId : null;
  if (typeof fallback === "number") return { ...params, to: fallback };
  // Not copied: `{ ...params, to }` costs 2 us, because it creates a new hidden class each time.
  return isAddressed(params) ? params : refuse.missing("to");
}

function isAddressed(params: SendParams): params is Addressed {
  return params.to !== undefined;
}
