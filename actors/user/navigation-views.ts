/** Navigation views (spec 4.17; behaviour 2.17): a person's own; a built-in one has no name, and no row until it is changed. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { builtInFragments } from "../../schemas/navigation-views.ts";
import type { NavigationViewRecord } from "../../schemas/records.ts";
import { navigationViewKey, navigationViewsOf } from "../../src/domain/navigation-views.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

export function addNavigationView(_context: unknown, command: Command<"navigation-views.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { fragment, isPinned, name } = command.params;
  const isBuiltIn = builtInFragments.has(fragment);
  if (isBuiltIn && name !== null) return nameOfBuiltIn();
  if (!isBuiltIn && name === null) return refuse.badRequest("Custom views must have a valid name.");
  const views = navigationViewsOf(view, user.id);
  if (views.some((own) => own.fragment === fragment || (name !== null && own.name === name))) return alreadyExists();
  const added = add(views.length, { userId: user.id, fragment, isPinned, name });
  return "kind" in added ? added : done({}, added);
}

/** PATCH /navigation_views/{fragment}. A built-in view that has no row yet can be pinned or hidden (D13). */
export function updateNavigationView(
  _context: unknown,
  command: Command<"navigation-views.update">,
  view: View,
): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { fragment, isPinned, name } = command.params;
  const isBuiltIn = builtInFragments.has(fragment);
  if (isBuiltIn && name !== null) return nameOfBuiltIn();
  const views = navigationViewsOf(view, user.id);
  if (name !== null && views.some((own) => own.name === name)) return alreadyExists();
  const before = views.find((own) => own.fragment === fragment);
  if (before !== undefined) return done({}, update(before, { isPinned, name }));
  if (!isBuiltIn) return doesNotExist();
  if (isPinned === null) return done({}, []);
  const added = add(views.length, { userId: user.id, fragment, isPinned, name: null });
  return "kind" in added ? added : done({}, added);
}

export function removeNavigationView(
  _context: unknown,
  command: Command<"navigation-views.remove">,
  view: View,
): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { fragment } = command.params;
  const key = navigationViewKey(user.id, fragment);
  if (view.row("navigationViews", key) === undefined) return doesNotExist();
  return done({}, [effects.remove("navigationViews", key), tell(user.id, { op: "remove", fragment })]);
}

const nameOfBuiltIn = () => refuse.badRequest("Built-in views cannot have a custom name");
const alreadyExists = () => refuse.badRequest("Navigation view already exists.");
const doesNotExist = () => refuse.notFound("Navigation view does not exist.");

function add(count: number, row: NavigationViewRecord): Effect[] | Refusal {
  if (count >= limits.navigation_views_per_user_max) return refuse.badRequest("Too many navigation views");
  const { userId, fragment, isPinned, name } = row;
  return [
    effects.put("navigationViews", navigationViewKey(userId, fragment), row),
    tell(userId, { op: "add", navigation_view: { fragment, is_pinned: isPinned, name } }),
  ];
}

/** Only what was passed changes; the event comes even if that is nothing (behaviour 2.17). */
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
    tell(userId, { op: "update", fragment, data }),
  ];
}

function tell(userId: number, body: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("navigation_view", body, { to: "users", ids: [userId] });
}
