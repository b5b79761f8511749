/**
 * Navigation views (spec 4.17; behaviour 2.17): a user's own. A built-in view has no name, and no row until it is
 * changed.
 */

import { navigationViewKey, navigationViewsOf } from "../../domain/navigation-views.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { builtInFragments, type NavigationViewRecord } from "../../schemas/navigation-views.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Params } from "../protocol/commands.ts";
import { done, forUser, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";

export function addNavigationView(
  user: UserRecord,
  { fragment, isPinned, name }: Params<"navigation-views.add">,
  view: View,
): Outcome {
  const isBuiltIn = builtInFragments.has(fragment);
  if (isBuiltIn && name !== null) return nameOfBuiltIn();
  if (!isBuiltIn && name === null) return refuse.badRequest("Custom views must have a valid name.");
  const views = navigationViewsOf(view, user.id);
  if (views.some((own) => own.fragment === fragment || (name !== null && own.name === name))) return alreadyExists();
  const added = add(views.length, { userId: user.id, fragment, isPinned, name });
  return isRefusal(added) ? added : done({}, added);
}

/** PATCH /navigation_views/{fragment}. A built-in view without a row can be pinned or hidden (D13). */
export function updateNavigationView(
  user: UserRecord,
  { fragment, isPinned, name }: Params<"navigation-views.update">,
  view: View,
): Outcome {
  const isBuiltIn = builtInFragments.has(fragment);
  if (isBuiltIn && name !== null) return nameOfBuiltIn();
  const views = navigationViewsOf(view, user.id);
  if (name !== null && views.some((own) => own.name === name)) return alreadyExists();
  const before = views.find((own) => own.fragment === fragment);
  if (before !== undefined) return done({}, update(before, { isPinned, name }));
  if (!isBuiltIn) return doesNotExist();
  if (isPinned === null) return done({}, []);
  const added = add(views.length, { userId: user.id, fragment, isPinned, name: null });
  return isRefusal(added) ? added : done({}, added);
}

export function removeNavigationView(
  user: UserRecord,
  { fragment }: Params<"navigation-views.remove">,
  view: View,
): Outcome {
  const key = navigationViewKey(user.id, fragment);
  if (view.row("navigationViews", key) === undefined) return doesNotExist();
  return done({}, [effects.remove("navigationViews", key), eventFor(user.id, { op: "remove", fragment })]);
}

const nameOfBuiltIn = () => refuse.badRequest("Built-in views cannot have a custom name");
const alreadyExists = () => refuse.badRequest("Navigation view already exists.");
const doesNotExist = () => refuse.notFound("Navigation view does not exist.");

function add(count: number, row: NavigationViewRecord): Effect[] | Refusal {
  if (count >= limits.navigation_views_per_user_max) return refuse.badRequest("Too many navigation views");
  const { userId, fragment, isPinned, name } = row;
  return [
    effects.put("navigationViews", navigationViewKey(userId, fragment), row),
    eventFor(userId, { op: "add", navigation_view: { fragment, is_pinned: isPinned, name } }),
  ];
}

/** Changes only the passed values. The event is emitted even if nothing differs (behaviour 2.17). */
function update(
  before: NavigationViewRecord,
  change: { readonly isPinned: boolean | null; readonly name: string | null },
): Effect[] {
  const { userId, fragment } = before;
  const isPinned = change.isPinned ?? before.isPinned;
  const name = change.name ?? before.name;
  const data = {
    ...(change.isPinned === null ? {} : { is_pinned: isPinned }),
    ...(change.name === null ? {} : { name }),
  };
  return [
    effects.put("navigationViews", navigationViewKey(userId, fragment), { ...before, isPinned, name }),
    eventFor(userId, { op: "update", fragment, data }),
  ];
}

function eventFor(userId: UserId, body: StoredBody<"navigation_view">): Effect {
  return effects.emit("navigation_view", body, { to: "users", ids: [userId] });
}

export const navigationViewsDecisions = {
  "navigation-views.add": forUser(addNavigationView),
  "navigation-views.update": forUser(updateNavigationView),
  "navigation-views.remove": forUser(removeNavigationView),
} as const;
