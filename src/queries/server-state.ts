/**
 * The part of POST /register that describes the server, not the organization (OpenAPI register-queue, section `realm`):
 * available choices, and features that this server does not have.
 */

import { realmPictureUrl } from "../../domain/realm-pictures.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { gifRatings, videoChatProviders } from "../../schemas/realm-settings.ts";
import { featureLevel, serverVersion } from "../../schemas/server.ts";
import { animatedFormat, stillFormat } from "../../schemas/thumbnails.ts";

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

/** Default server for video calls; clients make the calls, not this server. */
export const jitsiServerUrl = "https://meet.jit.si";

export const serverState = {
  development_environment: false,
  server_needs_upgrade: false,
  password_max_length: limits.password_bytes_max,
  password_min_guesses: 0,
  server_jitsi_server_url: jitsiServerUrl,
  realm_available_video_chat_providers: videoChatProviders,
  giphy_rating_options: gifRatings,

  // The only authentication method.
  realm_authentication_methods: { Email: { enabled: true, available: true } },
  realm_email_auth_enabled: true,
  realm_password_auth_enabled: true,
  server_name_changes_disabled: false,
  server_avatar_changes_disabled: false,

  // No plans, push service, URL previews, digests or summaries.
  realm_plan_type: 1,
  zulip_plan_is_not_limited: true,
  upgrade_text_for_wide_organization_logo: "",
  realm_push_notifications_enabled: false,
  realm_push_notifications_enabled_end_timestamp: null,
  server_inline_image_preview: true,
  server_inline_url_embed_preview: false,
  server_thumbnail_formats: [animatedFormat, stillFormat],
  server_can_summarize_topics: false,
  settings_send_digest_emails: false,
  server_min_deactivated_realm_deletion_days: null,
  server_max_deactivated_realm_deletion_days: null,
} as const;
