/** Code playgrounds (spec 4.18). */
import { command } from "../../../actors/protocol/commands.ts";
import { addPlayground, removePlayground } from "../../../schemas/playgrounds.ts";
import { bind, requireCaller } from "../calls.ts";

const realmActor = { actor: "realm" } as const;

export const playgroundRoutes = [
  bind(addPlayground, (call) => {
    const { name, pygments_language: language, url_template: urlTemplate } = call.params;
    const input = { name: name.trim(), language, urlTemplate: urlTemplate.trim() };
    return call.realm.dispatcher.ask(
      command(realmActor, "playground.add", input, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removePlayground, (call) => {
    const asked = command(realmActor, "playground.remove", { id: call.params.playground_id }, requireCaller(call).id);
    return call.realm.dispatcher.ask(asked, call.idempotencyKey);
  }),
];
