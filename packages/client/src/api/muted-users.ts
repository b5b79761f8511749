/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface MutedUsersOperations {
  /** Mutes a user or a bot, for the caller only. */
  "POST /users/me/muted_users/{muted_user_id}": {
    readonly params: { readonly muted_user_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Unmutes a user or a bot. */
  "DELETE /users/me/muted_users/{muted_user_id}": {
    readonly params: { readonly muted_user_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface MutedUsersEvents {
  muted_users: {
    readonly type: "muted_users";
    readonly id: number;
    readonly muted_users: readonly { readonly id: number; readonly timestamp: number }[];
  };
}

export interface MutedUsersState {
  readonly muted_users?: readonly { readonly id: number; readonly timestamp: number }[];
}
