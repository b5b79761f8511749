/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface PresenceOperations {
  /** Reports the caller's presence and returns that of all users (spec 4.7). */
  "POST /users/me/presence": {
    readonly params: {
      readonly status: string;
      readonly last_update_id?: number;
      readonly history_limit_days?: number;
      readonly new_user_input?: boolean;
      readonly ping_only?: boolean;
      readonly slim_presence?: boolean;
    };
    readonly result: {
      readonly presence_last_update_id?: number;
      readonly server_timestamp?: number;
      readonly presences?: Readonly<
        Record<
          string,
          | { readonly active_timestamp: number; readonly idle_timestamp: number }
          | {
              readonly aggregated: {
                readonly client: "website";
                readonly status: "active" | "idle";
                readonly timestamp: number;
              };
              readonly website: {
                readonly client: "website";
                readonly status: "active" | "idle";
                readonly timestamp: number;
                readonly pushable: false;
              };
            }
        >
      >;
    };
  };
  /** Returns the presence of all users in the legacy format. */
  "GET /realm/presence": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly presences: Readonly<
        Record<
          string,
          {
            readonly aggregated: {
              readonly client: "website";
              readonly status: "active" | "idle";
              readonly timestamp: number;
            };
            readonly website: {
              readonly client: "website";
              readonly status: "active" | "idle";
              readonly timestamp: number;
              readonly pushable: false;
            };
          }
        >
      >;
      readonly server_timestamp: number;
    };
  };
  /** Returns the presence of one user, given by id or address. */
  "GET /users/{user_id_or_email}/presence": {
    readonly params: { readonly user_id_or_email: string };
    readonly result: {
      readonly presence: {
        readonly aggregated: { readonly status: "active" | "idle" | "offline"; readonly timestamp: number };
        readonly website: { readonly status: "active" | "idle" | "offline"; readonly timestamp: number };
      };
    };
  };
  /** Notifies the readers of a message that the caller starts or stops editing it. */
  "POST /messages/{message_id}/typing": {
    readonly params: { readonly message_id: number; readonly op: "start" | "stop" };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Notifies the other participants of a conversation that the caller starts or stops typing. */
  "POST /typing": {
    readonly params: {
      readonly op: "start" | "stop";
      readonly type?: "direct" | "private" | "stream" | "channel";
      readonly to?: number | string | readonly (number | string)[];
      readonly stream_id?: number;
      readonly topic?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface PresenceState {
  readonly presences?: Readonly<
    Record<
      string,
      | { readonly active_timestamp: number; readonly idle_timestamp: number }
      | {
          readonly aggregated: {
            readonly client: "website";
            readonly status: "active" | "idle";
            readonly timestamp: number;
          };
          readonly website: {
            readonly client: "website";
            readonly status: "active" | "idle";
            readonly timestamp: number;
            readonly pushable: false;
          };
        }
    >
  >;
  readonly presence_last_update_id?: number;
  readonly server_timestamp?: number;
}
