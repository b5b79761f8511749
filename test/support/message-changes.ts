/** Commands that change messages, with what most tests do not care for filled in. */
import { type Command, command } from "../../actors/commands.ts";
import type { MessageEdit } from "../../actors/message-commands.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import { ownerId } from "./runtime.ts";

type Wish = Partial<Omit<MessageEdit, "content">> & { readonly content?: string };

/** No notices, one message, unless the wish says otherwise. */
export function editCommand(id: number, wish: Wish, callerId = ownerId): Command<"message.edit"> {
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
