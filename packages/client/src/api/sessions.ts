/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface SessionsOperations {
  /** Logs a browser in with address and password. The session is in a cookie that scripts cannot read; only pages of this server can use it. */
  "POST /session": {
    readonly params: { readonly username: string; readonly password: string };
    readonly result: { readonly user_id: number; readonly email: string; readonly full_name: string };
  };
  /** Returns the caller, and the session that the request belongs to. Without credentials it names nobody. */
  "GET /session": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly user_id?: number;
      readonly email?: string;
      readonly full_name?: string;
      readonly session_id: number | null;
    };
  };
  /** Ends the session that the request belongs to, and closes its sockets and polls. */
  "DELETE /session": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: Readonly<Record<never, never>>;
  };
  /** Lists the caller's sessions, the one that was used last first. */
  "GET /sessions": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly sessions: readonly {
        readonly id: number;
        readonly client: string;
        readonly created_at: number;
        readonly last_used_at: number;
        readonly current: boolean;
      }[];
    };
  };
  /** Ends one of the caller's sessions, and closes its sockets and polls. */
  "DELETE /sessions/{session_id}": {
    readonly params: { readonly session_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}
