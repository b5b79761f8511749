/** Navigation views (spec 4.17; public API: get, add, edit and remove). */
import { command } from "../../../actors/commands.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  addNavigationView,
  editNavigationView,
  getNavigationViews,
  removeNavigationView,
} from "../../../schemas/navigation-views.ts";
import { codePoints } from "../../domain/text.ts";
import { listNavigationViews } from "../../queries/navigation-views.ts";
import { bind, type Call, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export const navigationViewRoutes = [
  bind(getNavigationViews, (call) => {
    return ok({ navigation_views: listNavigationViews(call.realm.view, callerOf(call)) });
  }),

  bind(addNavigationView, (call) => {
    const fragment = call.params.fragment.trim();
    const name = call.params.name?.trim() ?? null;
    const refused = checkFragment(fragment) ?? checkName(name);
    if (refused !== null) return refused;
    const params = { fragment, isPinned: call.params.is_pinned, name };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.add", params, callerOf(call).id),
      call.claim,
    );
  }),

  bind(editNavigationView, (call) => {
    const fragment = call.params.fragment.trim();
    const name = call.params.name?.trim() ?? null;
    const refused = checkName(name);
    if (refused !== null) return refused;
    const params = { fragment, isPinned: call.params.is_pinned ?? null, name };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.update", params, callerOf(call).id),
      call.claim,
    );
  }),

  bind(removeNavigationView, (call) => {
    const params = { fragment: call.params.fragment.trim() };
    return call.realm.dispatcher.ask(
      command(self(call), "navigation-views.remove", params, callerOf(call).id),
      call.claim,
    );
  }),
];

function self(call: Call) {
  return { actor: "user", id: callerOf(call).id } as const;
}

/** A fragment must fit into a path, every byte of it percent-encoded, or the view could never be named again. */
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
  return codePoints(name) > max ? refuse.badRequest(`name is too long (limit: ${max} characters)`) : null;
}
