/** PATCH /realm (D5): the organization's settings and permissions. */

import { command } from "../../../actors/protocol/decision.ts";
import { readRealmSettings } from "../../../domain/realm-settings.ts";
import { isRefusal } from "../../../schemas/errors.ts";
import { realmGroupSettingNames } from "../../../schemas/group-settings.ts";
import { type RealmChange, updateRealm } from "../../../schemas/realm-settings.ts";
import { bind, requireCaller } from "../calls.ts";

export interface RealmSettingRouteOptions {
  /** Server switch of spec 4.3 (D6). */
  readonly webPublicStreamsEnabled: boolean;
}

export function realmSettingRoutes(options: RealmSettingRouteOptions) {
  return [
    bind(updateRealm, (call) => {
      const { params } = call;
      const read = readRealmSettings(params);
      if (isRefusal(read)) return read;
      const groups = realmGroupSettingNames.flatMap((name) =>
        params[name] === undefined ? [] : [[name, params[name]] as const],
      );
      const change: RealmChange = {
        settings: read.settings,
        groups: Object.fromEntries(groups),
        isWebPublicAllowed: options.webPublicStreamsEnabled,
      };
      return call.realm.dispatcher.ask(
        command({ actor: "realm" }, "realm.change-settings", change, requireCaller(call).id),
        call.idempotencyKey,
      );
    }),
  ];
}
