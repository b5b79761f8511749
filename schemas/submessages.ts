/** Submessages: what people do with the poll or the to-do list in a message (public API: /submessage). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

/** As the message object carries it (OpenAPI, MessagesBase). */
export const Submessage = Type.Object({
  id: Id,
  message_id: Id,
  sender_id: Id,
  msg_type: Type.String(),
  content: Type.String(),
});

export const addSubmessage = defineEndpoint({
  operationId: "add-submessage",
  method: "POST",
  path: "/submessage",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a vote, an option, a task or the like to a message. The first submessage must come from its sender.",
  params: {
    message_id: Id,
    msg_type: Type.String({ maxLength: limits.submessage_type_code_points_max }),
    /** JSON text. What it may say depends on the message's widget. */
    content: Type.String({ maxLength: limits.submessage_code_points_max }),
  },
  ok: {},
  errors: [],
});
