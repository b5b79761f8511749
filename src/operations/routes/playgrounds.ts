/** Code playgrounds (spec 4.18). */
import { command } from "../../../actors/protocol/decision.ts";
import { playgroundsOf } from "../../../domain/playgrounds.ts";
import type { View } from "../../../domain/view.ts";
import { addPlayground, removePlayground } from "../../../schemas/playgrounds.ts";
import type { Section } from "../../queries/state-section.ts";
import { bind, requireCaller } from "../calls.ts";

export function playgroundBodies(view: View) {
  return playgroundsOf(view).map(({ id, name, language, urlTemplate }) => ({
    id,
    name,
    pygments_language: language,
    url_template: urlTemplate,
  }));
}

export const playgroundsState: Section<"realm_playgrounds"> = (view) => ({ realm_playgrounds: playgroundBodies(view) });

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
    return call.realm.dispatcher.ask(
      command(realmActor, "playground.remove", { id: call.params.playground_id }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
