/** Code playgrounds (spec 4.18). */
import { command } from "../../../actors/commands.ts";
import { addPlayground, removePlayground } from "../../../schemas/playgrounds.ts";
import { bind, callerOf } from "../../runtime/calls.ts";

const realmActor = { actor: "realm" } as const;

export const playgroundRoutes = [
  bind(addPlayground, (call) => {
    const { name, pygments_language: language, url_template: urlTemplate } = call.params;
    const draft = { name: name.trim(), language, urlTemplate: urlTemplate.trim() };
    return call.realm.dispatcher.ask(command(realmActor, "playground.add", draft, callerOf(call).id), call.claim);
  }),

  bind(removePlayground, (call) => {
    const asked = command(realmActor, "playground.remove", { id: call.params.playground_id }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),
];
