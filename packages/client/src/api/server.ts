/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface ServerOperations {
  /** Returns the server's version and authentication methods, and the realm of the host. */
  "GET /server_settings": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly authentication_methods: {
        readonly password: boolean;
        readonly email: boolean;
        readonly dev: boolean;
        readonly ldap: boolean;
        readonly remoteuser: boolean;
      };
      readonly external_authentication_methods: readonly string[];
      readonly zulip_version: string;
      readonly zulip_merge_base: string;
      readonly zulip_feature_level: number;
      readonly push_notifications_enabled: boolean;
      readonly is_incompatible: boolean;
      readonly email_auth_enabled: boolean;
      readonly require_email_format_usernames: boolean;
      readonly realm_url: string;
      readonly realm_uri: string;
      readonly realm_name: string;
      readonly realm_icon: string;
      readonly realm_description: string;
      readonly realm_web_public_access_enabled: boolean;
    };
  };
}

export interface ServerEvents {
  restart: {
    readonly type: "restart";
    readonly id: number;
    readonly zulip_version: string;
    readonly zulip_merge_base: string;
    readonly zulip_feature_level: number;
    readonly server_generation: number;
  };
}
