/** Typing in the edit of a message (OpenAPI, typing_edit_message): topics without a name have one for clients that do not know that. */
import { shownTopic } from "../domain/topics.ts";
import type { EventKind } from "./event-kind.ts";

export const typingEditMessage: EventKind = {
  key: (_view, _record, _user, queue) => queue.variant,
  build(view, record, _user, queue) {
    const recipient = record.body["recipient"] as { readonly type: string; readonly topic?: string };
    const { topic } = recipient;
    const shown =
      topic === undefined ? recipient : { ...recipient, topic: shownTopic(view, topic, queue.can("empty_topic_name")) };
    return [{ type: "typing_edit_message", ...record.body, recipient: shown }];
  },
};
