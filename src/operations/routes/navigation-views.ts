/** Navigation views (spec 4.17; public API: get, add, edit and remove). */
import { command } from "../../../actors/protocol/commands.ts";
import { checkCharacters, codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  addNavigationView,
  editNavigationView,
  getNavigationViews,
  removeNavigationView,
} from "../../../schemas/navigation-views.ts";
import { listNavigationViews } from "../../queries/navigation-views.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const navigationViewRoutes = [
  bind(getNavigationViews, (call) => {
    return ok({ navigation_views: listNavigationViews(call.realm.view, requireCaller(call)) });
  }),

  bind(addNavigationView, (call) => {
    const fragment = call.params.fragment.trim();
    const name = call.params.name?.trim() ?? null;
    const refused = checkFragment(fragment) ?? checkName(name);
    if (refused !== null) return refused;
    const params = { fragment, isPinned: call.params.is_pinned, name };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.add", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(editNavigationView, (call) => {
    const fragment = call.params.fragment.trim();
    const name = call.params.name?.trim() ?? null;
    const refused = checkName(name);
    if (refused !== null) return refused;
    const params = { fragment, isPinned: call.params.is_pinned ?? null, name };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.update", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removeNavigationView, (call) => {
    const params = { fragment: call.params.fragment.trim() };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

/** A fragment must fit into a path with every byte percent-encoded, or the view could never be addressed again. */
function checkFragment(fragment: string): Refusal | null {
  if (fragment === "") return refuse.badRequest("fragment cannot be blank");
  const bytesMax = limits.navigation_view_fragment_bytes_max;
  return Buffer.byteLength(fragment) > bytesMax
    ? refuse.badRequest(`fragment is too long (limit: ${bytesMax} bytes)`)
    : null;
}

function checkName(name: string | null): Refusal | null {
  if (name === null) return null;
  if (name === "") return refuse.badRequest("name cannot be blank");
  const max = limits.navigation_view_name_code_points_max;
  if (codePoints(name) > max) return refuse.badRequest(`name is too long (limit: ${max} characters)`);
  return checkCharacters("name", name);
}
