/** Polls and to-do lists: POST /submessage (public API as its web client uses it). */
import { command } from "../../../actors/protocol/decision.ts";
import { addSubmessage } from "../../../schemas/submessages.ts";
import { bind, requireCaller } from "../calls.ts";

export const submessageRoutes = [
  bind(addSubmessage, (call) => {
    const { message_id: id, msg_type: msgType, content } = call.params;
    const to = { actor: "message", id } as const;
    return call.realm.dispatcher.ask(
      command(to, "submessage.add", { msgType, content }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
