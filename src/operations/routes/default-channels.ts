/** Channels that new users join (public API: add-default-stream, remove-default-stream). */
import { command } from "../../../actors/protocol/decision.ts";
import { addDefaultChannel, removeDefaultChannel } from "../../../schemas/default-channels.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const defaultChannelRoutes = [
  bind(addDefaultChannel, (call) => ask(call, true)),
  bind(removeDefaultChannel, (call) => ask(call, false)),
];

function ask(call: Call<{ readonly stream_id: number }>, isDefault: boolean) {
  const params = { channelId: call.params.stream_id, isDefault };
  return call.realm.dispatcher.ask(
    command({ actor: "realm" }, "default-channels.set", params, requireCaller(call).id),
    call.idempotencyKey,
  );
}
