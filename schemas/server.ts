/** What a client can learn before it has an account (D3, behaviour 11). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";

/** Feature level of the public API that this server speaks (D3). */
export const featureLevel = 420;
/** Begins with a number that clients parse; the suffix says what it really is. */
export const serverVersion = "12.0-colloquy-0.1.0";

export const getServerSettings = defineEndpoint({
  operationId: "get-server-settings",
  method: "GET",
  path: "/server_settings",
  authentication: "none",
  effectiveness: "read",
  summary: "What this server is, how one may log in, and which realm the host serves.",
  params: {},
  ok: {
    authentication_methods: Type.Record(Type.String(), Type.Boolean()),
    external_authentication_methods: Type.Array(Type.Unknown()),
    zulip_version: Type.String(),
    zulip_merge_base: Type.String(),
    zulip_feature_level: Type.Integer(),
    push_notifications_enabled: Type.Boolean(),
    is_incompatible: Type.Boolean(),
    email_auth_enabled: Type.Boolean(),
    require_email_format_usernames: Type.Boolean(),
    realm_url: Type.String(),
    realm_uri: Type.String(),
    realm_name: Type.String(),
    realm_icon: Type.String(),
    realm_description: Type.String(),
    realm_web_public_access_enabled: Type.Boolean(),
  },
  errors: [],
});
