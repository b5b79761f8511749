/** GET /server_settings (behaviour 11), and the URLs of a realm. */

import { realmPictureUrl } from "../../domain/realm-pictures.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { featureLevel, serverVersion } from "../../schemas/server.ts";

/** The realm's URL as used by the client; `realm_uri` is its older name. */
export function realmUrls(view: View, siteUrl: string) {
  return {
    realm_url: siteUrl,
    realm_uri: siteUrl,
    realm_name: view.realm.name,
  };
}

export function serverSettings(view: View, siteUrl: string) {
  return {
    authentication_methods: { password: true, email: true, dev: false, ldap: false, remoteuser: false },
    external_authentication_methods: [],
    zulip_version: serverVersion,
    zulip_merge_base: serverVersion,
    zulip_feature_level: featureLevel,
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: true,
    require_email_format_usernames: true,
    ...realmUrls(view, siteUrl),
    realm_icon: siteUrl + realmPictureUrl(view, "icon"),
    realm_description: realmSetting(view, "description"),
    realm_web_public_access_enabled: realmSetting(view, "enable_spectator_access"),
  };
}
