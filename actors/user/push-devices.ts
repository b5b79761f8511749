/**
 * A user's devices for push notifications (public API). A new device evicts the oldest one, because lost devices are
 * never unregistered.
 */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

export function addPushToken(
  user: UserRecord,
  { name, kind, token, appId }: Params<"push-token.add">,
  view: View,
): Outcome {
  const known = view.row("pushTokens", [user.id, name]);
  if (known !== undefined && known.appId === appId) return done({}, []);
  const others = view
    .rows("pushTokens", { start: [user.id], end: [user.id + 1], limit: limits.push_tokens_per_user_max })
    .filter(({ key }) => key[1] !== name)
    .sort((a, b) => a.row.addedAt - b.row.addedAt);
  const surplus = others.slice(0, Math.max(0, others.length + 1 - limits.push_tokens_per_user_max));
  return done({}, [
    ...surplus.map(({ key }) => effects.remove("pushTokens", key)),
    effects.put("pushTokens", [user.id, name], { kind, token, appId, addedAt: view.now }),
  ]);
}

export function removePushToken(user: UserRecord, params: Params<"push-token.remove">, view: View): Outcome {
  const key = [user.id, params.name] as const;
  if (view.row("pushTokens", key) === undefined) return refuse.badRequest("Token does not exist");
  return done({}, [effects.remove("pushTokens", key)]);
}

export function registerDevice(user: UserRecord, _params: unknown, view: View): Outcome {
  const id = view.counter("device") + 1;
  const known = view.keys("devices", { start: [user.id], end: [user.id + 1], limit: limits.devices_per_user_max });
  const surplus = known.slice(0, Math.max(0, known.length + 1 - limits.devices_per_user_max));
  return done({ device_id: id }, [
    effects.setCounter("device", id),
    ...surplus.map((key) => effects.remove("devices", key)),
    effects.put("devices", [user.id, id], { registeredAt: view.now }),
  ]);
}

export function removeDevice(user: UserRecord, params: Params<"device.remove">, view: View): Outcome {
  const key = [user.id, params.id] as const;
  if (view.row("devices", key) === undefined) return refuse.badRequest("Device does not exist");
  return done({}, [effects.remove("devices", key)]);
}

export const pushDevicesDecisions = {
  "push-token.add": forUser(addPushToken),
  "push-token.remove": forUser(removePushToken),
  "device.register": forUser(registerDevice),
  "device.remove": forUser(removeDevice),
} as const;
