/** Commands that change messages, with defaults for everything that most tests do not set. */

import { type Command, command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import type { MessageEdit } from "../../schemas/message-changes.ts";
import { ownerId } from "./runtime.ts";

type WantedMessage = Partial<Omit<MessageEdit, "content">> & { readonly content?: string };

/** By default without notices, for one message. */
export function editCommand(id: number, wish: WantedMessage, callerId = ownerId): Command<"message.edit"> {
  const { content, ...rest } = wish;
  const parsed = content === undefined ? null : parseContent(content, { linkifiers: [], translateEmoticons: false });
  const edit: MessageEdit = {
    topic: null,
    channelId: null,
    propagateMode: "change_one",
    notifiesOldThread: false,
    notifiesNewThread: false,
    prevContentSha256: null,
    ...rest,
    content: parsed === null ? null : { text: content ?? "", parsed },
  };
  return command({ actor: "message", id }, "message.edit", edit, callerId);
}

export function deleteCommand(id: number, callerId = ownerId): Command<"message.delete"> {
  return command({ actor: "message", id }, "message.delete", {}, callerId);
}

export function reactCommand(
  op: "add" | "remove",
  id: number,
  name: string,
  callerId = ownerId,
): Command<"reaction.add" | "reaction.remove"> {
  return command({ actor: "message", id }, `reaction.${op}`, { name, code: null, reactionType: null }, callerId);
}
