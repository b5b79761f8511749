/** Information for clients without an account (D3, behaviour 11). */
import { Type } from "typebox";
import { defineArea } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import { OtherText, typedBy } from "./person-marks.ts";
import { NoItems } from "./types.ts";

/** The public API's feature level that this server implements (D3). */
export const featureLevel = 420;
/** The version of this program. */
export const programVersion = "0.1.0";
/** Starts with a number that clients parse; the suffix is the real version. */
export const serverVersion = `12.0-colloquy-${programVersion}`;

export const getServerSettings = defineEndpoint({
  operationId: "get-server-settings",
  method: "GET",
  path: "/server_settings",
  authentication: "none",
  effectiveness: "read",
  summary: "Returns the server's version and authentication methods, and the realm of the host.",
  params: {},
  ok: {
    authentication_methods: Type.Object({
      password: Type.Boolean(),
      email: Type.Boolean(),
      dev: Type.Boolean(),
      ldap: Type.Boolean(),
      remoteuser: Type.Boolean(),
    }),
    external_authentication_methods: NoItems,
    zulip_version: OtherText,
    zulip_merge_base: OtherText,
    zulip_feature_level: Type.Integer(),
    push_notifications_enabled: Type.Boolean(),
    is_incompatible: Type.Boolean(),
    email_auth_enabled: Type.Boolean(),
    require_email_format_usernames: Type.Boolean(),
    realm_url: OtherText,
    realm_uri: OtherText,
    realm_name: OtherText,
    realm_icon: OtherText,
    realm_description: typedBy(null),
    realm_web_public_access_enabled: Type.Boolean(),
  },
  errors: [],
});

export const serverArea = defineArea({
  endpoints: [getServerSettings],
  events: {
    /** Not in the log: the hub announces it when a process starts. */
    restart: sentAsStored({
      "": {
        zulip_version: OtherText,
        zulip_merge_base: OtherText,
        zulip_feature_level: Type.Integer(),
        server_generation: Type.Integer(),
      },
    }),
  },
});
